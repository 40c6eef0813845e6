/** Settings that fit the specification of a manifest, for a provider that takes any. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../runtime/contract/json.ts";

const secretPrefix = "secr-";

/** The secrets of made settings. */
export function secretsIn(settings: JsonValue): string[] {
  if (typeof settings === "string") return settings.includes(secretPrefix) ? [settings] : [];
  return typeof settings === "object" && settings !== null
    ? Object.values(settings).flatMap((one) => secretsIn(one as JsonValue))
    : [];
}

/** The host of settings that are a whole host or URL. */
export const ownHost = "acme.example.com";

const dates = [
  ...["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000000Z"],
  ...["2026-01-01", "2026-01-01 00:00:00", "2026-01-01T00:00:00", "01-01-2026", "2026-01"],
];

/** Whether a setting of that name is one label of a host. */
type IsLabel = (name: string) => boolean;

export function makeSettings(specification: JsonObject, isLabel: IsLabel): JsonObject {
  const { properties } = specification;
  const made = Object.entries(isJsonObject(properties) ? properties : {}).map(
    ([name, schema]) =>
      [name, isJsonObject(schema) ? valueFor(schema, name, isLabel) : null] as const,
  );
  return Object.fromEntries(made.filter(([, value]) => value !== undefined));
}

function valueFor(schema: JsonObject, name: string, isLabel: IsLabel): JsonValue {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const [form] = [schema.oneOf ?? schema.anyOf ?? []].flat();
  if (isJsonObject(form))
    return form.properties ? makeSettings(form, isLabel) : valueFor(form, name, isLabel);
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  const examples = [schema.examples ?? []].flat();
  switch ([schema.type ?? "string"].flat().find((one) => one !== "null")) {
    case "object":
      return makeSettings(schema, isLabel);
    case "array":
      return [isJsonObject(schema.items) ? valueFor(schema.items, "item", isLabel) : "a"];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return /date|since|start|until/i.test(name)
        ? 1_767_225_600
        : Number(schema.minimum ?? examples[0] ?? 1);
  }
  const fits = fittingOf(schema.pattern);
  const secret = `${secretPrefix}${createHash("sha256").update(name).digest("base64url").slice(0, 24)}`;
  if (schema.airbyte_secret === true)
    return (
      [
        secret,
        ...examples.map((one) => `${one}`.replace(/_.*/, `_${secret}`)),
        `live_${secret}`,
      ].find(fits) ?? secret
    );
  return isLabel(name) ? "acme" : textOf(schema, name, examples.map(String));
}

const fittingOf = (pattern: JsonValue | undefined) => (text: string) =>
  typeof pattern !== "string" || new RegExp(pattern).test(text);

/** The first text that fits the pattern and looks like an example. */
function textOf(
  { pattern, format }: JsonObject,
  name: string,
  examples: readonly string[],
): string {
  const isFitting = fittingOf(pattern);
  const shapeOf = (text: string) => text.replace(/\d/g, "0");
  const isDate = /date|since|start|until/i.test(name) || String(format).startsWith("date");
  const likeExample = dates.filter((one) => examples.some((two) => shapeOf(two) === shapeOf(one)));
  const likeFormat = dates.filter((one) => (format === "date") === !one.includes(":"));
  const usual = /url/i.test(name)
    ? [`https://${ownHost}${examples.some((one) => one.endsWith("/")) ? "/" : ""}`]
    : /domain|host/i.test(name)
      ? [ownHost, "acme"]
      : ["acme"];
  const candidates = [
    ...(isDate ? [...likeExample, ...(format === undefined ? [] : likeFormat), ...dates] : []),
    ...usual,
    ...examples,
    ...dates,
  ];
  return candidates.find(isFitting) ?? "acme";
}
