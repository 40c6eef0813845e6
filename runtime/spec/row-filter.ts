/** The form of a row filter, and which one a stream can take. */
import { Type } from "typebox";
import type { CatalogStream } from "../contract/catalog.ts";
import { type RowCondition, rowOperators } from "../contract/stream.ts";

const Value = Type.Union([Type.String({ maxLength: 10_000 }), Type.Number(), Type.Boolean()]);

export const RowFilter = Type.Array(
  Type.Object({
    column: Type.String(),
    operator: Type.Union(rowOperators.map((one) => Type.Literal(one))),
    value: Type.Optional(Type.Union([Value, Type.Array(Value, { maxItems: 1_000 })])),
  }),
  { maxItems: 100 },
);

/** Why a stream cannot be read with a condition, in words; undefined when it can. */
export function filterProblem(
  { json_schema, supports_row_filter }: CatalogStream,
  { column, operator, value }: RowCondition,
): string | undefined {
  if (!supports_row_filter)
    return "cannot be: the source has no row filter for this stream; filter at the destination";
  if (!Object.hasOwn(json_schema.properties ?? {}, column))
    return "names a column that the stream lacks";
  if (operator === "is null" || operator === "is not null")
    return value === undefined ? undefined : `has a value, which "${operator}" takes none of`;
  if (operator === "in" || operator === "not in")
    return Array.isArray(value) && value.length > 0
      ? undefined
      : `lacks a list of values for "${operator}"`;
  return value === undefined || Array.isArray(value)
    ? `lacks one value for "${operator}"`
    : undefined;
}
