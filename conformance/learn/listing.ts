/** One listing as it was learned from its recorded pages. */
import type { LearnedPaging, Listing, ProviderRow } from "../contract/learned.ts";
import { type CompanionValue, learnCompanions } from "./companions.ts";
import { type ExplainedValue, learnEnvelope, type SeenPage } from "./envelope.ts";
import { filterRows } from "./filter.ts";
import { type GatheredRows, gatherRows, holdsPage, type PlacedSequence } from "./gathered-rows.ts";
import { nameOf } from "./json.ts";
import { findProblem, totalsOf } from "./listing-problem.ts";
import type { Model } from "./model.ts";
import type { RecordedPage } from "./pages.ts";
import { isInBody, publicName } from "./parameters.ts";
import type { ListingContext } from "./positions.ts";
import type { Template } from "./render.ts";
import { sizeFor } from "./size.ts";
import { createTokens } from "./tokens.ts";
import { buildPage, type MoreRule } from "./view.ts";

/** A listing with all that is needed to answer for it. */
export interface KnownListing {
  readonly listing: Listing;
  readonly model: Model;
  /** Values of the parameters that all its requests have, by key. */
  readonly fixed: ReadonlyMap<string, string>;
  readonly gathered: GatheredRows;
  readonly pages: readonly RecordedPage[];
  readonly templates: readonly Template[];
  readonly explained: readonly ExplainedValue[];
  readonly companions: readonly CompanionValue[];
  readonly more: MoreRule;
  /** Tokens of this and like listings: they show how the provider's tokens look. */
  readonly tokensLike: readonly string[];
}

export interface ListingPages {
  readonly fixed: ReadonlyMap<string, string>;
  readonly pages: readonly RecordedPage[];
}

/**
 * Learns the envelope from all listings of a kind together, then each listing by itself.
 * `knownListings`: listings of the same provider of which more is known.
 */
export function learnListings(
  model: Model,
  groups: readonly ListingPages[],
  knownListings: readonly KnownListing[] = [],
): KnownListing[] {
  const keys = model.paging?.keys ?? [];
  const alike = knownListings.filter(
    (one) => model.paging !== undefined && one.model.paging?.keys.join() === keys.join(),
  );
  const gathered = groups.map((group) => ({ ...group, gathered: gatherRows(model, group.pages) }));
  const rules = (["exact", "full"] as const).map((more) => {
    const seen = gathered.map((one, at) => seenPages(model, one.gathered, more, String(at)));
    const explained = learnEnvelope(seen.flat(), {
      keys,
      sizeKey: model.size.key,
      known: alike.filter((one) => one.model.rows === model.rows).flatMap((one) => one.explained),
    });
    return { more, seen, explained };
  });
  const [exact, full] = rules;
  const pagingValueCount = (rule: typeof exact) =>
    rule?.explained.filter(
      ({ pointer }) => pointer === model.paging?.next || isAboutPaging(pointer),
    ).length ?? 0;
  const chosen = pagingValueCount(full) > pagingValueCount(exact) ? full : exact;
  if (chosen === undefined) return [];
  const tokensLike = [...gathered, ...alike].flatMap((one) =>
    one.gathered.tokens.map(({ text }) => text),
  );
  return gathered.map((one, at) => {
    const templates = chosen.seen[at] ?? [];
    const known = {
      ...one,
      model,
      templates,
      explained: chosen.explained,
      companions: learnCompanions(templates),
      more: chosen.more,
      tokensLike,
    };
    return { ...known, listing: toListing(known) };
  });
}

const isAboutPaging = (pointer: string) =>
  /next|more|last|total|pages|cursor/.test(nameOf(pointer)) || pointer.startsWith("header:link");

/** Recorded pages with what they show of the listing as it was then. */
function seenPages(
  model: Model,
  gathered: GatheredRows,
  more: MoreRule,
  listing: string,
): SeenPage[] {
  return gathered.sequences.flatMap((sequence) => {
    const rows = rowsThen(model, gathered, sequence);
    if (rows === undefined) return [];
    // Each run was given tokens of its own.
    const tokens = createTokens([...sequence.tokens, ...gathered.tokens], {
      listing,
      rowCount: rows.length,
      like: [],
    });
    return sequence.pages.flatMap(({ page, start }) => {
      if (start === undefined) return [];
      const { url, parameters } = page.exchange;
      const size = sizeOfPage(model, page, rows, start);
      const context: ListingContext = {
        rows,
        size,
        emptyPages: [],
        filter: sequence.filter,
        tokens,
      };
      const options = { paging: model.paging, more, total: rows.length };
      const { view } = buildPage({ url, parameters }, { start, skipped: 0 }, context, options);
      return [{ page, view, listing }];
    });
  });
}

/** Rows that the page would hold; fewer where the provider gave fewer for a reason of its own. */
function sizeOfPage(
  model: Model,
  page: RecordedPage,
  rows: readonly ProviderRow[],
  start: number,
): number {
  if (model.paging === undefined) return Math.max(1, rows.length);
  const size = sizeFor(model.size, page.exchange.parameters);
  const isShort = page.rows.length > 0 && page.rows.length < Math.min(size, rows.length - start);
  return isShort && model.paging.count !== "pages" ? page.rows.length : size;
}

/**
 * The rows of the listing, under the sequence's filter, when the sequence was recorded; undefined
 * when they are not known.
 */
function rowsThen(
  model: Model,
  { base, rows }: GatheredRows,
  sequence: PlacedSequence,
): readonly ProviderRow[] | undefined {
  if (sequence === base) return sequence.rows;
  const totals = sequence.pages.flatMap(({ page }) => totalsOf(page));
  const under = (all: readonly ProviderRow[]) =>
    filterRows(all, model.filter, sequence.pages[0]?.page.exchange.parameters ?? new Map());
  const candidates = [under(base?.rows ?? []), sequence.rows, under(rows)];
  return candidates.find((one, at) => {
    const isWhole = at !== 1 || sequence.isFullRead || totals.length > 0;
    return (
      isWhole &&
      sequence.pages.every((page) => holdsPage(one, page)) &&
      totals.every((total) => total === one.length)
    );
  });
}

function toListing(known: Omit<KnownListing, "listing">): Listing {
  const { model, fixed, gathered, pages } = known;
  const first = gathered.base?.pages[0]?.page ?? pages[0];
  const {
    method = "GET",
    url = new URL("http://localhost/"),
    parameters = new Map(),
  } = first?.exchange ?? {};
  const problem = findProblem(known);
  const filter = model.filter && publicFilter(model.filter);
  return {
    id: `${method} ${url.pathname}${fixedText(fixed)}`,
    method,
    origin: url.origin,
    path: url.pathname,
    fixed: Object.fromEntries([...fixed].map(([key, value]) => [publicName(key), value])),
    paging: problem === undefined ? publicPaging(model) : { style: "unknown", problem },
    rows: gathered.rows,
    pageSize:
      model.paging === undefined
        ? Math.max(1, gathered.rows.length)
        : sizeFor(model.size, parameters),
    ...(filter ? { filter } : {}),
    recordings: [...new Set(pages.map(({ exchange }) => exchange.recording))],
  };
}

/** Query parameters as in a URL, those of bodies and headers in braces. */
function fixedText(fixed: ReadonlyMap<string, string>): string {
  const texts = (isInQuery: boolean) =>
    [...fixed]
      .filter(([key]) => key.startsWith("?") === isInQuery)
      .map(([key, value]) => `${publicName(key)}=${value}`);
  const [query, others] = [texts(true), texts(false)];
  return `${query.length > 0 ? `?${query.join("&")}` : ""}${others.length > 0 ? ` {${others.join(", ")}}` : ""}`;
}

const publicFilter = ({
  key: _,
  leftOut: __,
  upperKey: ___,
  ...filter
}: NonNullable<Model["filter"]> & { leftOut?: number }) => filter;

function publicPaging({ paging, rows, size }: Model): LearnedPaging {
  if (paging === undefined) return { style: "single", rows };
  const [key = ""] = paging.keys;
  return {
    style: paging.style,
    rows,
    parameter: publicName(key),
    isInBody: isInBody(key),
    first: paging.first,
    ...(size.key === undefined ? {} : { size: publicName(size.key) }),
    ...(paging.next === undefined ? {} : { next: paging.next }),
  };
}
