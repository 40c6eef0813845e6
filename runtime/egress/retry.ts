import type { Clock } from "../contract/clock.ts";
import { ConnectorError, isRetryable } from "../contract/errors.ts";

/**
 * First and longest ceiling of a random wait.
 * @see AWS Architecture Blog, "Exponential Backoff And Jitter" (full jitter)
 */
const baseDelayMs = 1_000;
const maxDelayMs = 60_000;
/** Providers that ask for more than a day mean "not today". */
const maxRetryAfterMs = 86_400_000;

export interface RetryPolicy {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxAttempts: number;
  /** Time from the first try, after which no further one starts. */
  readonly budgetMs: number;
  /** Waits on the policy's clock. @throws CANCELLED */
  readonly wait: (durationMs: number, signal: AbortSignal) => Promise<void>;
  /** Which failures are worth another try. Default: transient ones. */
  readonly isRetryable?: ((error: ConnectorError) => boolean) | undefined;
}

/**
 * Gives the result of `send`, tried again while it fails in a way that may pass and a try and time
 * are left. A provider that asks for a wait beyond the budget ends it at once; the error says when
 * to come back.
 * @param failed what came of earlier tries: the wait for the next one comes first then.
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  signal: AbortSignal,
  send: () => Promise<T>,
  failed?: { readonly attempt: number; readonly error: ConnectorError },
): Promise<T> {
  const startedAtMs = policy.clock.now();
  const mayRetry = policy.isRetryable ?? (({ code }: ConnectorError) => isRetryable(code));
  let attempt = failed?.attempt ?? 0;
  let error: unknown = failed?.error;
  for (;;) {
    if (attempt > 0) {
      if (!(error instanceof ConnectorError) || !mayRetry(error)) throw error;
      const delayMs = retryDelayMs(attempt, error.retryAfterMs, policy.random);
      if (
        attempt >= policy.maxAttempts ||
        policy.clock.now() - startedAtMs + delayMs > policy.budgetMs
      )
        throw error;
      await policy.wait(delayMs, signal);
    }
    try {
      return await send();
    } catch (caught) {
      error = caught;
      attempt++;
    }
  }
}

/** Full jitter below a doubling ceiling; after the provider's own wait when it named one. */
export function retryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  const ceilingMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
  if (retryAfterMs === undefined) return random() * ceilingMs;
  return retryAfterMs + random() * Math.min(baseDelayMs, ceilingMs);
}

/**
 * Milliseconds that a Retry-After field asks for: 0 for the past, at most a day, undefined when it
 * is not one.
 * @see RFC 9110 section 10.2.3
 */
export function parseRetryAfter(
  value: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = (typeof value === "string" ? value : value?.[0])?.trim();
  if (!text) return undefined;
  const askedMs = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : toTimeMs(text) - nowMs;
  if (Number.isNaN(askedMs)) return undefined;
  return Math.min(maxRetryAfterMs, Math.max(0, Math.ceil(askedMs)));
}

/** Date.parse takes nearly anything for a date; a date of HTTP or RFC 3339 has a day and a time. */
const toTimeMs = (text: string) => (/\d.*\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN);
