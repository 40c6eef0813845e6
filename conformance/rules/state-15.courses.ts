/**
 * Reads that write states on their way, and what may change at the provider before they are
 * resumed: as recorded, or of so many pages that there are states.
 */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { type CursorColumn, cursorColumn, keyFieldsOf } from "../derive/rows/cursors.ts";
import { type ParentListing, parentListings } from "../derive/rows/parents.ts";
import { outputRows, statesOf } from "../derive/rows/rows.ts";
import { listingsOf } from "../derive/sweeps/pages.ts";
import {
  isBeyondRecordings,
  readFrom,
  resumableStreams,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { pagesRead, readLong } from "./state-12.long-reads.ts";

/** A listing that changes, and how its rows are told apart. */
export interface Changing {
  readonly listing: Listing;
  readonly rows: readonly ProviderRow[];
  readonly keyField: string;
  readonly isParent: boolean;
}

export interface Course {
  readonly stream: StreamFacts;
  /** "notes", or "notes, 110 pages". */
  readonly name: string;
  readonly listings: readonly Changing[];
  /** The read from its beginning to its end. */
  readonly whole: Observation;
  /** Numbers of messages after which it is cut off. */
  readonly cuts: readonly number[];
  /** The provider that it was read from, where rows are changed. */
  provider(edit?: ProviderChanges["rows"]): Provider;
}

const sampledStreams = 3;
/** Reads of so many pages take their time. */
const sampledLongReads = 2;
/** Rows of a page: so few that a listing has a middle. */
const smallPage = 1;

/** Of streams that can be resumed; those whose recorded reads write no state are read at length. */
export async function courses(lab: Lab): Promise<readonly Course[]> {
  const recorded: [StreamFacts, readonly Changing[]][] = [];
  const short: [CursorColumn, keyField: string][] = [];
  for (const stream of resumableStreams(lab)) {
    const states = statesOf(await undisturbed(lab, stream), stream.label);
    const listings = states.length > 1 ? await changingListings(lab, stream) : [];
    const column = listings.length > 0 ? undefined : await cursorColumn(lab, stream);
    if (listings.length > 0) recorded.push([stream, listings]);
    const [keyField] = column?.keyFields ?? [];
    if (column && keyField !== undefined && column.listing.paging.style !== "single")
      short.push([column, keyField]);
  }
  const found: (Course | undefined)[] = [];
  for (const [stream, listings] of lab.sample(recorded, sampledStreams))
    found.push(await recordedCourse(lab, stream, listings));
  for (const [column, keyField] of lab.sample(short, sampledLongReads))
    found.push(await longCourse(lab, column, keyField));
  return found.flatMap((course) => course ?? []);
}

/** Undefined where it fails. */
async function recordedCourse(
  lab: Lab,
  stream: StreamFacts,
  listings: readonly Changing[],
): Promise<Course | undefined> {
  const pageSize = pagesFor(listings);
  const provider: Course["provider"] = (rows) =>
    lab.learned.provider({ pageSize, ...(rows ? { rows } : {}) });
  const whole = await readFrom(lab, stream, undefined, { provider: provider() });
  if (whole.outcome.status !== "succeeded" || isBeyondRecordings(whole)) return undefined;
  const cuts = cutsOf(whole, stream);
  // One in the first half, and the last one before the end: often the border of two parents.
  const some = new Set([cuts[Math.floor(cuts.length / 3)], cuts.at(-1)]);
  return {
    ...{ stream, name: stream.label, listings, whole, provider },
    cuts: [...some].flatMap((cut) => cut ?? []),
  };
}

/** Undefined where so many pages cannot be read. */
async function longCourse(
  lab: Lab,
  column: CursorColumn,
  keyField: string,
): Promise<Course | undefined> {
  const long = await readLong(lab, column, false);
  if (!long) return undefined;
  const { listing, stream } = column;
  const { whole, rows, provider } = long;
  const cuts = cutsOf(whole, stream);
  return {
    ...{ stream, whole, provider },
    name: `${stream.label}, ${pagesRead} pages`,
    listings: [
      ...firstOf(await parentListings(lab, stream)),
      { listing, rows, keyField, isParent: false },
    ],
    cuts: cuts.slice(cuts.length >> 1).slice(0, 1),
  };
}

/** Behind its last state nothing is left to read. */
const cutsOf = (whole: Observation, stream: StreamFacts): readonly number[] =>
  statesOf(whole, stream.label)
    .map(({ index }) => index + 1)
    .slice(0, -1);

const pagesFor =
  (listings: readonly Changing[]) =>
  (listing: Listing): number | undefined =>
    listings.some((one) => one.listing === listing && !one.isParent) &&
    (listing.paging.style === "cursor" || listing.paging.style === "link")
      ? smallPage
      : undefined;

const firstOf = (parents: readonly ParentListing[]): readonly Changing[] =>
  parents.slice(0, 1).map((one) => ({ ...one, rows: one.listing.rows, isParent: true }));

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
        .map((keyField) => ({ listing, rows: listing.rows, keyField, isParent: false })),
    );
  return [...firstOf(parents), ...own];
}
