/** A parent that comes when others were read already, with rows that are older than theirs. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import { latest, momentOf } from "../derive/rows/moments.ts";
import { type ParentListing, parentListings } from "../derive/rows/parents.ts";
import {
  compareRows,
  type Difference,
  type OutputRow,
  outputRows,
  statesOf,
} from "../derive/rows/rows.ts";
import { cutOff, finalState, isBeyondRecordings, readFrom } from "../derive/sweeps/reads.ts";

const dayMs = 86_400_000;

export interface NewParentRead {
  readonly name: string;
  /** The read that did not see it yet. */
  readonly first: Observation;
  /** The next one: the parent is there. */
  readonly next: Observation;
  readonly state: JsonValue | undefined;
  /** The parent's rows, against those of the next read and the one after it. */
  readonly difference: Difference;
}

/**
 * `when`: the parent comes after a whole read, or after one that was cut off at its middle state.
 * A text: why nothing can be said; undefined for a stream without parents.
 */
export async function readNewParent(
  lab: Lab,
  stream: StreamFacts,
  when: "whole" | "cut",
): Promise<NewParentRead | string | undefined> {
  const [parent] = await parentListings(lab, stream);
  if (!parent) return undefined;
  const whole = await readFrom(lab, stream, undefined);
  const found = await findOlder(lab, stream, parent, outputRows(whole.messages, stream));
  if (found === undefined)
    return `no row of ${parent.listing.id} has only rows that are older than those of others`;
  const { gone, without, own } = found;
  const cuts = statesOf(without, stream.label)
    .map(({ index }) => index + 1)
    .slice(0, -1);
  const stopAfter = when === "cut" ? cuts[cuts.length >> 1] : undefined;
  if (when === "cut" && stopAfter === undefined)
    return "no read without it writes a state before its end";
  const first =
    stopAfter === undefined
      ? without
      : await cutOff(lab, stream, {
          after: stopAfter,
          runOptions: { provider: providerWithout(lab, parent, gone) },
          whole: without,
        });
  const state = finalState(first, stream);
  if (state === undefined) return "a read without it writes no state";
  const next = await readFrom(lab, stream, state, { clockShiftMs: dayMs });
  const reached = finalState(next, stream) ?? state;
  const last = await readFrom(lab, stream, reached, { clockShiftMs: 2 * dayMs });
  if ([next, last].some((one) => one.outcome.status !== "succeeded" || isBeyondRecordings(one)))
    return "the reads that come after it fail, or ask for what was not recorded";
  const given = [first, next, last].flatMap(({ messages }) => outputRows(messages, stream));
  const keys = new Set(own.map(({ key }) => key));
  const difference = compareRows(
    own,
    given.filter(({ key }) => keys.has(key)),
  );
  const moment = when === "cut" ? "a read is cut off" : "a read has ended";
  return {
    name: `${stream.label}: after ${moment}, a row of ${parent.listing.id} comes whose own rows are older than those that were read`,
    first,
    next,
    state,
    difference,
  };
}

const providerWithout = (lab: Lab, { listing }: ParentListing, gone: ProviderRow) =>
  lab.learned.provider({
    rows: (one, rows) => (one === listing ? rows.filter((row) => row !== gone) : rows),
  });

/** A parent whose rows are all older than the newest of the others, and a read without it. */
async function findOlder(
  lab: Lab,
  stream: StreamFacts,
  parent: ParentListing,
  all: readonly OutputRow[],
) {
  const newestOf = (rows: readonly OutputRow[]) =>
    momentOf(latest(rows.map(({ data }) => data[stream.cursorField ?? ""])))?.value;
  const { rows } = parent.listing;
  for (const gone of new Set([rows.at(-1), rows[0]])) {
    if (!gone) continue;
    const without = await readFrom(lab, stream, undefined, {
      provider: providerWithout(lab, parent, gone),
    });
    if (without.outcome.status !== "succeeded" || isBeyondRecordings(without)) continue;
    const others = outputRows(without.messages, stream);
    const keys = new Set(others.map(({ key }) => key));
    const own = all.filter(({ key }) => !keys.has(key));
    const [newest, newestOther] = [newestOf(own), newestOf(others)];
    if (newest !== undefined && newestOther !== undefined && newest < newestOther)
      return { gone, without, own };
  }
  return undefined;
}
