import { CompiledQuery } from "kysely";
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from "rate-limiter-flexible";
import { ControlError } from "../contract/reasons.ts";
import type { Database, Db } from "../store/database.ts";
import { type Budget, defaultLimits, type Limits } from "./settings.ts";
import { createShares } from "./shares.ts";

export type LimitHeaders = Readonly<
  Record<"x-ratelimit-limit" | "x-ratelimit-remaining" | "x-ratelimit-reset", string>
>;

/** Counts requests, of all servers of an instance together. */
export interface Limiter {
  /** Takes one from the budget of `who`. Gives the headers of the answer. @throws rate_limited */
  take(budget: Budget, who: string, nowMs: number): Promise<LimitHeaders>;
}

const windowSeconds = 60;

/**
 * Servers that share a PostgreSQL count there, in shares (shares.ts): together they never let more
 * through than one would. While it does not answer, each counts for itself.
 * @see docs/decisions/0023
 */
export function createLimiter(
  limits: Limits = defaultLimits,
  database?: Pick<Database, "kind" | "db">,
): Limiter {
  const store = database?.kind === "postgres" ? database.db : undefined;
  const budgets = new Map(
    (Object.entries(limits) as [Budget, number][]).map(([budget, points]) => [
      budget,
      createShares(createCounter(budget, points, store), { points, isShared: store !== undefined }),
    ]),
  );
  return {
    async take(budget, who, nowMs) {
      const shares = budgets.get(budget);
      if (!shares) throw new Error(`no limiter for ${budget}`);
      const { isRefused, left, waitMs } = await shares.take(who);
      const headers = {
        "x-ratelimit-limit": String(limits[budget]),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Math.ceil((nowMs + waitMs) / 1_000)),
      };
      if (!isRefused) return headers;
      const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
      throw new ControlError(
        "rate_limited",
        { retry_after_seconds: seconds },
        { ...headers, "retry-after": String(seconds) },
      );
    },
  };
}

/** Takes so many at once; gives how many were taken with them in this window, and when it ends. */
export type Counter = (
  who: string,
  count: number,
) => Promise<{ readonly taken: number; readonly waitMs: number }>;

function createCounter(budget: Budget, points: number, store: Db | undefined): Counter {
  const window = { points, duration: windowSeconds, keyPrefix: budget };
  const inProcess = new RateLimiterMemory(window);
  const limiter: RateLimiterAbstract = store
    ? new RateLimiterPostgres({
        ...window,
        storeClient: toClient(store),
        storeType: "client",
        tableName: "request_budgets",
        tableCreated: true,
        inMemoryBlockOnConsumed: points,
        insuranceLimiter: inProcess,
      })
    : inProcess;
  return async (who, count) => {
    const result = await limiter.consume(who, count).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const { consumedPoints, msBeforeNext: waitMs } = result;
    // It does not count what it refuses by itself until the window ends.
    return { taken: consumedPoints > 0 ? consumedPoints : points + count, waitMs };
  };
}

/** The connection that the library asks, as the database of the instance. */
const toClient = (db: Db) => ({
  query: ({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) =>
    db.executeQuery(CompiledQuery.raw(text, [...values])),
});
