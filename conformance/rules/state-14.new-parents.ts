/** A parent that comes when others were read already, with rows that are older than theirs. */
import type { JsonValue } from "svc-connectors";
import type { Lab, RunOptions, StreamFacts } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { valuesOfRequest } from "../derive/requests/requested-values.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { compareMoments, latest, momentOf } from "../derive/rows/moments.ts";
import {
  keyOf,
  madeUpParent,
  type ParentListing,
  parentListings,
  withMadeUp,
} from "../derive/rows/parents.ts";
import {
  compareRows,
  type Difference,
  type OutputRow,
  outputRows,
  statesOf,
} from "../derive/rows/rows.ts";
import {
  cutOff,
  finalState,
  isBeyondRecordings,
  readFrom,
  undisturbed,
} from "../derive/sweeps/reads.ts";

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
 * A parent that comes, with the reads before and after: what they are answered from, and the rows
 * that it brings.
 */
interface Arrival {
  readonly without: Observation;
  before(): RunOptions;
  after(): RunOptions;
  readonly own: readonly OutputRow[];
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
  const arrival = await arrivalOf(lab, stream, parent);
  if (arrival === undefined)
    return `no row of ${parent.listing.id} has only rows that are older than those of others, and none could be made up`;
  const { without, own } = arrival;
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
          runOptions: arrival.before(),
          whole: without,
        });
  const state = finalState(first, stream);
  if (state === undefined) return "a read without it writes no state";
  const later = (days: number) => ({ ...arrival.after(), clockShiftMs: days * dayMs });
  const next = await readFrom(lab, stream, state, later(1));
  const reached = finalState(next, stream) ?? state;
  const last = await readFrom(lab, stream, reached, later(2));
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

/** Done once. */
const arrivalOf = (
  lab: Lab,
  stream: StreamFacts,
  parent: ParentListing,
): Promise<Arrival | undefined> =>
  lab.once(`new parent ${stream.label}`, async () => {
    const whole = await undisturbed(lab, stream);
    return (await hiddenAtFirst(lab, stream, parent, whole)) ?? madeUp(lab, stream, parent, whole);
  });

/** One of the recorded parents, whose rows are all older than the newest of the others. */
async function hiddenAtFirst(
  lab: Lab,
  stream: StreamFacts,
  { listing }: ParentListing,
  whole: Observation,
): Promise<Arrival | undefined> {
  for (const gone of new Set([listing.rows.at(-1), listing.rows[0]])) {
    if (!gone) continue;
    const before = () => ({
      provider: lab.learned.provider({
        rows: (one, rows) => (one === listing ? rows.filter((row) => row !== gone) : rows),
      }),
    });
    const without = await readFrom(lab, stream, undefined, before());
    const own = olderRows(stream, without, whole);
    if (own) return { without, before, after: () => ({}), own };
  }
  return undefined;
}

const number = 802;

/** One that has as many rows as a recorded one, all of them as old as its oldest. */
async function madeUp(
  lab: Lab,
  stream: StreamFacts,
  parent: ParentListing,
  without: Observation,
): Promise<Arrival | undefined> {
  const column = await cursorColumn(lab, stream);
  const rows = column && oldRows(column);
  if (!column || !rows) return undefined;
  const asked = without.exchanges
    .filter(({ request }) => lab.learned.listingOf(request) === column.listing)
    .flatMap(({ request }) => valuesOfRequest(request));
  const model = parent.listing.rows.find((row) =>
    asked.includes(keyOf(row, parent.keyField) ?? ""),
  );
  const made = madeUpParent(parent, model, number);
  if (!made) return undefined;
  const after = () => {
    const others = lab.learned.provider({
      rows: (one, all) => (one === parent.listing ? [...all, made.row] : all),
    });
    const own = withMadeUp(lab.learned.provider(changeRows(column, () => rows)), [made]);
    const provider: Provider = {
      answer: (request) =>
        (valuesOfRequest(request).includes(made.key) ? own : others).answer(request),
      unused: () => [],
    };
    return { provider };
  };
  const all = await readFrom(lab, stream, undefined, after());
  const own = olderRows(stream, without, all);
  return own && { without, before: () => ({}), after, own };
}

function oldRows(column: CursorColumn): readonly ProviderRow[] | undefined {
  const oldest = column.listing.rows
    .map((row) => cursorOf(row, column))
    .toSorted((one, other) => compareMoments(momentOf(one), momentOf(other)))[0];
  const rows = column.listing.rows.flatMap((row, at) => {
    const other = underKey(row, column, number + at);
    return other ? [withCursor(other, column, oldest)] : [];
  });
  return rows.length > 0 ? rows : undefined;
}

/**
 * Rows that come with the parent. Undefined where a read fails, where there are none, and where
 * they are not older than the newest of the others.
 */
function olderRows(
  stream: StreamFacts,
  without: Observation,
  all: Observation,
): readonly OutputRow[] | undefined {
  if ([without, all].some((one) => one.outcome.status !== "succeeded" || isBeyondRecordings(one)))
    return undefined;
  const newestOf = (rows: readonly OutputRow[]) =>
    momentOf(latest(rows.map(({ data }) => data[stream.cursorField ?? ""])))?.value;
  const others = outputRows(without.messages, stream);
  const keys = new Set(others.map(({ key }) => key));
  const own = outputRows(all.messages, stream).filter(({ key }) => !keys.has(key));
  const [newest, newestOther] = [newestOf(own), newestOf(others)];
  const isOlder = newest !== undefined && newestOther !== undefined && newest < newestOther;
  return isOlder ? own : undefined;
}
