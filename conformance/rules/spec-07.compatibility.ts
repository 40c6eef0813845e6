/**
 * Compares a schema with its successor: configurations that the one accepts are accepted by the
 * other.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";

export interface Break {
  /** Dotted path of the setting; "" is the whole. */
  readonly path: string;
  /** "is required now", "must be at most 50 now; it was 100". */
  readonly what: string;
}

/**
 * The ways in which `now` refuses what `before` accepted. `fillsDefaults`: a missing setting gets
 * its default before it is judged.
 */
export function breaksBetween(
  before: JsonObject,
  now: JsonObject,
  fillsDefaults: boolean,
  path = "",
): Break[] {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const toBreak = (what: string, where = path): Break => ({ path: where, what });
  const found: Break[] = [
    ...typeBreaks(before, now, toBreak),
    ...rangeBreaks(before, now, toBreak),
  ];

  const [old, current] = [propertiesOf(before), propertiesOf(now)];
  for (const [name, schema] of Object.entries(old)) {
    const next = current[name];
    if (next) found.push(...breaksBetween(schema, next, fillsDefaults, at(name)));
    else if (!alternatives(now).some((one) => Object.hasOwn(propertiesOf(one), name)))
      found.push(toBreak("is gone", at(name)));
  }
  const wasRequired = new Set(requiredOf(before));
  for (const name of requiredOf(now)) {
    if (!wasRequired.has(name) && !(fillsDefaults && current[name]?.default !== undefined))
      found.push(toBreak("is required now", at(name)));
  }
  if (
    before.additionalProperties !== false &&
    now.additionalProperties === false &&
    Object.keys(old).length > 0
  )
    found.push(toBreak("takes no further settings now (additionalProperties: false)"));
  if (isJsonObject(before.items) && isJsonObject(now.items))
    found.push(...breaksBetween(before.items, now.items, fillsDefaults, `${path}[]`));
  return [...found, ...alternativeBreaks(before, now, fillsDefaults, path)];
}

type ToBreak = (what: string) => Break;

function typeBreaks(before: JsonObject, now: JsonObject, toBreak: ToBreak): Break[] {
  const found: Break[] = [];
  const [old, current] = [typesOf(before), typesOf(now)];
  const lost = old.filter(
    (type) => !current.includes(type) && !(type === "integer" && current.includes("number")),
  );
  if (current.length > 0 && old.length === 0)
    found.push(toBreak(`must be ${current.join(" or ")} now; any type was allowed`));
  else if (current.length > 0 && lost.length > 0)
    found.push(
      toBreak(`may not be ${lost.join(" or ")} any more; it must be ${current.join(" or ")} now`),
    );
  const [values, next] = [valuesOf(before), valuesOf(now)];
  if (next) {
    const gone = values?.filter((value) => !next.some((one) => isSame(one, value)));
    if (!values)
      found.push(
        toBreak(
          `must be one of ${next.map((value) => JSON.stringify(value)).join(", ")} now; any value was allowed`,
        ),
      );
    else if (gone && gone.length > 0)
      found.push(
        toBreak(`may not be ${gone.map((value) => JSON.stringify(value)).join(" or ")} any more`),
      );
  }
  return found;
}

/** Limits from below and from above. */
const lower = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const fixed = ["pattern", "format", "multipleOf", "uniqueItems"];

function rangeBreaks(before: JsonObject, now: JsonObject, toBreak: ToBreak): Break[] {
  const isTighter = (
    keyword: string,
    [old, current]: readonly [JsonValue | undefined, JsonValue | undefined],
  ) => {
    if (current === undefined || current === false || isSame(old, current)) return false;
    if (keyword === "multipleOf" && typeof old === "number" && typeof current === "number")
      return old % current !== 0;
    if (typeof old !== "number" || typeof current !== "number")
      return !(keyword.startsWith("min") && current === 0);
    return lower.includes(keyword) ? current > old : upper.includes(keyword) ? current < old : true;
  };
  return [...lower, ...upper, ...fixed].flatMap((keyword) => {
    const pair = [before[keyword], now[keyword]] as const;
    return isTighter(keyword, pair)
      ? [
          toBreak(
            `has a ${keyword} of ${JSON.stringify(pair[1])} now; ${pair[0] === undefined ? "it had none" : `it was ${JSON.stringify(pair[0])}`}`,
          ),
        ]
      : [];
  });
}

/** Each old alternative needs a new one that takes all of its values. */
function alternativeBreaks(
  before: JsonObject,
  now: JsonObject,
  fillsDefaults: boolean,
  path: string,
): Break[] {
  return (["oneOf", "anyOf"] as const).flatMap((keyword) => {
    const [old, current] = [listOf(before[keyword]), listOf(now[keyword])];
    if (current.length === 0) return [];
    if (old.length === 0) return [{ path, what: `must be one of ${current.length} forms now` }];
    return old.flatMap((one, index) => {
      const best =
        current
          .map((other) => breaksBetween(one, other, fillsDefaults, path))
          .sort((a, b) => a.length - b.length)[0] ?? [];
      const name = typeof one.title === "string" ? `"${one.title}"` : `number ${index + 1}`;
      return best.map(({ path: where, what }) => ({
        path: where,
        what: `${what} (alternative ${name})`,
      }));
    });
  });
}

const typesOf = ({ type }: JsonObject): string[] =>
  type === undefined ? [] : [type].flat().map(String);
const valuesOf = (schema: JsonObject): readonly JsonValue[] | undefined =>
  Object.hasOwn(schema, "const")
    ? [schema.const ?? null]
    : Array.isArray(schema.enum)
      ? schema.enum
      : undefined;
const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
const alternatives = (schema: JsonObject) => [
  ...listOf(schema.oneOf),
  ...listOf(schema.anyOf),
  ...listOf(schema.allOf),
];
const requiredOf = ({ required }: JsonObject): string[] =>
  Array.isArray(required) ? required.map(String) : [];
const isSame = (one: JsonValue | undefined, other: JsonValue | undefined) =>
  JSON.stringify(one) === JSON.stringify(other);
function propertiesOf({ properties }: JsonObject): { readonly [name: string]: JsonObject } {
  return isJsonObject(properties)
    ? Object.fromEntries(
        Object.entries(properties).filter((entry): entry is [string, JsonObject] =>
          isJsonObject(entry[1]),
        ),
      )
    : {};
}
