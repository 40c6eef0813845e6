/**
 * The crash in the middle of a read of many pages, for streams whose recorded reads are too short
 * for a state on the way.
 */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { type CursorColumn, cursorColumn } from "../derive/rows/cursors.ts";
import { compareRows, type Difference, outputRows, statesOf } from "../derive/rows/rows.ts";
import { beginningOf, finalState, undisturbed } from "../derive/sweeps/reads.ts";
import { type LongRead, pagesRead, readLong } from "./state-12.long-reads.ts";

export interface LongReadCrash {
  readonly name: string;
  readonly first: Observation;
  readonly resumed: Observation;
  readonly state: ReturnType<typeof finalState>;
  /** Rows of the whole read, against those until the state and of the resumed read. */
  readonly difference: Difference;
}

/**
 * Cut off in the middle, and after the last state before the end. A text says why nothing could be
 * seen; empty where the crash sweep sees it.
 */
export async function crashesInLongRead(
  lab: Lab,
  stream: StreamFacts,
): Promise<readonly (LongReadCrash | string)[]> {
  const column = await cursorColumn(lab, stream);
  if (!column)
    return [`${stream.label}: no field of the provider's rows is seen to become its cursor`];
  if (column.listing.paging.style === "single") return [];
  if (writesBetweenPages(lab, column, await undisturbed(lab, stream))) return [];
  const name = `${stream.label}: a read of ${pagesRead} pages`;
  const long = await readLong(lab, column, false);
  if (!long) return [`${name} does not come to its end`];
  const { whole, read } = long;
  const states = statesOf(whole, stream.label).slice(0, -1);
  if (states.length === 0) return [`${name} writes no state before its end`];
  const cuts = new Set([states[states.length >> 1], states.at(-1)]);
  const crashes: (LongReadCrash | string)[] = [];
  for (const cut of cuts) {
    const stopAfter = (cut?.index ?? 0) + 1;
    const first =
      (await beginningOf(lab, stream, whole, stopAfter)) ?? (await read(undefined, { stopAfter }));
    crashes.push(
      await resume(read, whole, first, {
        name: `${name}, crash after message ${stopAfter}`,
        stream,
      }),
    );
  }
  return crashes;
}

/** Whether a state came after one page of the listing and before another. */
function writesBetweenPages(lab: Lab, { listing, stream }: CursorColumn, whole: Observation) {
  const asked = whole.exchanges.map(({ request }) => lab.learned.listingOf(request));
  return statesOf(whole, stream.label).some(({ index }) => {
    const requestCount = whole.messages[index]?.requestCount ?? 0;
    return [asked.slice(0, requestCount), asked.slice(requestCount)].every((part) =>
      part.includes(listing),
    );
  });
}

async function resume(
  read: LongRead["read"],
  whole: Observation,
  first: Observation,
  { name, stream }: { readonly name: string; readonly stream: StreamFacts },
): Promise<LongReadCrash | string> {
  const state = finalState(first, stream);
  if (!first.isStopped || state === undefined) return `${name}: it is not cut off`;
  const resumed = await read(state);
  if (resumed.exchanges.some(({ unmatched }) => unmatched !== undefined))
    return `${name}: what resumes it asks for what was not recorded`;
  const last = statesOf(first, stream.label).at(-1)?.index ?? 0;
  const given = [
    ...outputRows(first.messages.slice(0, last), stream),
    ...outputRows(resumed.messages, stream),
  ];
  const difference = compareRows(outputRows(whole.messages, stream), given);
  return { name, first, resumed, state, difference };
}
