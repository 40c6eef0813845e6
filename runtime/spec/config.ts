import { budgets } from "../contract/budgets.ts";
import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import { measureJson } from "../wire/bounded-json.ts";
import { compileSchema, copyJson } from "./validation.ts";

/**
 * A valid configuration, taken apart: the whole for the host's broker, the rest for the worker, the
 * secrets for the output filter.
 */
export interface ParsedConfig {
  readonly whole: JsonObject;
  readonly withoutSecrets: JsonObject;
  readonly secrets: readonly string[];
}

/**
 * Validates against the spec, fills defaults in.
 * @param name by which commands know the connector
 * @throws CONFIG_INVALID naming the first fault's path, and all settings that are missing, never a
 * value
 */
export function parseConfig(
  manifest: Pick<Manifest, "spec">,
  config: JsonValue,
  name?: string,
): ParsedConfig {
  const refuse = (path: string, problem: string) =>
    new ConnectorError("CONFIG_INVALID", {
      path,
      problem,
      ...(name === undefined ? {} : { name }),
    });
  if (!isJsonObject(config)) throw refuse("the document", "must be an object");
  const excess = configExcess(config);
  if (excess !== undefined) throw refuse("the document", excess);
  const whole = copyJson(config);
  const fault = compileSchema(closedSpec(manifest.spec))(whole).at(0);
  if (fault) {
    const others =
      fault.problem === "is missing" ? missingIn(whole, manifest.spec, fault.path) : [];
    throw refuse(fault.path || "the document", `${fault.problem}${alsoMissing(others)}`);
  }
  const control = controlCharacterPath(whole, manifest.spec);
  if (control !== undefined) throw refuse(control, "has control characters in it");
  const secrets: string[] = [];
  const blank = blankSecretPath(whole, manifest.spec);
  if (blank !== undefined) throw refuse(blank, "is blank");
  const withoutSecrets = strip(whole, manifest.spec, secrets);
  const { together } = budgets.secrets;
  if (secrets.reduce((bytes, one) => bytes + Buffer.byteLength(one), 0) > together)
    throw refuse("the document", `has secrets of more than ${together} bytes`);
  return { whole, withoutSecrets: withoutSecrets as JsonObject, secrets };
}

/** Settings that are missing besides that one. Of an object within, none is named. */
function missingIn(whole: JsonObject, { required }: JsonObject, first: string): string[] {
  return (Array.isArray(required) ? required.map(String) : []).filter(
    (name) => name !== first && !Object.hasOwn(whole, name),
  );
}

/** Most settings that are named beside the first. */
const maxMissing = 10;

function alsoMissing(names: readonly string[]): string {
  const shown = names.slice(0, maxMissing);
  const rest = names.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  const last = parts.pop();
  if (last === undefined) return "";
  return parts.length === 0
    ? `, and so is ${last}`
    : `, and so are ${parts.join(", ")} and ${last}`;
}

/** The spec as configurations are held to it: settings that it does not name are refused. */
export const closedSpec = <Spec extends object>(spec: Spec) => ({
  additionalProperties: false,
  ...spec,
});

/** The budget that a configuration exceeds; undefined: none. */
function configExcess(config: JsonObject): string | undefined {
  const { bytes, values, depth } = budgets.config;
  try {
    const text = Buffer.from(JSON.stringify(config));
    if (text.length > bytes) return `is larger than ${bytes} bytes`;
    const measured = measureJson(text);
    if (measured.values > values) return `has more than ${values} values`;
    if (measured.depth <= depth) return undefined;
  } catch {
    // nested so deep that it cannot be written
  }
  return `is nested deeper than ${depth} levels`;
}

/**
 * A valid configuration in which `substitute` gives what stands in place of each secret.
 * @param kept paths of secret settings that stay as they are
 */
export function withSubstitutes(
  whole: JsonObject,
  spec: JsonObject,
  substitute: (secret: string) => string,
  kept: readonly string[] = [],
): JsonObject {
  return replace(whole, spec, substitute, kept) as JsonObject;
}

function replace(
  value: JsonValue,
  schema: JsonObject | undefined,
  substitute: (secret: string) => string,
  kept: readonly string[],
  path = "",
): JsonValue {
  if (!isJsonObject(value)) return value;
  const replaced: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    const here = `${path}${name}`;
    const partSchemas = propertySchemas(schema, name);
    if (kept.includes(here)) replaced[name] = part;
    else
      replaced[name] = partSchemas.some(isSecret)
        ? replaceTexts(part, substitute)
        : partSchemas.reduce(
            (left: JsonValue, one) => replace(left, one, substitute, kept, `${here}.`),
            part,
          );
  }
  return replaced;
}

function replaceTexts(value: JsonValue, substitute: (secret: string) => string): JsonValue {
  if (typeof value === "string" || typeof value === "number") return substitute(String(value));
  if (Array.isArray(value)) return value.map((part) => replaceTexts(part, substitute));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, replaceTexts(part, substitute)]),
  );
}

/**
 * Copies a document without the properties that the schema marks secret; their values are added to
 * `secrets`.
 */
function strip(value: JsonValue, schema: JsonObject | undefined, secrets: string[]): JsonValue {
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    const partSchemas = propertySchemas(schema, name);
    if (partSchemas.some(isSecret)) collectStrings(part, secrets);
    else
      kept[name] =
        partSchemas.length > 0
          ? partSchemas.reduce((left: JsonValue, one) => strip(left, one, secrets), part)
          : part;
  }
  return kept;
}

/** The schemas that speak of a property, also inside the alternatives of a union. */
function propertySchemas(schema: JsonObject | undefined, name: string): JsonObject[] {
  if (!schema) return [];
  const own = (schema.properties as JsonObject | undefined)?.[name];
  const alternatives = [schema.oneOf, schema.anyOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? (list as JsonObject[]) : [],
  );
  return [
    ...(own ? [own as JsonObject] : []),
    ...alternatives.flatMap((one) => propertySchemas(one, name)),
  ];
}

/**
 * Path of the first secret that is nothing but spaces. An empty one may be left out on purpose, as
 * a password that a server does not ask for.
 */
function blankSecretPath(
  value: JsonValue,
  schema: JsonObject | undefined,
  path = "",
): string | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const here = path === "" ? name : `${path}.${name}`;
    for (const one of propertySchemas(schema, name)) {
      const found = isSecret(one)
        ? isBlank(part)
          ? here
          : undefined
        : blankSecretPath(part, one, here);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const isBlank = (value: JsonValue) =>
  typeof value === "string" && value !== "" && value.trim() === "";

function collectStrings(value: JsonValue, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "number") into.push(String(value));
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) collectStrings(part, into);
}

/**
 * Path of the first string with NUL, CR, LF or the like, except where the spec says `multiline`.
 */
function controlCharacterPath(
  value: JsonValue,
  schema: JsonObject | undefined,
  path = "",
): string | undefined {
  if (typeof value === "string")
    return schema?.multiline !== true && /[\u0000-\u001f\u007f]/.test(value) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const partSchema = Array.isArray(value)
      ? (schema?.items as JsonObject | undefined)
      : propertySchemas(schema, name)[0];
    const found = controlCharacterPath(part, partSchema, path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
