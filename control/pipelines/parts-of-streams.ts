/**
 * The parts of a pipeline's stream that are left out: columns that are hashed, rows that a filter
 * does not take.
 */
import {
  type RowCondition as Condition,
  filterProblem,
  hashProblem,
  rowOperators,
} from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { Nullable, OneOf, StrictObject } from "../contract/schemas.ts";
import { hasColumn } from "./columns.ts";
import type { AgreedStream } from "./selection.ts";

const Field = Type.String({ minLength: 1, maxLength: 1_000 });
const Value = Type.Union([Type.String({ maxLength: 10_000 }), Type.Number(), Type.Boolean()]);

/** A condition as requests and answers have it. */
export const RowCondition = StrictObject(
  {
    column: Field,
    operator: OneOf(rowOperators),
    value: Type.Optional(
      Type.Union([Value, Type.Array(Value, { minItems: 1, maxItems: 1_000 })], {
        description: "A list for in and not in; none for is null and is not null.",
      }),
    ),
  },
  { title: "RowCondition" },
);

/** Settings of a stream, besides its mode. */
export const partsOfStream = {
  hashed_fields: Type.Optional(
    Nullable(
      Type.Array(Field, {
        uniqueItems: true,
        description:
          "Columns whose values are replaced by a keyed hash (a text of 64 characters) before they leave the source's side: HMAC-SHA-256 under a key of the workspace. Equal values have equal hashes. Null or absent: none. A change reads the stream anew.",
      }),
    ),
  ),
  row_filter: Type.Optional(
    Nullable(
      Type.Array(RowCondition, {
        maxItems: 100,
        description:
          "Only rows that meet all of them are read, where the source can (databases). Null or absent: all rows. A change reads the stream anew, unless full refreshes are appended.",
      }),
    ),
  ),
};

export const toFilterBody = (filter: readonly Condition[]): Static<typeof RowCondition>[] =>
  filter.map(({ column, operator, value }) => ({
    column,
    operator,
    ...(value === undefined ? {} : { value: typeof value === "object" ? [...value] : value }),
  }));

/** The settings that cannot be, each with its place in the stream. */
export function partFaults(one: AgreedStream): { readonly at: string; readonly message: string }[] {
  const faults = (setting: string, problems: readonly (string | undefined)[]) =>
    problems.flatMap((message, at) =>
      message === undefined ? [] : [{ at: `.${setting}.${at}`, message }],
    );
  const configured = toConfigured(one);
  return [
    ...faults(
      "hashed_fields",
      (one.hashedFields ?? []).map((field) => hashProblem(configured, field)),
    ),
    ...faults(
      "row_filter",
      (one.rowFilter ?? []).map((condition) => filterProblem(one.stream, condition)),
    ),
  ];
}

/** Why a stream cannot be read so any more, now that its source is another; undefined: it can. */
export function partProblem(one: AgreedStream): string | undefined {
  const configured = toConfigured(one);
  for (const field of one.hashedFields ?? []) {
    const problem = hasColumn(one.stream.json_schema, field) && hashProblem(configured, field);
    if (problem) return `the hashed column ${field} ${problem}`;
  }
  for (const condition of one.rowFilter ?? []) {
    const problem = filterProblem(one.stream, condition);
    if (problem !== undefined) return `a condition of its row_filter ${problem}`;
  }
  return undefined;
}

const toConfigured = ({ stream, syncMode, cursorField }: AgreedStream) => ({
  stream,
  sync_mode: syncMode,
  cursor_field: cursorField,
});
