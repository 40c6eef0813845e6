import type { Batch } from "./batch.ts";
import type { JsonValue } from "./json.ts";

/**
 * A row before it is written: plain values, `bigint` for 64-bit integers, `JSON.rawJSON(text)` for
 * exact decimals.
 */
export type Row = { readonly [field: string]: unknown };

/** The output of `read`: rows, and checkpoints that cover all rows yielded before them. */
export type Output<State = JsonValue> =
  | { readonly type: "records"; readonly rows: readonly Row[] }
  | { readonly type: "batch"; readonly batch: Batch }
  | { readonly type: "checkpoint"; readonly state: State };

/** One row. Prefer {@link records}: a page at a time is several times faster. */
export function record(row: object): Output<never> {
  return records([row]);
}

/**
 * The rows of a page, in order: objects of any type, whose declared properties are written. The
 * array must not change afterwards.
 */
export function records(rows: readonly object[]): Output<never> {
  return { type: "records", rows: rows as readonly Row[] };
}

/**
 * Rows as columns, for connectors that have them: one column for each property of the stream that
 * is selected, in the order of the schema. Several times faster than {@link records}. The memory
 * may be used again when the next value is asked for.
 */
export function batch(columns: Batch): Output<never> {
  return { type: "batch", batch: columns };
}

/**
 * Says that a later run may go on from `state`: all rows yielded so far are covered, none that
 * follow. `state` is plain JSON of at most 1 MiB, copied at once. Yield it after the rows that it
 * covers, never before.
 */
export function checkpoint<State>(state: State): Output<State> {
  return { type: "checkpoint", state };
}
