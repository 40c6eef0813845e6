/**
 * When the next request of a credential may be sent, and what its answers teach about that. Two
 * guards, both must agree: our own log (never more than `limit` requests in any `perMs`, counted
 * from their answers, which holds for fixed and sliding windows alike), and what the provider says
 * is left in its window.
 */
import type { Clock } from "../contract/clock.ts";
import type { RateLimit } from "../contract/egress.ts";
import {
  type RateLimitFacts,
  type ResponseHeaders,
  readRateLimitHeaders,
} from "./rate-limit-headers.ts";
import { createRequestLog } from "./request-log.ts";
import { parseRetryAfter } from "./retry.ts";
import { createServerWindow, driftedMs, resetSlackMs, slackMs } from "./server-window.ts";

/** The window that providers mean when they name none. */
const defaultPerMs = 60_000;
/**
 * After a refusal without any figures: go on with 90 % of what was sent until it and in as long as
 * it asks to wait, or in the window where that is shorter; and a quarter more after each clean
 * window.
 */
const cut = 0.9;
const growth = 1.25;

/** A request that was let through. Exactly one of its functions is called, once. */
export interface Ticket {
  answered(status: number, headers: ResponseHeaders): void;
  /** No answer came. It may have counted all the same. */
  failed(): void;
}

export interface RateBudget {
  /** When the next request may go: now or earlier = at once; Infinity = after the next answer. */
  nextAt(nowMs: number): number;
  letThrough(): Ticket;
  /** The requests that may be sent in a time, as far as is known: Infinity in the beginning. */
  readonly window: { readonly requests: number; readonly perMs: number };
  /** A 2xx answer turned out to say "too many requests". */
  refused(): void;
}

export interface RateBudgetOptions {
  readonly clock: Clock;
  readonly declared?: RateLimit | undefined;
  /** Requests under way at once, at most. */
  readonly concurrency: number;
}

/** @param onChange is called when a request has ended: the next one may go earlier */
export function createRateBudget(
  { clock, declared, concurrency }: RateBudgetOptions,
  onChange: () => void,
): RateBudget {
  const log = createRequestLog();
  const server = createServerWindow(concurrency);
  let limit = declared?.requests ?? Number.POSITIVE_INFINITY;
  let ceiling = limit;
  let perMs = declared?.perMs ?? defaultPerMs;
  let inFlight = 0;
  let blockedUntilMs = 0;
  let refusedInRow = 0;
  let changedAtMs = 0;
  /** A shorter window that waits of seconds told of; it holds beside the other. */
  let burst = { limit: Number.POSITIVE_INFINITY, perMs: 0 };

  function settle(): void {
    inFlight--;
    log.add(clock.now());
  }

  function learn(status: number, headers: ResponseHeaders, sentIn: number, sentAtMs: number): void {
    const nowMs = clock.now();
    const facts = readRateLimitHeaders(headers, nowMs);
    learnLimit(facts, nowMs);
    if (status === 429) {
      learnRefusal(facts, parseRetryAfter(headers["retry-after"], nowMs), sentAtMs, nowMs);
      return;
    }
    refusedInRow = 0;
    if (sentIn === server.generation) server.learn(facts, inFlight, perMs, nowMs);
    if (nowMs - changedAtMs < perMs) return;
    if (limit < ceiling) changeLimit(Math.ceil(limit * growth), nowMs);
    else if (burst.perMs > 0)
      changeBurst({ ...burst, limit: Math.ceil(burst.limit * growth) }, nowMs);
  }

  function learnLimit(facts: RateLimitFacts, nowMs: number): void {
    if (facts.limit === undefined) return;
    if (facts.perMs !== undefined) perMs = facts.perMs;
    // Without its length, the provider's window is taken for ours only where that fits; else
    // `remaining` alone guides.
    else if (facts.resetAtMs !== undefined) {
      if (!declared || facts.resetAtMs - nowMs > driftedMs(perMs) + 2 * resetSlackMs) return;
    } else if (perMs !== defaultPerMs) return;
    limit = facts.limit;
    ceiling = facts.limit;
  }

  function learnRefusal(
    facts: RateLimitFacts,
    retryAfterMs: number | undefined,
    sentAtMs: number,
    nowMs: number,
  ): void {
    server.forget();
    const backoffMs = Math.min(defaultPerMs, 1_000 * 2 ** refusedInRow++);
    const resetAtMs =
      facts.resetAtMs === undefined ? nowMs + backoffMs : facts.resetAtMs + slackMs(perMs);
    blockedUntilMs = Math.max(
      blockedUntilMs,
      retryAfterMs === undefined ? resetAtMs : nowMs + retryAfterMs,
    );
    // Requests that were already under way when the limit was cut say nothing new.
    if (facts.limit !== undefined || sentAtMs < changedAtMs) return;
    log.dropBefore(nowMs - perMs);
    const taken = Math.max(1, log.size - 1);
    // So much was taken from the first of them on, and again when the wait is over.
    const burstMs = nowMs - log.at(0) + (retryAfterMs ?? Number.POSITIVE_INFINITY);
    if (burstMs < perMs) {
      const most = Math.max(1, Math.floor(cut * taken));
      changeBurst({ limit: most, perMs: Math.max(burstMs, slackMs(perMs)) }, nowMs);
    } else changeLimit(Math.max(1, Math.floor(cut * Math.min(limit, taken))), nowMs);
  }

  function changeLimit(requests: number, nowMs: number): void {
    limit = Math.min(ceiling, requests);
    changedAtMs = nowMs;
  }

  function changeBurst(to: typeof burst, nowMs: number): void {
    burst = to;
    changedAtMs = nowMs;
  }

  /** When one more request keeps to a window. */
  function freeAt({ limit, perMs }: typeof burst): number {
    const excess = inFlight + log.size - limit;
    return excess >= 0 ? log.at(excess) + driftedMs(perMs) : 0;
  }

  return {
    nextAt(nowMs) {
      log.dropBefore(nowMs - driftedMs(perMs));
      const at = Math.max(blockedUntilMs, server.freeAt(nowMs));
      return Math.max(at, freeAt({ limit, perMs }), freeAt(burst));
    },
    letThrough() {
      const sentAtMs = clock.now();
      const sentIn = server.generation;
      inFlight++;
      server.sent();
      return {
        answered(status, headers) {
          settle();
          learn(status, headers, sentIn, sentAtMs);
          onChange();
        },
        failed() {
          settle();
          onChange();
        },
      };
    },
    get window() {
      const known = limit === Number.POSITIVE_INFINITY ? burst : { limit, perMs };
      return { requests: known.limit, perMs: driftedMs(known.perMs) };
    },
    refused() {
      const nowMs = clock.now();
      learnRefusal({}, undefined, nowMs, nowMs);
    },
  };
}
