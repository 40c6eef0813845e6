/** A provider that answers like the recorded one, for any page of its listings. */
import { parseExact } from "svc-connectors";
import type { Listing, ProviderChanges } from "../contract/learned.ts";
import type { Answer, Provider, ProviderRequest } from "../contract/network.ts";
import { companionsOf } from "./companions.ts";
import type { RecordedExchange } from "./exchanges.ts";
import { filterRows, filterText } from "./filter.ts";
import type { KnownListing } from "./listing.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { type ListingContext, readPosition } from "./positions.ts";
import { createRecordedAnswers, type RecordedAnswers } from "./recorded.ts";
import { isSameAnswer, nearestTemplate, renderPage } from "./render.ts";
import { sizeFor } from "./size.ts";
import { createTokens, type Tokens } from "./tokens.ts";
import { type BuiltPage, buildPage } from "./view.ts";

/** Finds the listing that a request asks for a page of. */
export type ListingFinder = (
  request: Pick<ProviderRequest, "method" | "url" | "body"> &
    Partial<Pick<ProviderRequest, "headers">>,
) => KnownListing | undefined;

export function createProvider(
  exchanges: readonly RecordedExchange[],
  find: ListingFinder,
  changes: ProviderChanges = {},
): Provider {
  const recorded = createRecordedAnswers(exchanges);
  const refusal = (origin: string) => refuse(exchanges.filter(({ url }) => url.origin === origin));
  const requestCounts = new Map<Listing, number>();
  const tokensByListing = new Map<KnownListing, Tokens>();

  const tokensOf = (known: KnownListing): Tokens => {
    const { gathered, listing } = known;

    const tokens =
      tokensByListing.get(known) ??
      createTokens(gathered.tokens, {
        listing: listing.id,
        rowCount: listing.rows.length,
        like: known.tokensLike,
        change: changes.token,
      });
    tokensByListing.set(known, tokens);
    return tokens;
  };

  const answerPage = (
    known: KnownListing,
    request: ProviderRequest,
    requestCount: number,
  ): Answer => {
    const { model, listing } = known;
    const parameters = readParameters(request.url, request.body, request.headers);
    const filter = filterText(model.filter, parameters);
    const all = filterRows(
      changes.rows?.(listing, listing.rows, requestCount) ?? listing.rows,
      model.filter,
      parameters,
    );
    const rows = changes.window === undefined ? all : all.slice(0, changes.window);
    const size = pageSize(known, parameters, rows.length, changes);
    const tokens = tokensOf(known);
    const context: ListingContext = {
      rows,
      size,
      emptyPages: changes.emptyPages ?? [],
      filter,
      tokens,
    };
    const position = model.paging
      ? readPosition(model.paging, parameters, context)
      : { start: 0, skipped: 0 };
    if (position === undefined) return refusal(request.url.origin);
    // Some providers refuse pages beyond the end: only a recording can show it.
    const beyond =
      position.start > 0 && position.start >= rows.length ? recorded.find(request) : undefined;
    if (beyond !== undefined && beyond.status >= 400) return beyond;

    const options = {
      paging: model.paging,
      more: known.more,
      total: all.length,
      cycle: changes.cycle,
    };
    const built = buildPage({ url: request.url, parameters }, position, context, options);
    const next = built.view.parametersOf("after");
    if (next && model.paging?.count === "tokens") {
      const values = [...next.values()];
      tokens.remember(
        model.paging.fields ? JSON.stringify(values) : (values[0] ?? ""),
        rows,
        built.after,
      );
    }
    return write(known, built, request, recorded);
  };

  return {
    answer(request) {
      const known = find(request);
      if (known === undefined) return recorded.answer(request);
      const { listing } = known;
      const count = requestCounts.get(listing) ?? 0;
      requestCounts.set(listing, count + 1);
      const given =
        listing.paging.style === "unknown"
          ? recorded.answer(request)
          : answerPage(known, request, count);
      return "unmatched" in given ? given : (changes.answer?.(given, listing, request) ?? given);
    },
    unused: () => [],
  };
}

/**
 * A listing without pages comes whole; only where a filter moves on is it cut by the size that is
 * asked for.
 */
function pageSize(
  { model, listing }: KnownListing,
  parameters: Parameters,
  rowCount: number,
  changes: ProviderChanges,
): number {
  if (model.paging !== undefined)
    return sizeFor(model.size, parameters, changes.pageSize?.(listing));
  return model.filter && model.size.key ? sizeFor(model.size, parameters) : Math.max(1, rowCount);
}

/** The recorded answer to the byte where it says the same, else one made like it. */
function write(
  known: KnownListing,
  { view, rows }: BuiltPage,
  request: ProviderRequest,
  recorded: RecordedAnswers,
): Answer {
  const { model, explained, companions, pages } = known;
  const template = nearestTemplate(known.templates, view)?.page ?? pages[0];
  if (template === undefined)
    return { status: 500, headers: {}, body: Buffer.from("no recorded page") };
  const rendering = {
    rowsPointer: model.rows,
    explained,
    companions: companionsOf(companions, template, view, rows),
  };
  const made = renderPage(template, view, rows, rendering);
  const same = recorded.find(request);
  return same && isSameAnswer(made, same, parseExact) ? same : made;
}

/** How this provider refuses a request that it cannot take. */
function refuse(exchanges: readonly RecordedExchange[]): Answer {
  const like = exchanges.find(
    ({ answer, tree }) => [400, 422].includes(answer.status) && tree !== undefined,
  );
  if (like) return like.answer;
  return {
    status: 400,
    headers: { "content-type": "application/json" },
    body: Buffer.from('{"error":"invalid cursor"}'),
  };
}
