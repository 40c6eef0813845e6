import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../contract/clock.ts";
import { createRateLimiter, type RateLimiter, type RateLimiterOptions } from "./rate-limit.ts";

/**
 * Providers count per credential, not per run: runs of one process that use the same one share its
 * limiter.
 */
const limiters = new WeakMap<
  Clock,
  Map<string, { readonly limiter: RateLimiter; users: number }>
>();

/**
 * Keys are kept as digests under a key of this process, so that no credential stays behind in the
 * map.
 */
const digestKey = randomBytes(32);

/** The limiter of this origin and these credential values. `release` when the run ends. */
export function shareRateLimiter(
  origin: string,
  credential: readonly string[],
  options: RateLimiterOptions,
): { readonly limiter: RateLimiter; release(): void } {
  const key = createHmac("sha256", digestKey)
    .update(JSON.stringify([origin, credential]))
    .digest("base64");
  const ofClock = limiters.get(options.clock) ?? new Map();
  limiters.set(options.clock, ofClock);
  const shared = ofClock.get(key) ?? { limiter: createRateLimiter(options), users: 0 };
  ofClock.set(key, shared);
  shared.users++;
  return {
    limiter: shared.limiter,
    release() {
      shared.users--;
      if (shared.users === 0) ofClock.delete(key);
    },
  };
}
