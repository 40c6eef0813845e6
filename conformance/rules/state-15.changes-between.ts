/** Changes at the provider between a read that is cut off and the one that goes on from it. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Exchange, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { valuesOfRequest } from "../derive/requests/requested-values.ts";
import { keyFieldsOf } from "../derive/rows/cursors.ts";
import {
  keyOf,
  type MadeUpParent,
  madeUpParent,
  parentListings,
  withMadeUp,
} from "../derive/rows/parents.ts";
import { compareRows, type OutputRow, outputRows, statesOf } from "../derive/rows/rows.ts";
import { listingsOf } from "../derive/sweeps/pages.ts";
import {
  cutOff,
  finalState,
  isBeyondRecordings,
  readFrom,
  resumableStreams,
  undisturbed,
} from "../derive/sweeps/reads.ts";

export interface ResumedRead {
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

const sampledStreams = 3;
/** Rows of a page: so few that a listing has a middle. */
const smallPage = 1;
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

/** A listing that changes, and how its rows are told apart. */
interface Changing {
  readonly listing: Listing;
  readonly keyField: string;
  readonly isParent: boolean;
}

/** Done once. */
export const resumedReads = (lab: Lab): Promise<readonly ResumedRead[]> =>
  lab.once("reads resumed after changes", async () => {
    const candidates: [StreamFacts, readonly Changing[]][] = [];
    for (const stream of resumableStreams(lab)) {
      const states = statesOf(await undisturbed(lab, stream), stream.label);
      const listings = states.length > 1 ? await changingListings(lab, stream) : [];
      if (listings.length > 0) candidates.push([stream, listings]);
    }
    const found: ResumedRead[] = [];
    for (const [stream, listings] of lab.sample(candidates, sampledStreams))
      found.push(...(await resumedReadsOf(lab, stream, listings)));
    return found;
  });

async function resumedReadsOf(
  lab: Lab,
  stream: StreamFacts,
  listings: readonly Changing[],
): Promise<readonly ResumedRead[]> {
  const pageSize = pagesFor(listings);
  const whole = await readFrom(lab, stream, undefined, {
    provider: lab.learned.provider({ pageSize }),
  });
  if (whole.outcome.status !== "succeeded" || isBeyondRecordings(whole)) return [];
  // Behind the last state nothing is left to read.
  const cuts = statesOf(whole, stream.label)
    .map(({ index }) => index + 1)
    .slice(0, -1);
  const found: ResumedRead[] = [];
  for (const after of middle(cuts)) {
    const provider = lab.learned.provider({ pageSize });
    const first = await cutOff(lab, stream, { after, runOptions: { provider }, whole });
    if (!first.isStopped) continue;
    for (const changing of atPlace(lab, listings, requestsUntil(whole, after))) {
      const place = placeOf(changing, whole, after, stream);
      for (const change of changesOf(changing, place)) {
        const read = await resume(lab, { stream, whole, first, after, changing, change, pageSize });
        if (read) found.push(read);
      }
    }
  }
  return found;
}

/** One in the first half, and the last one before the end: often the border of two parents. */
const middle = (cuts: readonly number[]): readonly number[] =>
  [...new Set([cuts[Math.floor(cuts.length / 3)], cuts.at(-1)])].flatMap((cut) => cut ?? []);

const pagesFor =
  (listings: readonly Changing[]) =>
  (listing: Listing): number | undefined =>
    listings.some((one) => one.listing === listing && !one.isParent) &&
    (listing.paging.style === "cursor" || listing.paging.style === "link")
      ? smallPage
      : undefined;

async function changingListings(lab: Lab, stream: StreamFacts): Promise<readonly Changing[]> {
  const whole = await undisturbed(lab, stream);
  if (whole.outcome.status !== "succeeded") return [];
  const parents = await parentListings(lab, stream);
  const records = outputRows(whole.messages, stream);
  const own = listingsOf(lab, whole)
    .filter(
      (listing) =>
        listing.rows.length > 2 &&
        listing.paging.style !== "unknown" &&
        parents.every((parent) => parent.listing !== listing),
    )
    .flatMap((listing) =>
      keyFieldsOf(listing, records, stream)
        .slice(0, 1)
        .map((keyField) => ({ listing, keyField, isParent: false })),
    );
  return [...parents.slice(0, 1).map((one) => ({ ...one, isParent: true })), ...own];
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
  { listing, keyField, isParent }: Changing,
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
    listing.rows.findIndex((row) => texts.has(keyOf(row, keyField) ?? ""));
  return Math.max(0, seen.map(indexIn).findLast((index) => index >= 0) ?? 0);
}

function changesOf(changing: Changing, place: number): readonly Change[] {
  const { isParent, listing } = changing;
  const [added, latest] = [numbers.first, numbers.last].map((number) =>
    isParent ? madeUpParent(changing, listing.rows[0], number) : undefined,
  );
  const without = (index: number) => (rows: readonly ProviderRow[]) =>
    rows.filter((_, at) => at !== index);
  const last = listing.rows.length - 1;
  const kind = isParent ? "parent" : "row";
  return [
    ...(place > 0 ? [{ name: `the first ${kind} is deleted`, edit: without(0) }] : []),
    { name: `the ${kind} at its place is deleted`, edit: without(place) },
    ...(place < last
      ? [{ name: `the ${kind} behind its place is deleted`, edit: without(place + 1) }]
      : []),
    ...(isParent
      ? [
          {
            name: "the parents come in reverse order",
            edit: (rows: readonly ProviderRow[]) => rows.toReversed(),
          },
        ]
      : []),
    ...(added
      ? [
          {
            name: "another parent comes first",
            added,
            edit: (rows: readonly ProviderRow[]) => [added.row, ...rows],
          },
        ]
      : []),
    ...(latest
      ? [
          {
            name: "the parent at its place is deleted, and another one comes last",
            added: latest,
            edit: (rows: readonly ProviderRow[]) => [...without(place)(rows), latest.row],
          },
        ]
      : []),
  ];
}

interface Plan {
  readonly stream: StreamFacts;
  readonly whole: Observation;
  /** It was cut off after so many messages. */
  readonly first: Observation;
  readonly after: number;
  readonly changing: Changing;
  readonly change: Change;
  readonly pageSize: ProviderChanges["pageSize"];
}

async function resume(lab: Lab, plan: Plan): Promise<ResumedRead | undefined> {
  const { stream, whole, first, after, changing, change, pageSize } = plan;
  const state = finalState(first, stream);
  if (state === undefined) return undefined;
  let isChanged = false;
  const learned = lab.learned.provider({
    pageSize,
    rows: (listing, rows) => (isChanged && listing === changing.listing ? change.edit(rows) : rows),
  });
  const provider = change.added ? withMadeUp(learned, [change.added]) : learned;
  askedBefore(provider, first);
  isChanged = true;
  const resumed = await readFrom(lab, stream, state, { provider });
  const last = statesOf(first, stream.label).at(-1)?.index ?? 0;
  const given = [
    ...outputRows(first.messages.slice(0, last), stream),
    ...outputRows(resumed.messages, stream),
  ];
  const name = `${stream.label}, cut off after message ${after}: meanwhile ${change.name} in ${changing.listing.id}`;
  // A read that fails loses nothing; a place that is gone may be one that it cannot go on from.
  const isWhole = resumed.outcome.status === "succeeded";
  const found = { name, first, resumed, state, isWhole, missing: [] };
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
async function losesUnchanged(
  lab: Lab,
  { stream, whole, first, pageSize }: Plan,
): Promise<boolean> {
  const provider = lab.learned.provider({ pageSize });
  askedBefore(provider, first);
  const resumed = await readFrom(lab, stream, finalState(first, stream), { provider });
  const last = statesOf(first, stream.label).at(-1)?.index ?? 0;
  const given = [
    ...outputRows(first.messages.slice(0, last), stream),
    ...outputRows(resumed.messages, stream),
  ];
  return compareRows(outputRows(whole.messages, stream), given).missing.length > 0;
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
