/** A row, or a parent, whose date lies in the far future, and the read that comes after it. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  inOrder,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { newestField, parentListings, touched } from "../derive/rows/parents.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { finalState, isBeyondRecordings, readFrom } from "../derive/sweeps/reads.ts";

/** Somebody typed 2091 for 2019. */
const futureMs = Date.UTC(2091, 1, 3, 4, 5, 6);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface ReadAfterFutureRow {
  readonly name: string;
  readonly first: Observation;
  readonly next: Observation;
  readonly state: JsonValue | undefined;
  /** Keys of rows that changed between the two reads, and came in none. */
  readonly missing: readonly string[];
}

/** Rows that are of the future: one of the stream's own, or its parents, each of them. */
export type FutureRows = "one row" | "its parents";

/** The parents where they say a time. */
export async function futureRowsOf(lab: Lab, stream: StreamFacts): Promise<readonly FutureRows[]> {
  const parents = lab.database ? [] : await datedParents(lab, stream);
  return parents.length > 0 ? ["one row", "its parents"] : ["one row"];
}

const datedParents = async (lab: Lab, stream: StreamFacts): Promise<readonly Listing[]> =>
  (await parentListings(lab, stream)).flatMap(({ listing }) =>
    listing.rows.some((row) => newestField(row) !== undefined) ? [listing] : [],
  );

/**
 * These are of the future; after that read a row changes, and the next read has to give it.
 * Undefined where nothing can be said: no cursor that is a time, one row alone, a read that fails,
 * or one that gives no later row either when none is of the future.
 */
export async function readAfterFutureRow(
  lab: Lab,
  stream: StreamFacts,
  future: FutureRows,
): Promise<ReadAfterFutureRow | undefined> {
  const column = lab.database || !stream.resumed ? undefined : await cursorColumn(lab, stream);
  const newest =
    column && momentOf(latest(column.listing.rows.map((row) => cursorOf(row, column))));
  if (!column || newest?.kind !== "time" || column.listing.rows.length < 2) return undefined;
  const parents = future === "one row" ? [] : await datedParents(lab, stream);
  const read = await readTwice(lab, column, parents, newest.value, futureMs);
  if (!read || read.missing.length === 0) return read;
  const usual = await readTwice(lab, column, parents, newest.value, undefined);
  return usual?.missing.length === 0 ? read : undefined;
}

/** @param parents those that are of the future; none where a row is */
async function readTwice(
  lab: Lab,
  column: CursorColumn,
  parents: readonly Listing[],
  newestMs: number,
  oddMs: number | undefined,
): Promise<ReadAfterFutureRow | undefined> {
  const { stream, listing } = column;
  const origin = Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "");
  const beganMs = lab.can("clock") ? Math.max(origin, newestMs + dayMs) : Date.now();
  const sample = latest(listing.rows.map((row) => cursorOf(row, column)));
  const ofParents = parents.length > 0;
  const changedMs = beganMs + 2 * dayMs;
  const provider = (isChanged: boolean) => {
    const rowMs = [ofParents ? undefined : oddMs, isChanged ? changedMs : undefined];
    const { rows: edit } = changeRows(column, (rows, own) => {
      if (own !== listing) return rows;
      const dated = rows.map((row, at) => {
        const ms = rowMs[at];
        return ms === undefined ? row : withCursor(row, column, writeLike(sample, ms));
      });
      return inOrder(dated, column);
    });
    return lab.learned.provider({
      rows: (one, rows, requestCount) =>
        parents.includes(one)
          ? rows.map((row) => touched(row, oddMs ?? rowMs[1]))
          : edit(one, rows, requestCount),
    });
  };
  const first = await readFrom(lab, stream, undefined, {
    provider: provider(false),
    clockShiftMs: beganMs - origin,
  });
  const state = finalState(first, stream);
  if (first.outcome.status !== "succeeded" || isBeyondRecordings(first) || state === undefined)
    return undefined;
  const later = { clockShiftMs: beganMs - origin + 4 * dayMs };
  const whole = await readFrom(lab, stream, undefined, { provider: provider(true), ...later });
  const next = await readFrom(lab, stream, state, { provider: provider(true), ...later });
  if (whole.outcome.status !== "succeeded" || isBeyondRecordings(next)) return undefined;
  if (next.outcome.status !== "succeeded") return undefined;
  const known = new Set(outputRows(first.messages, stream).map(({ content }) => content));
  const given = new Set(outputRows(next.messages, stream).map(({ key }) => key));
  const missing = outputRows(whole.messages, stream).flatMap(({ key, content }) =>
    known.has(content) || given.has(key) ? [] : [key],
  );
  return {
    name: `${stream.label}: ${ofParents ? "its parents are" : "one row is"} of ${new Date(oddMs ?? beganMs).getUTCFullYear()}, and after that read ${ofParents ? "a row" : "another one"} changes`,
    first,
    next,
    state,
    missing,
  };
}
