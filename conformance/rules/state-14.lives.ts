/**
 * Many runs in a row of one stream, each from the state of the one before, in a world that moves.
 */
import type { JsonValue } from "svc-connectors";
import type { Lab, RunOptions, StreamFacts } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  directionOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import {
  type MadeUpParent,
  madeUpParent,
  type ParentListing,
  parentListings,
  withMadeUp,
} from "../derive/rows/parents.ts";
import { compareRows, type Difference, type OutputRow, outputRows } from "../derive/rows/rows.ts";
import { isPageToken } from "../derive/sweeps/pages.ts";
import {
  finalState,
  incrementalStreams,
  isBeyondRecordings,
  readFrom,
} from "../derive/sweeps/reads.ts";
import { growthOf } from "./state-14.growth.ts";

export interface Life {
  /** "notes, 8 runs: rows come, go and come back". */
  readonly name: string;
  readonly runs: readonly Run[];
  /** The state of a first read of what there is in the end. */
  readonly fresh: JsonValue | undefined;
}

export interface Run {
  readonly observation: Observation;
  readonly state: JsonValue | undefined;
  /** Rows that are new in it, where that was looked at. */
  readonly difference?: Difference | undefined;
}

const runCounts = { default: 8, exhaustive: 100 };
/** A state that has grown so far may have a bound: it is read on until it grows no more. */
const mostRuns = 100;
const moreRuns = 16;
const sampledColumns = 3;
const dayMs = 86_400_000;
const unreadable = "rows with other values cannot be read";

export interface Lives {
  readonly lives: readonly Life[];
  /** The lives of which nothing can be said, and why. */
  readonly untried: readonly string[];
}

/** Done once. */
export const lives = (lab: Lab): Promise<Lives> =>
  lab.once("lives over many runs", async () => {
    const columns: CursorColumn[] = [];
    for (const stream of incrementalStreams(lab)) {
      const column = await cursorColumn(lab, stream);
      if (column) columns.push(column);
    }
    const found: Life[] = [];
    const untried: string[] = [];
    for (const column of lab.sample(columns, sampledColumns)) {
      const parents = await parentListings(lab, column.stream);
      const worlds = [
        ...parents.slice(0, 1).map((one) => parentsComeAndGo(lab, column, one)),
        rowsComeAndGo(lab, column, parents.length > 0 ? belowSome(column) : []),
      ];
      for (const world of worlds) {
        const life = await live(lab, column, world);
        if (typeof life === "string") untried.push(`${column.stream.label}: ${life}`);
        else found.push(life);
      }
    }
    return { lives: found, untried };
  });

interface World {
  readonly name: string;
  /** The provider as it is when that run begins. */
  provider(run: number): Provider;
}

/**
 * Reads again and again; the last run, and each one in which something came back, is compared. A
 * text: why nothing can be said.
 */
async function live(lab: Lab, column: CursorColumn, world: World): Promise<Life | string> {
  const { stream } = column;
  const beganMs = untilRowsMs(lab, column);
  let count = lab.isExhaustive ? runCounts.exhaustive : runCounts.default;
  const half = Math.floor(count / 2);
  const runs: Run[] = [];
  let state: JsonValue | undefined;
  let fresh: JsonValue | undefined;
  for (let run = 0; run < count; run++) {
    const options = () => ({
      provider: world.provider(run),
      clockShiftMs: beganMs + (run + 1) * dayMs + dayMs / 2,
    });
    const observation = await readFrom(lab, stream, state, options());
    // A stream that cannot be read at all is the concern of other rules.
    if (observation.outcome.status !== "succeeded" || isBeyondRecordings(observation))
      return unreadable;
    state = finalState(observation, stream) ?? state;
    // Where it leads in a listing that has changed, only the provider knows.
    if (isPageToken(state, observation, column.listings))
      return "its state is a token of a page, and only the provider knows what that means when rows have changed";
    if (run !== half && run !== count - 1) {
      runs.push({ observation, state });
      continue;
    }
    const whole = await readFrom(lab, stream, undefined, options());
    if (whole.outcome.status !== "succeeded" || isBeyondRecordings(whole)) return unreadable;
    fresh = finalState(whole, stream);
    const expected = newest(outputRows(whole.messages, stream), stream);
    const given = outputRows(observation.messages, stream);
    const keys = new Set(expected.map(({ key }) => key));
    const difference = compareRows(
      expected,
      given.filter(({ key }) => keys.has(key)),
    );
    runs.push({ observation, state, difference });
    if (run === count - 1 && growthOf({ runs, fresh }))
      count = Math.min(mostRuns, count + moreRuns);
  }
  return { name: `${stream.label}, ${count} runs: ${world.name}`, runs, fresh };
}

/** Rows of the run's own day: whatever the state is, they are new. */
function newest(rows: readonly OutputRow[], { cursorField = "" }: StreamFacts): OutputRow[] {
  const last = momentOf(latest(rows.map(({ data }) => data[cursorField])));
  const span = last?.kind === "time" ? dayMs / 4 : 0;
  return rows.filter(({ data }) => {
    const own = momentOf(data[cursorField]);
    return own !== undefined && last !== undefined && own.value >= last.value - span;
  });
}

/**
 * From the clock of the recordings to the newest row: a run comes half a day after the rows that
 * are new in it, and before those of the next one. Else a cursor that is the time at which a read
 * began would be blamed for rows that came too late.
 */
function untilRowsMs(lab: Lab, column: CursorColumn): number {
  const newest = momentOf(latest(column.listing.rows.map((row) => cursorOf(row, column))));
  const origin = Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "");
  return newest?.kind === "time" && !Number.isNaN(origin) ? newest.value - origin : 0;
}

/** A value that is newer than those of all earlier runs. */
function newValue(column: CursorColumn, run: number, at: number): unknown {
  const sample = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  const moment = momentOf(sample);
  if (moment?.kind === "number") return writeLike(sample, moment.value + 1 + run);
  return writeLike(sample, (moment?.value ?? 0) + (run + 1) * dayMs + at * 60_000);
}

/** A day later, when every row has changed. */
export const laterOptions = (lab: Lab, column: CursorColumn): RunOptions => ({
  provider: lab.learned.provider(datedRows(column, 0)),
  clockShiftMs: untilRowsMs(lab, column) + dayMs + dayMs / 2,
});

const datedRows = (column: CursorColumn, run: number): Pick<Required<ProviderChanges>, "rows"> =>
  changeRows(column, (rows) =>
    rows.map((row, at) => {
      const rank = directionOf(column) === "descending" ? rows.length - at : at;
      return withCursor(row, column, newValue(column, run, rank));
    }),
  );

/** Every second one of the listings below parents; the only one. */
const belowSome = ({ listings }: CursorColumn): readonly Listing[] =>
  listings.filter((_, at) => at % 2 === 1 || listings.length === 1);

/**
 * Every row has changed; every second run, half of them are others that are gone in the next.
 * `late`: listings that have no rows yet in the first run.
 */
function rowsComeAndGo(lab: Lab, column: CursorColumn, late: readonly Listing[]): World {
  const canCopy = column.keyFields.length > 0;
  const moves = canCopy ? "rows come, go and come back" : "rows change";
  return {
    name: late.length > 0 ? `${moves}, at first none below some parents` : moves,
    provider(run) {
      const dated = datedRows(column, run);
      return lab.learned.provider({
        rows: (listing, rows, requestCount) =>
          (run === 0 && late.includes(listing) ? [] : dated.rows(listing, rows, requestCount)).map(
            (row, at): ProviderRow =>
              canCopy && column.listings.includes(listing) && run % 2 === 0 && at % 2 === 1
                ? (underKey(row, column, 900 + run) ?? row)
                : row,
          ),
      });
    },
  };
}

/** One parent is gone in each run, in turn, and another one is there in its place. */
function parentsComeAndGo(lab: Lab, column: CursorColumn, parent: ParentListing): World {
  return {
    name: `a row of ${parent.listing.id} goes, others come, and the first comes back`,
    provider(run) {
      const dated = datedRows(column, run);
      const { rows: all } = parent.listing;
      const isOther = (at: number) => run % 2 === 1 && at === Math.floor(run / 2) % all.length;
      const made = new Map(
        all.flatMap((row, at): (readonly [ProviderRow, MadeUpParent])[] => {
          const other = isOther(at) ? madeUpParent(parent, row, 900 + run) : undefined;
          return other ? [[row, other]] : [];
        }),
      );
      const provider = lab.learned.provider({
        rows: (listing, rows, requestCount) =>
          listing === parent.listing
            ? rows.map((row) => made.get(row)?.row ?? row)
            : dated.rows(listing, rows, requestCount),
      });
      return withMadeUp(provider, [...made.values()]);
    },
  };
}
