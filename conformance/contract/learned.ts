/**
 * The kit's model of a provider, learned from recordings: enough to answer pages that were never
 * recorded.
 */

import type { Answer, Provider, ProviderRequest } from "./network.ts";
import type { DeclaredPaging } from "./settings.ts";

/**
 * A row of a listing as the provider gives it: parsed exactly (64-bit integers as bigint, long
 * decimals as raw JSON).
 */
export type ProviderRow = { readonly [field: string]: unknown };

/** One listing of the provider: the same path and fixed parameters, one or more pages. */
export interface Listing {
  /** For people: "GET /api/campaigns?sort=-sent". */
  readonly id: string;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  /** Query or body parameters that are the same on all its pages, as text. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly paging: LearnedPaging;
  /** All rows, in order. */
  readonly rows: readonly ProviderRow[];
  /** Rows per page that the connector asked for, or that the provider gave. */
  readonly pageSize: number;
  /**
   * A parameter by which the connector asks for newer rows only, where one was seen or declared.
   */
  readonly filter?: LearnedFilter;
  /** Names of the recordings that show it. */
  readonly recordings: readonly string[];
}

export type LearnedPaging =
  /** Only one page was seen, and nothing in it says that more exist. */
  | { readonly style: "single"; readonly rows: string }
  | (Required<Pick<DeclaredPaging, "rows">> & {
      readonly style: "number" | "offset" | "cursor" | "link";
      readonly parameter?: string;
      /** The parameter stands in a JSON body; `/`-separated. Else in the query. */
      readonly isInBody: boolean;
      readonly size?: string;
      readonly next?: string;
      /** Number or offset of the first page. */
      readonly first: number;
    })
  /**
   * More than one page was seen, but not how they hang together. Only recorded requests are
   * answered.
   */
  | { readonly style: "unknown"; readonly problem: string };

export interface LearnedFilter {
  readonly parameter: string;
  readonly isInBody: boolean;
  /** JSON pointer into a row. */
  readonly field: string;
  readonly comparison: ">" | ">=";
  /** How the parameter writes the time or number. */
  readonly unit: "text" | "seconds" | "milliseconds";
  /** A second parameter that bounds the same field: the connector reads by windows of time. */
  readonly upper?: UpperBound;
}

export interface UpperBound {
  readonly parameter: string;
  readonly isInBody: boolean;
  readonly comparison: "<" | "<=";
  /** A date includes its day. */
  readonly isWholeDay?: boolean;
}

/** How the learned provider differs from the recorded one. All are per listing and optional. */
export interface ProviderChanges {
  /**
   * The rows in place of the recorded ones. `requestCount` = requests of this listing answered
   * before: rows may change while paging.
   */
  rows?(
    listing: Listing,
    rows: readonly ProviderRow[],
    requestCount: number,
  ): readonly ProviderRow[];
  /** The provider gives at most so many rows a page, whatever is asked for. */
  pageSize?: ((listing: Listing) => number | undefined) | undefined;
  /** Pages (from 0) that come without rows although more follow. */
  emptyPages?: readonly number[];
  /**
   * Changes the tokens that the provider hands out and gets back (cursor and link styles): must be
   * one-to-one.
   */
  token?(token: string): string;
  /** From the second page on, the next token is always the same one, or one of two in turn. */
  cycle?: "repeat" | "alternate";
  /**
   * Gives no more than so many rows of a listing, then says that it is the end; a total, where the
   * provider gives one, stays true.
   */
  window?: number;
  /** The last word on each answer of a listing. */
  answer?(answer: Answer, listing: Listing, request: ProviderRequest): Answer;
}

export interface LearnedProvider {
  readonly listings: readonly Listing[];
  /**
   * A provider that answers like the recorded one: listings for any page, everything else as
   * recorded, any number of times.
   */
  provider(changes?: ProviderChanges): Provider;
  /** The listing that a request asks for a page of. */
  listingOf(
    request: Pick<ProviderRequest, "method" | "url" | "body"> &
      Partial<Pick<ProviderRequest, "headers">>,
  ): Listing | undefined;
}
