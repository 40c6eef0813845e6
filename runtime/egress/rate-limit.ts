/**
 * Keeps requests of one credential within the provider's limit without wasting it. Two guards, both
 * must agree: our own log (never more than `limit` requests in any `perMs`, counted from their
 * answers, which holds for fixed and sliding windows alike), and what the provider says is left in
 * its window. Within them requests go out at once.
 */
import type { Clock } from "../contract/clock.ts";
import type { RateLimit } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import {
  type RateLimitFacts,
  type ResponseHeaders,
  readRateLimitHeaders,
} from "./rate-limit-headers.ts";
import { createRequestLog } from "./request-log.ts";
import { parseRetryAfter } from "./retry.ts";

/** The window that providers mean when they name none. */
const defaultPerMs = 60_000;
/** Two clocks drift apart by far less than this part of a window. */
const driftShare = 0.002;
/** Reset times come in whole seconds, rounded either way. */
const resetSlackMs = 1_000;
/**
 * After a refusal without any figures: go on with 90 % of what was sent, and a quarter more after
 * each clean window.
 */
const cut = 0.9;
const growth = 1.25;

/** A request that was let through. Exactly one of its functions is called, once. */
export interface Ticket {
  answered(status: number, headers: ResponseHeaders): void;
  /** No answer came. It may have counted all the same. */
  failed(): void;
}

export interface RateLimiter {
  /**
   * Resolves, in order of the calls, when a request may be sent. `onWaiting` is called with the
   * expected time when it has to wait.
   * @throws RATE_LIMITED when it would take longer than the limiter waits · CANCELLED
   */
  take(signal: AbortSignal, onWaiting?: (untilMs: number) => void): Promise<Ticket>;
  /** A 2xx answer turned out to say "too many requests". */
  refused(): void;
}

export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly declared?: RateLimit | undefined;
  /** Requests under way at once, at most. */
  readonly concurrency: number;
  readonly maxWaitMs: number;
}

/** The provider's current window, as its answers describe it. */
interface ServerWindow {
  left: number;
  lowest: number;
  resetAtMs: number;
}

export function createRateLimiter({
  clock,
  declared,
  concurrency,
  maxWaitMs,
}: RateLimiterOptions): RateLimiter {
  const log = createRequestLog();
  let limit = declared?.requests ?? Number.POSITIVE_INFINITY;
  let ceiling = limit;
  let perMs = declared?.perMs ?? defaultPerMs;
  let inFlight = 0;
  let blockedUntilMs = 0;
  let refusedInRow = 0;
  let changedAtMs = 0;
  let server: ServerWindow | undefined;
  // Answers to requests of an earlier window say nothing about the current one.
  let generation = 0;

  let line: Promise<unknown> = Promise.resolve();
  let lineLength = 0;
  let wake: (() => void) | undefined;

  /** When the next request may go: now or earlier = at once; Infinity = after the next answer. */
  function nextAt(nowMs: number): number {
    const loggedMs = perMs * (1 + driftShare);
    log.dropBefore(nowMs - loggedMs);
    if (server && nowMs >= server.resetAtMs) forgetWindow();
    let at = blockedUntilMs;
    const excess = inFlight + log.size - limit;
    if (excess >= 0) at = Math.max(at, log.at(excess) + loggedMs);
    if (server && server.left <= 0) at = Math.max(at, server.resetAtMs);
    return at;
  }

  function forgetWindow(): void {
    server = undefined;
    generation++;
  }

  function letThrough(): Ticket {
    const sentAtMs = clock.now();
    const sentIn = generation;
    inFlight++;
    if (server) server.left--;
    const settle = () => {
      inFlight--;
      log.add(clock.now());
    };
    return {
      answered(status, headers) {
        settle();
        const nowMs = clock.now();
        const facts = readRateLimitHeaders(headers, nowMs);
        learnLimit(facts, nowMs);
        if (status === 429)
          learnRefusal(facts, parseRetryAfter(headers["retry-after"], nowMs), sentAtMs, nowMs);
        else {
          refusedInRow = 0;
          if (sentIn === generation) learnRemaining(facts, nowMs);
          if (limit < ceiling && nowMs - changedAtMs >= perMs)
            changeLimit(Math.ceil(limit * growth), nowMs);
        }
        wake?.();
      },
      failed() {
        settle();
        wake?.();
      },
    };
  }

  function learnLimit(facts: RateLimitFacts, nowMs: number): void {
    if (facts.limit === undefined) return;
    if (facts.perMs !== undefined) perMs = facts.perMs;
    // Without its length, the provider's window is taken for ours only where that fits; else
    // `remaining` alone guides.
    else if (facts.resetAtMs !== undefined) {
      if (!declared || facts.resetAtMs - nowMs > perMs * (1 + driftShare) + 2 * resetSlackMs)
        return;
    } else if (perMs !== defaultPerMs) return;
    limit = facts.limit;
    ceiling = facts.limit;
  }

  function learnRemaining({ remaining, resetAtMs }: RateLimitFacts, nowMs: number): void {
    if (remaining === undefined) return;
    // Requests under way may have come after this one, so they count as not yet subtracted.
    const left = remaining - inFlight;
    const endsAtMs = resetAtMs === undefined ? undefined : resetAtMs + slackMs();
    if (server && remaining <= server.lowest + concurrency) {
      server.left = Math.min(server.left, left);
      server.lowest = Math.min(server.lowest, remaining);
      server.resetAtMs = endsAtMs ?? server.resetAtMs;
      return;
    }
    if (server) forgetWindow();
    // A window that names no end began at this answer at the latest.
    server = { left, lowest: remaining, resetAtMs: endsAtMs ?? nowMs + perMs * (1 + driftShare) };
  }

  const slackMs = () => Math.min(resetSlackMs, perMs / 10);

  function learnRefusal(
    facts: RateLimitFacts,
    retryAfterMs: number | undefined,
    sentAtMs: number,
    nowMs: number,
  ): void {
    forgetWindow();
    const backoffMs = Math.min(defaultPerMs, 1_000 * 2 ** refusedInRow++);
    const resetAtMs =
      facts.resetAtMs === undefined ? nowMs + backoffMs : facts.resetAtMs + slackMs();
    blockedUntilMs = Math.max(
      blockedUntilMs,
      retryAfterMs === undefined ? resetAtMs : nowMs + retryAfterMs,
    );
    // Requests that were already under way when the limit was cut say nothing new.
    if (facts.limit !== undefined || sentAtMs < changedAtMs) return;
    log.dropBefore(nowMs - perMs);
    changeLimit(Math.max(1, Math.floor(cut * Math.min(limit, Math.max(1, log.size - 1)))), nowMs);
  }

  function changeLimit(requests: number, nowMs: number): void {
    limit = Math.min(ceiling, requests);
    changedAtMs = nowMs;
  }

  async function waitInLine(
    signal: AbortSignal,
    onWaiting: (untilMs: number) => void,
  ): Promise<Ticket> {
    for (;;) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      const nowMs = clock.now();
      const at = nextAt(nowMs);
      if (at <= nowMs) return letThrough();
      if (at !== Number.POSITIVE_INFINITY) {
        if (at - nowMs > maxWaitMs) throw new ConnectorError("RATE_LIMITED", {}, at - nowMs);
        onWaiting(at);
      }
      await untilOrChange(at - nowMs, signal);
    }
  }

  /** Sleeps, but not past an answer: it may have made the wait shorter. */
  async function untilOrChange(durationMs: number, signal: AbortSignal): Promise<void> {
    const sleep = new AbortController();
    const stop = () => sleep.abort();
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    signal.addEventListener("abort", stop, { once: true });
    const aborted = new Promise<void>((resolve) =>
      sleep.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    const slept =
      durationMs === Number.POSITIVE_INFINITY
        ? aborted
        : clock.sleep(durationMs, sleep.signal).catch(() => undefined);
    await Promise.race([slept, changed, aborted]);
    wake = undefined;
    signal.removeEventListener("abort", stop);
    sleep.abort();
  }

  return {
    async take(signal, onWaiting = () => undefined) {
      if (lineLength === 0 && !signal.aborted && nextAt(clock.now()) <= clock.now())
        return letThrough();
      const before = line;
      const mine = Promise.withResolvers<void>();
      line = Promise.all([before, mine.promise]);
      lineLength++;
      try {
        await settledOrAborted(before, signal);
        return await waitInLine(signal, onWaiting);
      } finally {
        lineLength--;
        mine.resolve();
      }
    },
    refused() {
      const nowMs = clock.now();
      learnRefusal({}, undefined, nowMs, nowMs);
    },
  };
}

async function settledOrAborted(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = () => aborted.resolve();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await Promise.race([before, aborted.promise]);
  signal.removeEventListener("abort", stop);
}
