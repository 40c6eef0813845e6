import {
  ConnectorError,
  type ErrorCode,
  type ErrorRule,
  pagesByCursor,
  pagesByOffset,
} from "svc-connectors";
import type { BankdataContext } from "./spec.ts";

export type ApiRow = Readonly<Record<string, unknown>>;
export type Body = Readonly<Record<string, unknown>>;

/** The owner has to act, in Plaid Link's update mode. */
const needsOwner = [
  "ITEM_LOGIN_REQUIRED",
  "ITEM_LOCKED",
  "ACCESS_NOT_GRANTED",
  "ADDITIONAL_CONSENT_REQUIRED",
  "INVALID_CREDENTIALS",
  "INVALID_MFA",
  "INVALID_UPDATED_USERNAME",
  "INSUFFICIENT_CREDENTIALS",
  "MFA_NOT_SUPPORTED",
  "USER_SETUP_REQUIRED",
  "USER_PERMISSION_REVOKED",
  "USER_ACCOUNT_REVOKED",
  "PASSWORD_RESET_REQUIRED",
];
/** A stream that fails so is empty. */
const notOffered = [
  "PRODUCTS_NOT_SUPPORTED",
  "NO_ACCOUNTS",
  "NO_AUTH_ACCOUNTS",
  "NO_INVESTMENT_ACCOUNTS",
  "NO_LIABILITY_ACCOUNTS",
];
const passing = [
  "PRODUCT_NOT_READY",
  "INSTITUTION_DOWN",
  "INSTITUTION_NOT_RESPONDING",
  "INSTITUTION_NOT_AVAILABLE",
  "INTERNAL_SERVER_ERROR",
  "PLANNED_MAINTENANCE",
];

/**
 * Our codes for Plaid's. It answers with HTTP 400 to nearly all of them.
 * @see https://plaid.com/docs/errors/ (read 2026-11-21)
 */
const meanings: Partial<Record<ErrorCode, readonly string[]>> = {
  CREDENTIALS_REJECTED: ["INVALID_API_KEYS", "INVALID_ACCESS_TOKEN", "ITEM_NOT_FOUND"],
  REAUTHORIZATION_NEEDED: needsOwner,
  PERMISSION_DENIED: ["INVALID_PRODUCT", "UNAUTHORIZED_ENVIRONMENT", "UNAUTHORIZED_ROUTE_ACCESS"],
  RESOURCE_NOT_FOUND: [
    "INVALID_INSTITUTION",
    "INSTITUTION_NO_LONGER_SUPPORTED",
    "ITEM_NOT_SUPPORTED",
  ],
  ACCESS_MISSING: notOffered, // and nothing else
  PROVIDER_UNAVAILABLE: passing,
};

/** An error envelope counts whatever the HTTP status. */
export const errorRules: readonly ErrorRule[] = [
  ...Object.entries(meanings).map(([code, equals]) => ({
    pointer: "/error_code",
    equals,
    code: code as ErrorCode,
  })),
  { pointer: "/error_type", equals: ["RATE_LIMIT_EXCEEDED"], code: "RATE_LIMITED" },
  { pointer: "/error_type", equals: ["API_ERROR"], code: "PROVIDER_UNAVAILABLE" },
  // "cursor not associated with access_token"
  { pointer: "/error_message", contains: "cursor", code: "SYNC_STATE_EXPIRED" },
  { status: 200, pointer: "/error_code", code: "REQUEST_REJECTED" },
];

/**
 * Our code for one of Plaid's; undefined for those that only say that a request was
 * wrong.
 */
export function meaningOf(plaidCode: unknown): ErrorCode | undefined {
  const found = Object.entries(meanings).find(([, codes]) =>
    codes.some((code) => code === plaidCode),
  );
  return found?.[0] as ErrorCode | undefined;
}

/** The answer of an endpoint, `/accounts/get` say. */
export async function ask(ctx: BankdataContext, path: string, body: Body = {}): Promise<Body> {
  return toBody((await ctx.http.post(path.slice(1).split("/"), { body })).json());
}

/**
 * The accounts with balances that the bank gives now. Capital One does so only for those who say
 * how old a balance may be; other banks do not look at it. Any age will do: the row says which it
 * is.
 */
export async function askBalances(ctx: BankdataContext): Promise<Body> {
  const path = "/accounts/balance/get";
  try {
    return await ask(ctx, path);
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === "REQUEST_REJECTED")) throw error;
    const oldest = `${dateBefore(ctx, oldestBalanceDays)}T00:00:00Z`;
    return await ask(ctx, path, { options: { min_last_updated_datetime: oldest } });
  }
}
const oldestBalanceDays = 365;

/** A page of updates of the transactions. */
export interface SyncPage {
  readonly added: readonly ApiRow[];
  readonly modified: readonly ApiRow[];
  readonly removed: readonly ApiRow[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly status: unknown;
  /**
   * Counts from 1; grows when the pages so far no longer count, and all of them come again from the
   * first.
   */
  readonly walk: number;
}

/** Plaid's largest page of transactions. */
const pageSize = 500;
const mutated = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION";

/**
 * Updates of the transactions since the cursor. Only the cursor of the last page is a place to go
 * on from: when transactions change meanwhile, a new walk begins.
 * @throws SYNC_STATE_EXPIRED when the cursor is not, or no longer, one of this Item
 */
export async function* syncPages(
  ctx: BankdataContext,
  start: string | undefined,
): AsyncGenerator<SyncPage> {
  let mutatedAt: string | undefined;
  const fetchPage = async (cursor: string | undefined, walk: number): Promise<SyncPage> => {
    const { days_requested } = ctx.config;
    const body = { count: pageSize, options: { days_requested }, cursor };
    const answer = await ctx.http.post(["transactions", "sync"], { body, accept: [400, 410] });
    if (answer.status === 410)
      throw new ConnectorError("SYNC_STATE_EXPIRED", { stream: "transactions" });
    if (answer.status !== 400) return { ...toSyncPage(toBody(answer.json())), walk };
    mutatedAt = cursor;
    if (toBody(answer.json()).error_code === mutated) throw new ConnectorError("DATA_CHANGED");
    // the host judges, and retries, all other failures
    return { ...toSyncPage(await ask(ctx, "/transactions/sync", body)), walk };
  };
  try {
    yield* startingOver(ctx, (walk) => {
      const next = ({ hasMore, nextCursor }: SyncPage) => (hasMore ? nextCursor : undefined);
      return pagesByCursor((cursor) => fetchPage(cursor, walk), next, { start });
    });
  } catch (error) {
    // Plaid then wants the history from the beginning.
    if (isDataChanged(error) && start !== undefined && mutatedAt === start) {
      throw new ConnectorError("SYNC_STATE_EXPIRED", { stream: "transactions" });
    }
    throw error;
  }
}

export interface InvestmentPage {
  readonly rows: readonly ApiRow[];
  readonly securities: readonly ApiRow[];
  readonly offset: number;
  readonly total: number;
}

/**
 * Investment transactions, newest first. When their number changes meanwhile, rows have moved: all
 * pages come again.
 */
export async function* investmentPages(ctx: BankdataContext): AsyncGenerator<InvestmentPage> {
  const range = {
    start_date: dateBefore(ctx, ctx.config.days_requested),
    end_date: dateBefore(ctx, 0),
  };
  yield* startingOver(ctx, () => {
    let total: number | undefined;
    const fetchPage = async (offset: number): Promise<InvestmentPage> => {
      const body = await ask(ctx, "/investments/transactions/get", {
        ...range,
        options: { count: pageSize, offset },
      });
      const count = body.total_investment_transactions;
      if (!Number.isSafeInteger(count)) throw invalid("total_investment_transactions");
      total ??= Number(count);
      if (total !== count) throw new ConnectorError("DATA_CHANGED");
      return {
        rows: listOf(body, "investment_transactions"),
        securities: listOf(body, "securities"),
        offset,
        total,
      };
    };
    const countRows = ({ rows }: InvestmentPage) => rows.length;
    return pagesByOffset(
      fetchPage,
      countRows,
      ({ rows, offset, total }) => offset + rows.length < total,
    );
  });
}

const maxWalks = 5;
/** Plaid writes an update within seconds; each new walk waits that much longer than the last. */
const calmMs = 2_000;

/**
 * All pages of a walk, again from the first when the data changed while they were read. So rows may
 * come twice.
 */
async function* startingOver<Page>(
  ctx: BankdataContext,
  walk: (count: number) => AsyncGenerator<Page>,
): AsyncGenerator<Page> {
  for (let count = 1; ; count++) {
    try {
      return yield* walk(count);
    } catch (error) {
      if (!isDataChanged(error) || count === maxWalks) throw error;
      ctx.log.info("The data changed while its pages were read: they are read again.", { count });
      await ctx.clock.sleep(calmMs * count);
    }
  }
}

const isDataChanged = (error: unknown) =>
  error instanceof ConnectorError && error.code === "DATA_CHANGED";

function toSyncPage(body: Body): Omit<SyncPage, "walk"> {
  const { next_cursor: nextCursor, has_more: hasMore, transactions_update_status: status } = body;
  if (typeof nextCursor !== "string" || typeof hasMore !== "boolean")
    throw invalid("next_cursor or has_more");
  const rows = {
    added: listOf(body, "added"),
    modified: listOf(body, "modified"),
    removed: listOf(body, "removed"),
  };
  // Less data must not look like success: the first transactions of a new Item take a minute or so.
  if (status === "NOT_READY" || nextCursor === "") throw new ConnectorError("PROVIDER_UNAVAILABLE");
  return { ...rows, nextCursor, hasMore, status };
}

/** @throws RESPONSE_INVALID when the answer lacks this list */
export function listOf(body: Body, name: string): readonly ApiRow[] {
  const list = body[name];
  const isList =
    Array.isArray(list) && list.every((row) => typeof row === "object" && row !== null);
  if (!isList) throw invalid(name);
  return list;
}

/** @throws RESPONSE_INVALID when the answer lacks this object */
export function objectOf(body: Body, name: string): Body {
  const value = body[name];
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(name);
  return value as Body;
}

const toBody = (value: unknown) => objectOf({ "its object": value }, "its object");
export const invalid = (name: string) =>
  new ConnectorError("RESPONSE_INVALID", { reason: `the answer lacks ${name}` });

const dayMs = 86_400_000;
const dateBefore = (ctx: BankdataContext, days: number) =>
  new Date(ctx.clock.now() - days * dayMs).toISOString().slice(0, 10);
