import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { ControlError } from "../contract/reasons.ts";

/**
 * Requests per minute and token; `stranger`, as the setting is called: anonymous requests, without
 * a valid token, by address.
 */
export const defaultLimits = { read: 600, write: 120, provider: 30, stranger: 60 } as const;
export type Budget = keyof typeof defaultLimits;
export type Limits = Readonly<Record<Budget, number>>;

export type LimitHeaders = Readonly<
  Record<"x-ratelimit-limit" | "x-ratelimit-remaining" | "x-ratelimit-reset", string>
>;

/** Counts requests. Each server counts its own. */
export interface Limiter {
  /** Takes one from the budget of `who`. Gives the headers of the answer. @throws rate_limited */
  take(budget: Budget, who: string, nowMs: number): Promise<LimitHeaders>;
}

const windowSeconds = 60;

export function createLimiter(limits: Limits = defaultLimits): Limiter {
  const limiters = new Map(
    Object.entries(limits).map(([budget, points]) => [
      budget,
      new RateLimiterMemory({ points, duration: windowSeconds, keyPrefix: budget }),
    ]),
  );
  return {
    async take(budget, who, nowMs) {
      const limiter = limiters.get(budget);
      if (!limiter) throw new Error(`no limiter for ${budget}`);
      const taken = await limiter.consume(who).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) return refused;
        throw refused;
      });
      const headers = {
        "x-ratelimit-limit": String(limits[budget]),
        "x-ratelimit-remaining": String(Math.max(0, taken.remainingPoints)),
        "x-ratelimit-reset": String(Math.ceil((nowMs + taken.msBeforeNext) / 1_000)),
      };
      if (taken.consumedPoints <= limits[budget]) return headers;
      const seconds = Math.max(1, Math.ceil(taken.msBeforeNext / 1_000));
      throw new ControlError(
        "rate_limited",
        { retry_after_seconds: seconds },
        { ...headers, "retry-after": String(seconds) },
      );
    },
  };
}
