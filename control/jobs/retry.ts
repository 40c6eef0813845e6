import type { Failure } from "../store/tables.ts";

const firstMs = 10_000;
const longestMs = 3_600_000;
/** However long a provider asks us to wait: after a day it is asked again. */
const longestAskedMs = 24 * 3_600_000;

/** Faults of svc, a connector's provider or a disk: three tries show whether they pass. */
const systemTries = 3;

/** Of one job, whatever it has brought about: something is wrong when it never comes to an end. */
const mostAttempts = 100;

export interface Failed {
  readonly failure: Failure;
  /** When the provider said it. */
  readonly retryAfterMs?: number;
  /** The attempt that failed: 1, 2, 3 … */
  readonly attempt: number;
  /**
   * Attempts in a row, this one included, that have committed no row. A commit begins the count
   * anew.
   */
  readonly fruitless: number;
  /** Most attempts of the job. */
  readonly maxAttempts: number;
}

/**
 * Time until the next attempt; undefined: there is none. Exponential from 10 s to 1 h, between half
 * and all of it, so that what failed together does not come back together; a provider that says
 * when it wants to be asked is asked then.
 * @param random 0 ≤ x < 1
 */
export function retryDelayMs(
  { failure, retryAfterMs, attempt, fruitless, maxAttempts }: Failed,
  random: () => number = Math.random,
): number | undefined {
  const tries = failure.type === "system_error" ? Math.min(systemTries, maxAttempts) : maxAttempts;
  if (!failure.retryable || fruitless >= tries || attempt >= mostAttempts) return undefined;
  const asked = Math.min(retryAfterMs ?? 0, longestAskedMs);
  if (failure.type === "rate_limited" && asked > 0) return asked;
  const most = Math.min(longestMs, firstMs * 2 ** Math.max(0, fruitless - 1));
  return Math.max(asked, Math.round(most * (0.5 + random() / 2)));
}
