import {
  ConnectorError,
  type ErrorRule,
  type PathSegment,
  pagesByCursor,
  type Query,
} from "svc-connectors";
import type { SocialContext } from "./spec.ts";

export type ApiRow = Readonly<Record<string, unknown>>;

export interface Portal {
  readonly portal_id: string;
  readonly name: string | null;
  readonly row: ApiRow;
}
export interface Brand {
  readonly brand_id: string;
  readonly portal_id: string;
  readonly name: string | null;
  readonly timezone: string;
  readonly row: ApiRow;
}
export interface Channel {
  readonly channel_id: string;
  readonly brand_id: string;
  readonly portal_id: string;
  readonly network: string;
  readonly name: string | null;
  readonly status: "active" | "reconnect";
  readonly row: ApiRow;
}

/** Whose data is asked for: the API wants it in headers. */
export interface Place {
  readonly portal_id: string;
  readonly brand_id?: string;
}

const errorCode = (code: ErrorRule["code"], ...equals: string[]) => ({
  pointer: "/data/error/code",
  equals,
  code,
});

/** The provider says what is wrong in the body, with status 200 as often as not. */
export const errorRules: readonly ErrorRule[] = [
  errorCode("ACCESS_MISSING", "USER_INACTIVE_IN_PORTAL"),
  errorCode("PERMISSION_DENIED", "OAUTH_SCOPE_MISMATCH", "NO_PERMISSION", "PERMISSION_DENIED"),
  errorCode(
    "RESOURCE_NOT_FOUND",
    "PORTAL_NOT_FOUND",
    "BRAND_NOT_FOUND",
    "CHANNEL_NOT_FOUND",
    "POST_NOT_FOUND",
  ),
  errorCode(
    "RATE_LIMITED",
    "URL_THROTTLES_LIMIT_EXCEEDED",
    "THROTTLES_LIMIT_EXCEEDED",
    "RATE_LIMIT_EXCEEDED",
  ),
  errorCode(
    "PROVIDER_UNAVAILABLE",
    "INTERNAL_SERVER_ERROR",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
  ),
  // With status 401 the host renews the token; these rules must not come before it.
  {
    ...errorCode("CREDENTIALS_REJECTED", "INVALID_OAUTHTOKEN", "AUTHENTICATION_FAILURE"),
    status: 200,
  },
  { status: 200, pointer: "/data/error", code: "REQUEST_REJECTED" },
  { status: 200, pointer: "/status", equals: ["failure"], code: "REQUEST_REJECTED" },
];

/** The `data` of an answer, and its `paging`. @throws RESPONSE_INVALID when there is none */
async function get(
  ctx: SocialContext,
  path: readonly PathSegment[],
  place?: Place,
  query: Query = {},
) {
  const headers = place ? { ...place } : {};
  try {
    const body = (await ctx.http.get(path, { headers, query })).json<{
      data?: unknown;
      paging?: unknown;
    } | null>();
    if (typeof body?.data !== "object" || body.data === null)
      throw invalid("an answer lacks its data");
    return { data: body.data, paging: (body.paging ?? {}) as Record<string, unknown> };
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === "ACCESS_MISSING")) throw error;
    throw new ConnectorError("ACCESS_MISSING", { reason: "the user is not active in this portal" });
  }
}

const invalid = (reason: string) => new ConnectorError("RESPONSE_INVALID", { reason });

async function list(
  ctx: SocialContext,
  path: readonly PathSegment[],
  place?: Place,
  query?: Query,
) {
  const { data, paging } = await get(ctx, path, place, query);
  if (!Array.isArray(data)) throw invalid("a listing is not a list");
  return { rows: data as ApiRow[], paging };
}

/** @throws ACCESS_MISSING when the user has no portal */
export async function listPortals(ctx: SocialContext): Promise<Portal[]> {
  const { rows } = await list(ctx, ["portals"]);
  if (rows.length === 0)
    throw new ConnectorError("ACCESS_MISSING", { reason: "this user belongs to no portal" });
  return rows.map((row) => ({
    portal_id: toId(row.portal_id),
    name: toText(row.portal_name),
    row,
  }));
}

export async function listBrands(ctx: SocialContext, portal_id: string): Promise<Brand[]> {
  const { rows } = await list(ctx, ["brands"], { portal_id });
  return rows.map((row) => ({
    brand_id: toId(row.brand_id),
    portal_id,
    name: toText(row.brand_name),
    timezone: toText(row.timezone) ?? "UTC",
    row,
  }));
}

export async function listChannels(
  ctx: SocialContext,
  { portal_id, brand_id }: Brand,
): Promise<Channel[]> {
  const { rows } = await list(ctx, ["channels"], { portal_id, brand_id });
  return rows.map((row) => ({
    channel_id: toId(row.channel_id),
    brand_id,
    portal_id,
    network: toId(row.network),
    name: toText(row.channel_name),
    status: row.status === "active" ? "active" : "reconnect",
    row,
  }));
}

export const listUsers = async (ctx: SocialContext, portal_id: string) =>
  (await list(ctx, ["users"], { portal_id })).rows;

export interface PostPage {
  readonly rows: readonly ApiRow[];
  /** Where the next page starts; undefined at the end. */
  readonly after: string | undefined;
}

/**
 * Published posts of a brand on a network, newest first, from a saved place on. `isLast`: what
 * follows is not wanted.
 */
export async function* listPosts(
  ctx: SocialContext,
  place: Place,
  network: string,
  {
    after,
    isLast,
  }: { readonly after?: string | undefined; readonly isLast: (rows: readonly ApiRow[]) => boolean },
): AsyncGenerator<PostPage> {
  const fetchPage = async (
    cursor: string | undefined,
    limit = ctx.config.page_size,
  ): Promise<PostPage> => {
    const { rows, paging } = await list(ctx, ["posts", "published"], place, {
      network,
      limit,
      cursor,
    });
    const next = (paging.cursor as { after?: unknown } | undefined)?.after;
    const isEnd = typeof next !== "string" || (rows.length > 0 && isLast(rows));
    return { rows, after: isEnd ? undefined : next };
  };
  const start =
    after !== undefined && (await isHonoured(() => fetchPage(after, 1))) ? after : undefined;
  yield* pagesByCursor(fetchPage, (page) => page.after, { start });
}

/**
 * Whether the provider still knows a place that was saved; it may forget, and then the listing
 * starts over.
 */
const isHonoured = (ask: () => Promise<unknown>) =>
  ask().then(
    () => true,
    (error: unknown) => {
      if (error instanceof ConnectorError && error.code === "REQUEST_REJECTED") return false;
      throw error;
    },
  );

/** A post with its metrics; undefined when it was deleted since it was listed. */
export function findPost(
  ctx: SocialContext,
  place: Place,
  { post_id, channel_id, network }: ApiRow,
) {
  const query = { network: toId(network), channel_id: toId(channel_id) };
  return unlessGone(
    async () => (await get(ctx, ["posts", toId(post_id)], place, query)).data as ApiRow,
  );
}

/**
 * The activities on a post, with who did them; undefined when it was deleted since it was listed.
 */
export const listActivities = (ctx: SocialContext, place: Place, post_id: string) =>
  unlessGone(async () => {
    const activities: ApiRow[] = [];
    for await (const rows of listByOffset(ctx, ["posts", post_id, "activities"], place))
      activities.push(...rows);
    return activities;
  });

/** Less data must not look like success: a thing is gone when the provider has said so twice. */
async function unlessGone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ConnectorError && error.code === "RESOURCE_NOT_FOUND")) throw error;
      if (isSecond) return undefined;
    }
  }
}

/**
 * Pages of a listing by offset. Where rows were deleted meanwhile, those behind them moved towards
 * the front, perhaps onto pages already read: the walk steps back as far as they can have moved. So
 * a row may come twice, but none is missed.
 */
export async function* listByOffset(
  ctx: SocialContext,
  path: readonly PathSegment[],
  place: Place,
) {
  const limit = ctx.config.page_size;
  let lastTotal: number | undefined;
  for (let offset = 0; ; ) {
    const { rows, paging } = await list(ctx, path, place, { offset, limit });
    const total = Number.isSafeInteger(paging.total) ? Number(paging.total) : undefined;
    const deleted = (lastTotal ?? 0) - (total ?? lastTotal ?? 0);
    lastTotal = total;
    if (deleted > 0 && offset > 0) {
      offset = Math.max(0, offset - deleted);
      continue;
    }
    offset += rows.length;
    yield rows;
    const hasMore = total === undefined ? rows.length >= limit : offset < total;
    if (!hasMore) return;
    if (rows.length === 0) throw new ConnectorError("PAGING_LOOP");
  }
}

/** Days of a channel's report, both ends included; at most 90. */
export async function listReport(
  ctx: SocialContext,
  { portal_id, brand_id, channel_id }: Channel,
  from: string,
  to: string,
) {
  return (
    await list(ctx, ["reports", "channels"], { portal_id, brand_id }, { channel_id, from, to })
  ).rows;
}

/** Ids come as text or as numbers of up to 64 bits. @throws RESPONSE_INVALID when there is none */
export function toId(value: unknown): string {
  if (
    (typeof value === "string" && value !== "") ||
    typeof value === "number" ||
    typeof value === "bigint"
  )
    return String(value);
  throw invalid("a row lacks an id");
}

const toText = (value: unknown) => (typeof value === "string" ? value : null);
