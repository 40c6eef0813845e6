/** The usual normalization: values become what the schema says, where Python could make them so. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { float } from "../expressions/literals.ts";
import { number } from "../expressions/operands.ts";
import { isMapping, isNumber, type PlainValue, toText, truth } from "../expressions/values.ts";
import type { PlainRecord } from "./selector.ts";

/** Changes a record in its place. */
export function normalize(record: PlainRecord, schema: JsonObject): void {
  const { properties, items } = schema;
  if (isMapping(record) && isJsonObject(properties))
    for (const [name, part] of Object.entries(properties))
      if (Object.hasOwn(record, name) && isJsonObject(part))
        record[name] = normalized(record[name], part);
  if (Array.isArray(record) && isJsonObject(items))
    for (const [index, item] of record.entries()) record[index] = normalized(item, items);
}

function normalized(value: PlainValue, schema: JsonObject): PlainValue {
  const made = converted(value, schema);
  if (typeof made === "object" && made !== null) normalize(made as PlainRecord, schema);
  return made;
}

const words = new Map([
  ...["y", "yes", "t", "true", "on", "1"].map((word) => [word, true] as const),
  ...["n", "no", "f", "false", "off", "0"].map((word) => [word, false] as const),
]);

function converted(value: PlainValue, schema: JsonObject): PlainValue {
  const given = schema.type ?? [];
  const types = Array.isArray(given) ? given : [given];
  if (value === null && types.includes("null")) return null;
  const [type, ...others] = types.filter((one) => one !== "null" || !Array.isArray(given));
  if (others.length > 0) return value;
  switch (type) {
    case "string":
      return toText(value ?? null);
    case "number":
      return numberOf(value, /^\s*[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i, float);
    case "integer":
      return numberOf(value, /^\s*[+-]?\d[\d_]*\s*$/, Math.trunc);
    case "boolean":
      if (typeof value !== "string") return truth(value);
      return words.get(value.toLowerCase().trim()) ?? value;
    case "array":
      return isSimple(value) && areSimple(schema.items) ? [value] : value;
    default:
      return value;
  }
}

function numberOf(
  value: PlainValue,
  form: RegExp,
  make: (value: number) => PlainValue,
): PlainValue {
  if (typeof value === "bigint") return value;
  if (isNumber(value)) return make(number(value));
  if (typeof value !== "string" || !form.test(value)) return value;
  const plain = value.trim().replaceAll("_", "");
  const read = Number(plain);
  const isExact = !/^[+-]?\d+$/.test(plain) || Number.isSafeInteger(read);
  return isExact ? make(read) : BigInt(plain.replace("+", ""));
}

const isSimple = (value: PlainValue) =>
  value === null || isNumber(value) || typeof value === "string";
const simple = new Set<JsonValue>(["string", "number", "integer", "boolean", "null"]);
const areSimple = (items: JsonValue | undefined) => {
  const type = isJsonObject(items) ? items.type : undefined;
  return type === undefined || (Array.isArray(type) && type.every((one) => simple.has(one)));
};
