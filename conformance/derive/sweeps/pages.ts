/**
 * The page reshaper: which listings a read asks for, and the same read of other pages than the
 * recorded ones.
 */
import type { JsonValue } from "svc-connectors";
import { isPlainObject, streamLabel, valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderChanges } from "../../contract/learned.ts";
import type { Exchange, Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import type { Recording } from "../../contract/recording.ts";
import { jsonLeaves, nameOf, readJson } from "../../learn/json.ts";
import { linksOf } from "../../learn/links.ts";
import { undisturbed } from "../rows/losses.ts";
import { momentOf } from "../rows/moments.ts";
import { compareRows, outputRows } from "../rows/rows.ts";
import { leavesOfState } from "./states.ts";

/** A recorded read from the beginning that asks for pages. */
export interface PagedRead {
  /** Name of the recording. */
  readonly name: string;
  readonly recording: Recording;
  readonly stream: StreamFacts;
  /** The same command when nothing is reshaped. */
  readonly whole: Observation;
  /** Listings with pages that it asks for, in the order of their first request. */
  readonly listings: readonly Listing[];
}

const isPaged = ({ paging }: Listing) => paging.style !== "single" && paging.style !== "unknown";

/** Why the rules about pages say nothing; undefined = some listing has pages. */
export function withoutPages(lab: Lab): string | undefined {
  if (lab.egress !== "http") return "it speaks no HTTP";
  return lab.learned.listings.every(({ paging }) => paging.style === "single")
    ? "no recorded listing has more than one page"
    : undefined;
}

/** Why no listing hands out tokens or links; undefined = one does. */
export const withoutTokens = (lab: Lab): string | undefined =>
  withoutPages(lab) ??
  (lab.learned.listings.some(handsOutTokens)
    ? undefined
    : "its provider hands out no tokens or links of pages");

/** Every answer with a next page says how to ask for it. */
export const handsOutTokens = ({ paging }: Listing): boolean =>
  (paging.style === "cursor" || paging.style === "link") && paging.next !== undefined;

/**
 * Reads of one stream from its beginning that succeed and ask for a listing with pages. Done once.
 */
export function pagedReads(lab: Lab): Promise<readonly PagedRead[]> {
  return lab.once("paged reads", async () => {
    const reads: PagedRead[] = [];
    for (const recording of lab.recordings) {
      const { verb, state, streams = [] } = recording.run;
      const [selection] = streams;
      const stream = selection && lab.streams.find(({ label }) => label === streamLabel(selection));
      const isWhole = verb === "read" && streams.length === 1 && (state ?? []).length === 0;
      if (!stream || !isWhole || recording.outcome.status !== "succeeded") continue;
      const whole = await undisturbed(lab, recording);
      const listings = listingsOf(lab, whole).filter(isPaged);
      if (whole.outcome.status === "succeeded" && listings.length > 0)
        reads.push({ name: recording.name, recording, stream, whole, listings });
    }
    return reads;
  });
}

/** Advice when `pagedReads` is empty although there are pages. */
export function missingReads(lab: Lab): string {
  const problem = lab.learned.listings.flatMap(({ paging }) =>
    paging.style === "unknown" ? [paging.problem] : [],
  )[0];
  return (
    problem ??
    "No recorded read of a stream with pages succeeds, so that nothing can be read in other pages. Mend the read, or record it anew."
  );
}

export function listingsOf(
  lab: Lab,
  { exchanges }: Pick<Observation, "exchanges">,
): readonly Listing[] {
  return [...new Set(exchanges.flatMap(({ request }) => lab.learned.listingOf(request) ?? []))];
}

export interface PageRun {
  readonly observation: Observation;
  /** It had to be stopped: it asked for more pages than there can be. */
  readonly isEndless: boolean;
  /**
   * It asked for something that was never recorded, such as the details of a row that the kit made
   * up.
   */
  readonly isBeyondRecordings: boolean;
}

/**
 * An endless read is stopped by its count of requests; one that does not even end then, by time.
 */
const deadlineMs = 10_000;

/**
 * Some connectors give a provider that brings nothing new a few dozen pages before they call it a
 * circle.
 */
const idlePages = 300;

/**
 * Runs the read against a provider with these changes. `wrap` has the last word on requests and
 * answers.
 */
export async function readPages(
  lab: Lab,
  { recording, whole, listings }: PagedRead,
  changes: ProviderChanges,
  wrap: (provider: Provider) => Provider = (provider) => provider,
): Promise<PageRun> {
  const rowCount = listings.reduce(
    (sum, listing) => sum + (changes.rows?.(listing, listing.rows, 0) ?? listing.rows).length,
    0,
  );
  const most = 3 * (whole.exchanges.length + rowCount) + idlePages;
  let isEndless = false;
  const inner = wrap(lab.learned.provider(changes));
  const provider: Provider = {
    answer(request) {
      if (request.index < most) return inner.answer(request);
      isEndless = true;
      return { unmatched: `${most} requests are more than all pages need` };
    },
    unused: () => [],
  };
  const observation = await lab.run(lab.commandOf(recording), { provider, deadlineMs });
  const isBeyondRecordings =
    !isEndless && observation.exchanges.some(({ unmatched }) => unmatched !== undefined);
  return {
    observation,
    isEndless: isEndless || observation.outcome.status === "hung",
    isBeyondRecordings,
  };
}

/** For `readPages`: the changes are for these listings only. */
export const only =
  (lab: Lab, listings: readonly Listing[]) =>
  (changed: Provider): Provider => {
    const plain = lab.learned.provider();
    return {
      unused: () => [],
      answer(request) {
        const listing = lab.learned.listingOf(request);
        return listing && listings.includes(listing)
          ? changed.answer(request)
          : plain.answer(request);
      },
    };
  };

/** Keys of rows that the undisturbed read gave and this one did not. */
export const missingRows = (
  { whole, stream }: PagedRead,
  observation: Observation,
): readonly string[] =>
  compareRows(outputRows(whole.messages, stream), outputRows(observation.messages, stream)).missing;

/** "3 rows are missing (["n3"], …)". */
export const missingText = (keys: readonly string[]) =>
  `${keys.length} ${keys.length === 1 ? "row is" : "rows are"} missing (${keys.slice(0, 3).join(", ")}${keys.length > 3 ? ", …" : ""})`;

/** "and ended as failed: The provider …". */
export const endText = ({ outcome }: Observation) =>
  `${outcome.status}${outcome.failures[0] ? `: ${outcome.failures[0].message}` : ""}`;

/** The answer's body as exact JSON. */
export const treeOf = ({ answer }: Pick<Exchange, "answer">): unknown =>
  answer && readJson(answer.body.toString("utf8"));

/** The value that the answer gives for the next page: a token or a URL. */
export function nextOf(
  { paging }: Listing,
  exchange: Pick<Exchange, "answer">,
): string | undefined {
  const { next } = "next" in paging ? paging : {};
  if (next === undefined) return undefined;
  const rel = /^header:link (.*)$/.exec(next)?.[1];
  const value =
    rel === undefined
      ? valueAt(treeOf(exchange), next)
      : linksOf(exchange.answer?.headers.link ?? "").find((link) => link.rel === rel)?.url;
  return typeof value === "string" ? value : undefined;
}

/** True when a place in the state is a token that the provider has given for its next page. */
export function isPageToken(
  state: JsonValue | undefined,
  { exchanges }: Pick<Observation, "exchanges">,
  listings: readonly Listing[],
): boolean {
  if (state === undefined) return false;
  const tokens = new Set(
    exchanges.flatMap((exchange) => listings.map((listing) => nextOf(listing, exchange))),
  );
  // A number or a time says by itself what is behind it.
  return leavesOfState(state).some(
    ({ value }) => momentOf(value) === undefined && tokens.has(String(value)),
  );
}

/**
 * Listings of the read whose answers say by themselves that more pages follow, and do not leave it
 * to the number of rows.
 */
export function informativeListings(lab: Lab, { whole, listings }: PagedRead): readonly Listing[] {
  return listings.filter((listing) => {
    const [first, second] = whole.exchanges.filter(
      ({ request }) => lab.learned.listingOf(request) === listing,
    );
    return (
      handsOutTokens(listing) ||
      (first !== undefined && second !== undefined && saysMore(listing, first))
    );
  });
}

function saysMore({ paging }: Listing, { request, answer }: Exchange): boolean {
  if (linksOf(answer?.headers.link ?? "").some(({ rel }) => rel === "next")) return true;
  const tree = treeOf({ answer });
  if (!isPlainObject(tree) || paging.style === "single" || paging.style === "unknown") return false;
  const page = Number(request.url.searchParams.get(paging.parameter ?? "") ?? paging.first);
  return [...jsonLeaves(tree, paging.rows)].some(([pointer, value]) => {
    const name = nameOf(pointer);
    if (/^(hasmore|hasnext(page)?|more|istruncated)$/.test(name)) return value === true;
    if (/^(is)?last(page)?$/.test(name) && typeof value === "boolean") return !value;
    if (/^next(page|pageurl|url|link)?$/.test(name))
      return value !== null && value !== "" && value !== false;
    return (
      /^(lastpage|pagecount|totalpages|pages|numpages)$/.test(name) &&
      paging.style === "number" &&
      Number(value) > page
    );
  });
}
