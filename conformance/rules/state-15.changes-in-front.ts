/**
 * A row in front of the place that a state names changes between a crash and the resumed run, and
 * others later than it: behind the place, and the parents of both.
 */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import type { CursorColumn } from "../derive/rows/cursors.ts";
import { momentOf } from "../derive/rows/moments.ts";
import { parentListings, touched } from "../derive/rows/parents.ts";
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
import {
  type Change,
  canChange,
  changedRows,
  changing,
  datedColumn,
} from "./state-11.moving-provider.ts";

export interface ReadInFront {
  readonly name: string;
  readonly first: Observation;
  readonly next: Observation;
  /** With which the resumed read ended. */
  readonly state: ReturnType<typeof finalState>;
  /** The row as it is then, against what the resumed read and the next one gave of it. */
  readonly difference: Difference;
}

const hourMs = 3_600_000;
/** After the crash, and before the resumed read an hour later. */
const afterMs = hourMs / 2;

const places: readonly Change[] = (["page", "parent"] as const).map((of) => ({
  name: `one of a later ${of} changes later still`,
  afterMs,
  other: { afterMs: afterMs + 30_000, of },
}));

/** A text says why nothing could be seen; empty for streams whose rows have no time. */
export async function readChangesInFront(
  lab: Lab,
  stream: StreamFacts,
): Promise<readonly (ReadInFront | string)[]> {
  const column = await datedColumn(lab, stream);
  if (!column) return [];
  const states = statesOf(await undisturbed(lab, stream), stream.label).slice(0, -1);
  const cuts = new Set([states[states.length >> 1], states.at(-1)]);
  const reads: (ReadInFront | string)[] = [];
  for (const change of places.filter((one) => canChange(column, one)))
    for (const cut of cuts) {
      const name = `${stream.label}: after a read is cut off${cut ? ` behind message ${cut.index + 1}` : ""}, a row that was read changes, and ${change.name}`;
      const read = cut
        ? await readChanged(lab, column, change, cut.index + 1)
        : "no read writes a state before its end";
      reads.push(typeof read === "string" ? `${name}: ${read}` : { ...read, name });
    }
  return reads;
}

async function readChanged(
  lab: Lab,
  column: CursorColumn,
  change: Change,
  stopAfter: number,
): Promise<Omit<ReadInFront, "name"> | string> {
  const { stream } = column;
  const rows = changedRows(lab, column, change);
  const [own, other] = rows;
  const { rows: edit } = changing(column, rows, () => true);
  const parents = new Set((await parentListings(lab, stream)).map(({ listing }) => listing));
  const changes: ProviderChanges = {
    rows: (listing, given, requestCount) =>
      parents.has(listing)
        ? given.map((row) => touched(row, momentOf(other?.value)?.value))
        : edit(listing, given, requestCount),
  };
  const later = (hours: number) => ({
    provider: lab.learned.provider(changes),
    clockShiftMs: hours * hourMs,
  });
  const whole = await readFrom(lab, stream, undefined, later(1));
  const moment = momentOf(own?.value)?.value;
  const isChanged = ({ data }: OutputRow) => momentOf(data[column.cursorField])?.value === moment;
  const expected = outputRows(whole.messages, stream).filter(isChanged);
  if (whole.outcome.status !== "succeeded" || expected.length === 0)
    return "a read from the beginning does not give the row as it is then";
  const first = await cutOff(lab, stream, { after: stopAfter });
  const resumed = await readFrom(lab, stream, finalState(first, stream), later(1));
  const state = finalState(resumed, stream);
  const next = await readFrom(lab, stream, state, later(2));
  if ([resumed, next].some((one) => one.outcome.status !== "succeeded" || isBeyondRecordings(one)))
    return "the reads that come after it fail, or ask for what was not recorded";
  const given = [resumed, next].flatMap(({ messages }) => outputRows(messages, stream));
  return { first, next, state, difference: compareRows(expected, given.filter(isChanged)) };
}
