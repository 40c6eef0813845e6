/** Conditions of a row filter, as people write them: `status = paid`, `total in 1, 2`. */
import { isJsonObject, type JsonValue } from "../contract/json.ts";
import { type RowCondition, type RowValue, rowOperators } from "../contract/stream.ts";

/** The first operator counts; a column that holds one stands in double quotes. */
const form =
  /^\s*(?:"(?<quoted>(?:[^"]|"")+)"|(?<plain>.+?))\s*(?:(?<symbol><=|>=|!=|<>|=|<|>)|(?<=[\s"])(?<word>not\s+in|in|is\s+not\s+null|is\s+null)(?=[\s(]|$))\s*(?<value>.*?)\s*$/is;

/** Undefined when the text is no condition. */
export function parseCondition(text: string): RowCondition | undefined {
  const { quoted, plain = "", symbol, word, value = "" } = form.exec(text)?.groups ?? {};
  const column = quoted?.replaceAll('""', '"') ?? plain;
  const written = symbol === "<>" ? "!=" : (symbol ?? word?.toLowerCase().replace(/\s+/g, " "));
  const operator = rowOperators.find((one) => one === written);
  if (column === "" || !operator) return undefined;
  if (operator === "is null" || operator === "is not null")
    return value === "" ? { column, operator } : undefined;
  if (operator === "in" || operator === "not in") {
    const list = /^\((.*)\)$/s.exec(value)?.[1] ?? value;
    const values = [...list.matchAll(/\s*('(?:[^']|'')*'|[^,]+)\s*(?:,|$)/g)].map(([, one = ""]) =>
      unquote(one.trim()),
    );
    return values.length > 0 ? { column, operator, value: values } : undefined;
  }
  return value === "" ? undefined : { column, operator, value: unquote(value) };
}

/** Quotes around a value may be left out, unless it is empty or has a comma in a list. */
const unquote = (text: string) =>
  /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;

/** A condition in the words of the API; undefined when it is none. */
export function toCondition(item: JsonValue): RowCondition | undefined {
  if (!isJsonObject(item)) return undefined;
  const { column, operator: written, value, ...rest } = item;
  const operator = rowOperators.find((one) => one === written);
  if (typeof column !== "string" || !operator || Object.keys(rest).length > 0) return undefined;
  if (value === undefined) return { column, operator };
  if (Array.isArray(value)) return value.every(isScalar) ? { column, operator, value } : undefined;
  return isScalar(value) ? { column, operator, value } : undefined;
}

const isScalar = (value: JsonValue): value is RowValue =>
  ["string", "number", "boolean"].includes(typeof value);
