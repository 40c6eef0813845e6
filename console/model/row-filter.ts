/** Conditions that rows must meet, as one types them. */
import type { schemas } from "../api/schema.ts";
import type { CatalogStream } from "./streams.ts";

export type Condition = schemas["RowCondition"];
type Operator = Condition["operator"];

export const operatorWords: Readonly<Record<Operator, string>> = {
  "=": "is",
  "!=": "is not",
  "<": "is less than",
  "<=": "is at most",
  ">": "is more than",
  ">=": "is at least",
  in: "is one of",
  "not in": "is none of",
  "is null": "has no value",
  "is not null": "has a value",
};

export const takesValue = (operator: Operator): boolean => !operator.endsWith("null");

const isList = (operator: Operator): boolean => operator === "in" || operator === "not in";

const typesOf = ({ json_schema: schema }: CatalogStream, column: string): readonly unknown[] => {
  const { [column]: part } = (schema.properties ?? {}) as Readonly<
    Record<string, { readonly type?: unknown }>
  >;
  return [part?.type].flat();
};

/** A text as a value of that column; what is no number there is for the API to refuse. */
function typedAs(text: string, types: readonly unknown[]): string | number | boolean {
  const isNumber = types.includes("integer") || types.includes("number");
  if (isNumber && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/.test(text.trim()))
    return text.trim() === "true";
  return text;
}

export function toCondition(
  stream: CatalogStream,
  column: string,
  operator: Operator,
  text: string,
): Condition {
  if (!takesValue(operator)) return { column, operator };
  const types = typesOf(stream, column);
  if (!isList(operator)) return { column, operator, value: typedAs(text, types) };
  const parts = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  return { column, operator, value: parts.map((one) => typedAs(one, types)) };
}

/** The text of a condition's value. */
export const textOf = ({ value }: Condition): string =>
  value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value);
