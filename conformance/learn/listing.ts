/** One listing as it was learned, and the proof that it gives the recorded answers. */
import { parseExact } from "svc-connectors";
import type { LearnedPaging, Listing, ProviderRow } from "../contract/learned.ts";
import { type LearnedLeaf, learnEnvelope, type SeenPage } from "./envelope.ts";
import { filterRows } from "./filter.ts";
import { nameOf, scalarText } from "./json.ts";
import type { Model } from "./model.ts";
import type { RecordedPage } from "./pages.ts";
import { isInBody, publicName, toInteger } from "./parameters.ts";
import type { Ground } from "./places.ts";
import { isSameAnswer, renderPage, type Template } from "./render.ts";
import { learnSides, type Side, sidesOf } from "./sides.ts";
import { sizeFor } from "./size.ts";
import { createTokens } from "./tokens.ts";
import { buildPage, type MoreRule } from "./view.ts";
import { type Gathered, gatherRows, holds, type PlacedWalk } from "./walks.ts";

/** A listing with all that is needed to answer for it. */
export interface KnownListing {
  readonly listing: Listing;
  readonly model: Model;
  /** Values of the parameters that all its requests have, by key. */
  readonly fixed: ReadonlyMap<string, string>;
  readonly gathered: Gathered;
  readonly pages: readonly RecordedPage[];
  readonly templates: readonly Template[];
  readonly leaves: readonly LearnedLeaf[];
  readonly sides: readonly Side[];
  readonly more: MoreRule;
  /** Tokens of this and like listings: how tokens look. */
  readonly tokensLike: readonly string[];
}

export interface ListingPages {
  readonly fixed: ReadonlyMap<string, string>;
  readonly pages: readonly RecordedPage[];
}

/**
 * Learns the envelope from all listings of a kind together, then each listing by itself.
 * `experience`: listings of the same provider of which more is known.
 */
export function learnListings(
  model: Model,
  groups: readonly ListingPages[],
  experience: readonly KnownListing[] = [],
): KnownListing[] {
  const keys = model.paging?.keys ?? [];
  const alike = experience.filter(
    (one) => model.paging !== undefined && one.model.paging?.keys.join() === keys.join(),
  );
  const gathered = groups.map((group) => ({ ...group, gathered: gatherRows(model, group.pages) }));
  const rules = (["exact", "full"] as const).map((more) => {
    const seen = gathered.map((one, at) => seenPages(model, one.gathered, more, String(at)));
    const leaves = learnEnvelope(seen.flat(), {
      ...{ keys, sizeKey: model.size.key },
      experience: alike.filter((one) => one.model.rows === model.rows).flatMap((one) => one.leaves),
    });
    return { more, seen, leaves };
  });
  const [exact, full] = rules;
  const explains = (rule: typeof exact) =>
    rule?.leaves.filter(({ pointer }) => pointer === model.paging?.next || isTelling(pointer))
      .length ?? 0;
  const chosen = explains(full) > explains(exact) ? full : exact;
  if (chosen === undefined) return [];
  const tokensLike = [...gathered, ...alike].flatMap((one) =>
    one.gathered.tokens.map(({ text }) => text),
  );
  return gathered.map((one, at) => {
    const known = {
      tokensLike,
      ...one,
      model,
      leaves: chosen.leaves,
      templates: chosen.seen[at] ?? [],
      more: chosen.more,
    };
    const sides = learnSides(known.templates);
    return { ...known, sides, listing: describe({ ...known, sides }) };
  });
}

const isTelling = (pointer: string) =>
  /next|more|last|total|pages|cursor/.test(nameOf(pointer)) || pointer.startsWith("header:link");

/** Recorded pages with what they show of the listing as it was then. */
function seenPages(model: Model, gathered: Gathered, more: MoreRule, listing: string): SeenPage[] {
  return gathered.walks.flatMap((walk) => {
    const rows = rowsThen(model, gathered, walk);
    if (rows === undefined) return [];
    // Each run was given tokens of its own.
    const tokens = createTokens([...walk.tokens, ...gathered.tokens], {
      rowCount: rows.length,
      like: [],
    });
    return walk.pages.flatMap(({ page, start }) => {
      if (start === undefined) return [];
      const { url, parameters } = page.exchange;
      const asked = sizeOfPage(model, page, rows, start);
      const ground: Ground = { rows, size: asked, emptyPages: [], filter: walk.filter, tokens };
      const options = { paging: model.paging, more, total: rows.length };
      return [
        {
          page,
          view: buildPage({ url, parameters }, { start, skipped: 0 }, ground, options).view,
          listing,
        },
      ];
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
 * The rows of the listing, under the walk's filter, when the walk was recorded; undefined when they
 * are not known.
 */
function rowsThen(
  model: Model,
  { base, rows }: Gathered,
  walk: PlacedWalk,
): readonly ProviderRow[] | undefined {
  if (walk === base) return walk.rows;
  const totals = walk.pages.flatMap(({ page }) => totalsOf(page));
  const under = (all: readonly ProviderRow[]) => filterRows(all, model.filter, walk.filter);
  const candidates = [under(base?.rows ?? []), walk.rows, under(rows)];
  const fits = candidates.filter((one, at) => {
    const isWhole = at !== 1 || walk.isFullRead || totals.length > 0;
    return (
      isWhole &&
      walk.pages.every((page) => holds(one, page)) &&
      totals.every((total) => total === one.length)
    );
  });
  return fits[0];
}

/** What a page says about the number of rows in all. */
export function totalsOf(page: RecordedPage): number[] {
  return [...page.leaves].flatMap(([pointer, value]) =>
    /^(header:x-total(-count)?|.*\/total([_-]?(count|rows|results|records|items|elements))?)$/i.test(
      pointer,
    )
      ? (toInteger(scalarText(value)) ?? [])
      : [],
  );
}

type Draft = Omit<KnownListing, "listing">;

function describe(draft: Draft): Listing {
  const { model, fixed, gathered, pages } = draft;
  const first = gathered.base?.pages[0]?.page ?? pages[0];
  const {
    method = "GET",
    url = new URL("http://localhost/"),
    parameters = new Map(),
  } = first?.exchange ?? {};
  const texts = (isWanted: (key: string) => boolean) =>
    [...fixed]
      .filter(([key]) => isWanted(key))
      .map(([key, value]) => `${publicName(key)}=${value}`);
  const [query, others] = [
    texts((key) => key.startsWith("?")),
    texts((key) => !key.startsWith("?")),
  ];
  const problem = findProblem(draft);
  const filter = model.filter && publicFilter(model.filter);
  return {
    id: `${method} ${url.pathname}${query.length > 0 ? `?${query.join("&")}` : ""}${others.length > 0 ? ` {${others.join(", ")}}` : ""}`,
    ...{ method, origin: url.origin, path: url.pathname },
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

const publicFilter = ({
  key: _,
  leftOut: __,
  ...filter
}: NonNullable<Model["filter"]> & { leftOut?: number }) => filter;

function publicPaging({ paging, rows, size }: Model): LearnedPaging {
  if (paging === undefined) return { style: "single", rows };
  const [key = ""] = paging.keys;
  return {
    ...{
      style: paging.style,
      rows,
      parameter: publicName(key),
      isInBody: isInBody(key),
      first: paging.first,
    },
    ...(size.key === undefined ? {} : { size: publicName(size.key) }),
    ...(paging.next === undefined ? {} : { next: paging.next }),
  };
}

/**
 * Why the listing cannot be answered beyond what is recorded; undefined when it gives all its
 * recorded answers.
 */
function findProblem(draft: Draft): string | undefined {
  const { model, gathered, templates, leaves, sides } = draft;
  const declare = `Declare paging for "${draft.pages[0]?.exchange.url.pathname}" in conformance.yaml (style, parameter, size, next, rows).`;
  const { base, rows } = gathered;
  if (model.unexplained !== undefined)
    return `The parameter ${model.unexplained} seems to say the page, but no answer shows where its values come from. ${declare}`;
  if (base === undefined || base.pages.some(({ start }) => start === undefined))
    return `The recordings do not show which page comes after which. ${declare}`;
  if (!base.pages.every((page) => holds(base.rows, page)))
    return `The recorded pages overlap or leave gaps when they are put together by ${wordsOf(model)}. ${declare}`;
  const explained = new Set(templates.map(({ page }) => page));
  const strange = gathered.walks
    .filter(({ isFullRead }) => isFullRead)
    .flatMap((walk) => walk.pages);
  const missing = strange.find(({ page }) => !explained.has(page));
  if (missing !== undefined)
    return `The rows of ${missing.page.exchange.answer.from} are not where the other recorded pages have them. ${declare}`;
  const total = Math.max(0, ...base.pages.flatMap(({ page }) => totalsOf(page)));
  const isCut = saysMore(base, model) || (!base.isFullRead && total > rows.length);
  if (isCut && total > rows.length)
    return `Only ${rows.length} of ${total} rows are recorded. Record a read of the whole listing, or declare its paging. ${declare}`;
  if (isCut)
    return `An answer says that more pages exist, and none is recorded. Record a read of the whole listing. ${declare}`;
  const { next } = model.paging ?? {};
  if (next !== undefined && !leaves.some(({ pointer }) => pointer === next))
    return `The next page's ${model.paging?.style === "link" ? "URL" : "token"} at ${next} does not lead to the recorded pages. ${declare}`;
  for (const { page, view } of templates) {
    if (view.count !== page.rows.length)
      return `The recorded page ${page.exchange.answer.from} has ${page.rows.length} rows where ${view.count} were expected. ${declare}`;
    const given = renderPage(page, view, page.rows, {
      rowsPointer: model.rows,
      leaves,
      sides: sidesOf(sides, page, view, page.rows),
    });
    if (!isSameAnswer(given, page.exchange.answer, parseExact))
      return `The recorded answer ${page.exchange.answer.from} cannot be made from what was learned. ${declare}`;
  }
  return undefined;
}

const flagName = /^(hasmore|hasnext(page)?|more|istruncated)$/;

const wordsOf = ({ paging }: Model) =>
  paging ? `their ${paging.style} (${paging.keys.map(publicName).join(", ")})` : "one page";

/** A listing of one page that names further ones. */
function saysMore({ pages }: PlacedWalk, { paging }: Model): boolean {
  if (paging !== undefined) return false;
  const isDenied = pages.some(({ page }) =>
    [...page.leaves].some(([pointer, value]) => flagName.test(nameOf(pointer)) && value === false),
  );
  if (isDenied) return false;
  return pages.some(({ page }) =>
    [...page.leaves].some(([pointer, value]) => {
      const name = nameOf(pointer);
      const number = toInteger(scalarText(value)) ?? 0;
      if (flagName.test(name)) return value === true;
      if (pointer === "header:link next") return true;
      if (/^next(page|cursor|url|link|token|pagetoken)?$/.test(name))
        return typeof value === "string" && value !== "";
      return (
        (/^(lastpage|pagecount|totalpages|pages)$/.test(name) && number > 1) ||
        totalsOf(page).some((total) => total > page.rows.length)
      );
    }),
  );
}
