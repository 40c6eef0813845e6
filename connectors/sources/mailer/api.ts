import {
  ConnectorError,
  type HttpResponse,
  type PathSegment,
  pagesByNumber,
  type Query,
} from "svc-connectors";
import type { MailerContext } from "./spec.ts";

export type ApiRow = Readonly<Record<string, unknown>>;

type ParentKind = "campaigns" | "email-lists";

/** A page of a listing, with the server's own page numbers. */
export interface Page {
  readonly rows: readonly ApiRow[];
  readonly number: number;
  readonly lastPage: number;
  readonly perPage: number;
  /** Rows of the whole listing at this moment. */
  readonly total: number;
}

export interface WalkOptions {
  readonly query?: Query;
  /** Where an earlier walk stopped: the next page, and the total when it was chosen. */
  readonly from?: { readonly page: number; readonly total: number } | undefined;
  /** True when the pages behind this one hold nothing that is wanted. */
  readonly isLast?: (page: Page) => boolean;
}

/**
 * Pages of a listing. Where rows were deleted meanwhile, those behind them moved towards the front,
 * perhaps onto pages already read: the walk steps back as far as they can have moved. So a row may
 * come twice, but none is missed.
 * @throws RESPONSE_INVALID when the pages end before the total that the last of them states
 */
export async function* listPages(
  ctx: MailerContext,
  path: readonly PathSegment[],
  options: WalkOptions = {},
): AsyncGenerator<Page> {
  const { query, from, isLast = () => false } = options;
  const fetchPage = async (page: number) =>
    toPage(
      await ctx.http.get(path, { query: { ...query, page, per_page: ctx.config.page_size } }),
      page,
    );
  const lastPage = (page: Page) => (isLast(page) ? page.number : page.lastPage);
  let total = from?.total;
  let seen: number | undefined;
  for (let first: number | undefined = from?.page ?? 1; first !== undefined; ) {
    const pages = pagesByNumber(fetchPage, lastPage, { first });
    first = undefined;
    for await (const page of pages) {
      const deleted = (total ?? page.total) - page.total;
      total = page.total;
      seen ??= (page.number - 1) * page.perPage;
      if (deleted > 0 && page.number > 1) {
        first = Math.max(1, page.number - Math.ceil(deleted / page.perPage));
        seen = undefined;
        break;
      }
      seen += page.rows.length;
      yield page;
      if (page.number >= page.lastPage && !isLast(page) && seen < page.total)
        throw new ConnectorError("RESPONSE_INVALID", {
          reason: "a listing ends before its own total",
        });
    }
  }
}

/**
 * Parents in order of uuid, which neither new nor deleted ones disturb: "those before x are done"
 * stays true. `newest` is the latest moment that they mention, so it lies before whatever happens
 * from now on.
 */
export async function listParents(ctx: MailerContext, kind: ParentKind) {
  const uuids = new Set<string>();
  let latest: string | undefined;
  const isFiltered = kind === "campaigns" && ctx.config.campaign_status !== "all";
  for await (const page of listPages(
    ctx,
    [kind],
    isFiltered ? { query: { "filter[status]": "sent" } } : {},
  )) {
    for (const { uuid, status } of page.rows)
      if (typeof uuid === "string" && status !== "draft") uuids.add(uuid);
    latest = later(
      latest,
      newest(page.rows, ["sent_at", "statistics_calculated_at", "updated_at"]),
    );
  }
  return { uuids: [...uuids].sort(), newest: latest };
}

/** The latest moment in these fields, as the API wrote it. */
export function newest(rows: readonly ApiRow[], fields: readonly string[]): string | undefined {
  let latest: string | undefined;
  for (const row of rows) for (const field of fields) latest = later(latest, row[field]);
  return latest;
}

export function later(one: string | undefined, other: unknown): string | undefined {
  if (typeof other !== "string" || Number.isNaN(Date.parse(other))) return one;
  return one === undefined || Date.parse(other) > Date.parse(one) ? other : one;
}

/** Whether the API has this path. */
export async function exists(ctx: MailerContext, path: readonly PathSegment[]): Promise<boolean> {
  const response = await ctx.http.get(path, { query: { per_page: 1 }, accept: [404, 410] });
  return response.status < 400;
}

/** @throws RESPONSE_INVALID when the answer is not page `number` of a listing */
export function toPage(response: HttpResponse, number: number): Page {
  const body = response.json<{ data?: unknown; meta?: Record<string, unknown> } | null>();
  const { current_page, last_page, per_page, total } = body?.meta ?? {};
  const isListing =
    Array.isArray(body?.data) &&
    [last_page, per_page, total].every((value) => Number.isSafeInteger(value));
  if (!isListing)
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: "a listing lacks its data or its page numbers",
    });
  if (current_page !== number)
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: "another page came than was asked for",
    });
  return {
    rows: body?.data as ApiRow[],
    number,
    lastPage: Number(last_page),
    perPage: Math.max(1, Number(per_page)),
    total: Number(total),
  };
}
