/** Changes at the provider between a read that is cut off and the one that goes on from it. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Exchange, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { valuesOfRequest } from "../derive/requests/requested-values.ts";
import { keyOf, type MadeUpParent, madeUpParent, withMadeUp } from "../derive/rows/parents.ts";
import { compareRows, type OutputRow, outputRows, statesOf } from "../derive/rows/rows.ts";
import { cutOff, finalState, isBeyondRecordings, readFrom } from "../derive/sweeps/reads.ts";
import { type Changing, type Course, courses } from "./state-15.courses.ts";

export interface ResumedRead {
  readonly stream: StreamFacts;
  /** "notes, cut off after message 5: the row at its place is deleted". */
  readonly name: string;
  readonly first: Observation;
  readonly resumed: Observation;
  readonly state: JsonValue | undefined;
  /** False: nothing can be said of what it would have lost. */
  readonly isWhole: boolean;
  /** Keys of rows that were there all the time, and did not come. */
  readonly missing: readonly string[];
}

/**
 * Numbers of the made-up parents: in front of the others, where it shifts each of them, and behind
 * them, also by its key.
 */
const numbers = { first: 801, last: 0xf0_00_00_00 };

interface Change {
  readonly name: string;
  /** A parent that it adds. */
  readonly added?: MadeUpParent | undefined;
  edit(rows: readonly ProviderRow[]): readonly ProviderRow[];
}

/** Done once. */
export const resumedReads = (lab: Lab): Promise<readonly ResumedRead[]> =>
  lab.once("reads resumed after changes", async () => {
    const found: ResumedRead[] = [];
    for (const course of await courses(lab)) found.push(...(await resumedReadsOf(lab, course)));
    return found;
  });

async function resumedReadsOf(lab: Lab, course: Course): Promise<readonly ResumedRead[]> {
  const found: ResumedRead[] = [];
  for (const after of course.cuts) {
    const { stream, whole } = course;
    const runOptions = { provider: course.provider() };
    const first = await cutOff(lab, stream, { after, runOptions, whole });
    if (!first.isStopped) continue;
    for (const changing of atPlace(lab, course.listings, requestsUntil(whole, after))) {
      const place = placeOf(changing, whole, after, stream);
      for (const change of changesOf(changing, place)) {
        const read = await resume(lab, { course, first, after, changing, change });
        if (read) found.push(read);
      }
    }
  }
  return found;
}

/** The parents, and the listing of rows in the midst of which these requests end. */
function atPlace(
  lab: Lab,
  listings: readonly Changing[],
  exchanges: readonly Exchange[],
): readonly Changing[] {
  const own = listings.filter(({ isParent }) => !isParent);
  const asked = exchanges.map(({ request }) => lab.learned.listingOf(request));
  const last = asked.findLast((one) => own.some(({ listing }) => listing === one));
  const current = own.find(({ listing }) => listing === last) ?? own[0];
  return [...listings.filter(({ isParent }) => isParent), ...(current ? [current] : [])];
}

/** The exchanges of a read up to a message. */
const requestsUntil = ({ exchanges, messages }: Observation, after: number) =>
  exchanges.slice(0, messages[after - 1]?.requestCount ?? 0);

/** Index of the row that was read last, or asked about, when the read was cut off. */
function placeOf(
  { rows, keyField, isParent }: Changing,
  whole: Observation,
  after: number,
  stream: StreamFacts,
): number {
  const seen = isParent
    ? requestsUntil(whole, after).map(({ request }) => new Set(valuesOfRequest(request)))
    : outputRows(whole.messages.slice(0, after), stream).map(
        ({ data }) => new Set(stream.primaryKey.map((name) => String(data[name]))),
      );
  const indexIn = (texts: ReadonlySet<string>) =>
    rows.findIndex((row) => texts.has(keyOf(row, keyField) ?? ""));
  return Math.max(0, seen.map(indexIn).findLast((index) => index >= 0) ?? 0);
}

function changesOf(changing: Changing, place: number): readonly Change[] {
  const { isParent, rows } = changing;
  const without = (index: number) => (all: readonly ProviderRow[]) =>
    all.filter((_, at) => at !== index);
  const kind = isParent ? "parent" : "row";
  const changes: Change[] = [];
  if (place > 0) changes.push({ name: `the first ${kind} is deleted`, edit: without(0) });
  // Without its only parent nothing is left that could be missing.
  if (rows.length > 1)
    changes.push({ name: `the ${kind} at its place is deleted`, edit: without(place) });
  if (place < rows.length - 1)
    changes.push({ name: `the ${kind} behind its place is deleted`, edit: without(place + 1) });
  if (!isParent) return changes;
  if (rows.length > 1)
    changes.push({ name: "the parents come in reverse order", edit: (all) => all.toReversed() });
  const added = madeUpParent(changing, rows[0], numbers.first);
  if (added)
    changes.push({
      ...{ name: "another parent comes first", added },
      edit: (all) => [added.row, ...all],
    });
  const last = madeUpParent(changing, rows[0], numbers.last);
  if (last && rows.length > 1)
    changes.push({
      name: "the parent at its place is deleted, and another one comes last",
      added: last,
      edit: (all) => [...without(place)(all), last.row],
    });
  return changes;
}

interface Plan {
  readonly course: Course;
  /** It was cut off after so many messages. */
  readonly first: Observation;
  readonly after: number;
  readonly changing: Changing;
  readonly change: Change;
}

async function resume(lab: Lab, plan: Plan): Promise<ResumedRead | undefined> {
  const { course, first, after, changing, change } = plan;
  const { stream, whole } = course;
  const state = finalState(first, stream);
  if (state === undefined) return undefined;
  let isChanged = false;
  const changed = course.provider((listing, rows) =>
    isChanged && listing === changing.listing ? change.edit(rows) : rows,
  );
  const provider = change.added ? withMadeUp(changed, [change.added]) : changed;
  askedBefore(provider, first);
  isChanged = true;
  const resumed = await readFrom(lab, stream, state, { provider });
  const given = givenBy(stream, first, resumed);
  const name = `${course.name}, cut off after message ${after}: meanwhile ${change.name} in ${changing.listing.id}`;
  // A read that fails loses nothing; a place that is gone may be one that it cannot go on from.
  const isWhole = resumed.outcome.status === "succeeded";
  const found = { stream, name, first, resumed, state, isWhole, missing: [] };
  if (!isWhole) return found;
  const before = outputRows(whole.messages, stream);
  if (compareRows(before, given).missing.length === 0) return found;
  const now = await readFrom(lab, stream, undefined, { provider });
  if (now.outcome.status !== "succeeded" || isBeyondRecordings(now)) return undefined;
  const missing = stillThere(before, outputRows(now.messages, stream), given);
  const isLostAnyway = missing.length > 0 && (await losesUnchanged(lab, plan));
  return { ...found, missing: isLostAnyway ? [] : missing };
}

/** A resume that loses rows when nothing has changed is the concern of STATE-01. */
async function losesUnchanged(lab: Lab, { course, first }: Plan): Promise<boolean> {
  const { stream, whole } = course;
  const provider = course.provider();
  askedBefore(provider, first);
  const resumed = await readFrom(lab, stream, finalState(first, stream), { provider });
  const given = givenBy(stream, first, resumed);
  return compareRows(outputRows(whole.messages, stream), given).missing.length > 0;
}

/** Rows until the last state of a read that was cut off, and of the one that went on from it. */
function givenBy(stream: StreamFacts, first: Observation, resumed: Observation) {
  const last = statesOf(first, stream.label).at(-1)?.index ?? 0;
  return [
    ...outputRows(first.messages.slice(0, last), stream),
    ...outputRows(resumed.messages, stream),
  ];
}

/** The provider knows what it answered the first read: its tokens keep their places. */
function askedBefore(provider: Provider, { exchanges }: Observation): void {
  for (const { request } of exchanges) provider.answer(request);
}

function stillThere(
  before: readonly OutputRow[],
  now: readonly OutputRow[],
  given: readonly OutputRow[],
): readonly string[] {
  const left = new Set(now.map(({ key }) => key));
  const got = new Set(given.map(({ key }) => key));
  return [...new Set(before.map(({ key }) => key))].filter((key) => left.has(key) && !got.has(key));
}
