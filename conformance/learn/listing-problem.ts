/** The proof that a listing is understood: it gives its recorded answers again. */
import { parseExact } from "svc-connectors";
import { companionsOf } from "./companions.ts";
import { holdsPage, type PlacedSequence } from "./gathered-rows.ts";
import { nameOf, scalarText } from "./json.ts";
import type { KnownListing } from "./listing.ts";
import type { Model } from "./model.ts";
import type { RecordedPage } from "./pages.ts";
import { publicName, toInteger } from "./parameters.ts";
import { isSameAnswer, renderPage } from "./render.ts";

type UnprovedListing = Omit<KnownListing, "listing">;

/**
 * Why the listing cannot be answered beyond what is recorded; undefined when it gives all its
 * recorded answers.
 */
export function findProblem(known: UnprovedListing): string | undefined {
  const problem =
    findUnknownOrder(known) ??
    findMissingRows(known) ??
    findUnknownNext(known) ??
    findOtherAnswer(known);
  if (problem === undefined) return undefined;
  const path = known.pages[0]?.exchange.url.pathname;
  return `${problem} Declare paging for "${path}" in conformance.yaml (style, parameter, size, next, rows).`;
}

function findUnknownOrder({ model, gathered, templates }: UnprovedListing): string | undefined {
  const { base, sequences } = gathered;
  if (model.unexplained !== undefined)
    return `The parameter ${model.unexplained} seems to say the page, but no answer shows where its values come from.`;
  if (base === undefined || base.pages.some(({ start }) => start === undefined))
    return "The recordings do not show which page comes after which.";
  if (!base.pages.every((page) => holdsPage(base.rows, page)))
    return `The recorded pages overlap or leave gaps when they are put together by ${orderOf(model)}.`;
  const placed = new Set(templates.map(({ page }) => page));
  const missing = sequences
    .filter(({ isFullRead }) => isFullRead)
    .flatMap(({ pages }) => pages)
    .find(({ page }) => !placed.has(page));
  if (missing === undefined) return undefined;
  return `The rows of ${missing.page.exchange.answer.from} are not where the other recorded pages have them.`;
}

const orderOf = ({ paging }: Model) =>
  paging ? `their ${paging.style} (${paging.keys.map(publicName).join(", ")})` : "one page";

function findMissingRows({ model, gathered }: UnprovedListing): string | undefined {
  const { base, rows } = gathered;
  if (base === undefined) return undefined;
  const total = Math.max(0, ...base.pages.flatMap(({ page }) => totalsOf(page)));
  const isCut = namesMorePages(base, model) || (!base.isFullRead && total > rows.length);
  if (!isCut) return undefined;
  if (total > rows.length)
    return `Only ${rows.length} of ${total} rows are recorded. Record a read of the whole listing, or declare its paging.`;
  return "An answer says that more pages exist, and none is recorded. Record a read of the whole listing.";
}

function findUnknownNext({ model, explained }: UnprovedListing): string | undefined {
  const { next, style } = model.paging ?? {};
  if (next === undefined || explained.some(({ pointer }) => pointer === next)) return undefined;
  return `The next page's ${style === "link" ? "URL" : "token"} at ${next} does not lead to the recorded pages.`;
}

function findOtherAnswer(known: UnprovedListing): string | undefined {
  const { model, templates, explained, companions } = known;
  for (const { page, view } of templates) {
    if (view.count !== page.rows.length)
      return `The recorded page ${page.exchange.answer.from} has ${page.rows.length} rows where ${view.count} were expected.`;
    const rendered = renderPage(page, view, page.rows, {
      rowsPointer: model.rows,
      explained,
      companions: companionsOf(companions, page, view, page.rows),
    });
    if (!isSameAnswer(rendered, page.exchange.answer, parseExact))
      return `The recorded answer ${page.exchange.answer.from} cannot be made from what was learned.`;
  }
  return undefined;
}

/** Numbers that a page gives as the number of rows in all. */
export function totalsOf(page: RecordedPage): number[] {
  return [...page.envelope].flatMap(([pointer, value]) =>
    /^(header:x-total(-count)?|.*\/total([_-]?(count|rows|results|records|items|elements))?)$/i.test(
      pointer,
    )
      ? (toInteger(scalarText(value)) ?? [])
      : [],
  );
}

const flagName = /^(hasmore|hasnext(page)?|more|istruncated)$/;

/** A listing of one page that names further ones. */
function namesMorePages({ pages }: PlacedSequence, { paging }: Model): boolean {
  if (paging !== undefined) return false;
  const isDenied = pages.some(({ page }) =>
    [...page.envelope].some(
      ([pointer, value]) => flagName.test(nameOf(pointer)) && value === false,
    ),
  );
  if (isDenied) return false;
  return pages.some(({ page }) =>
    [...page.envelope].some(([pointer, value]) => {
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
