/** The provider's side of a rate limit: what its answers say is left in its current window. */
import type { RateLimitFacts } from "./rate-limit-headers.ts";

/** Two clocks drift apart by far less than this part of a window. */
const driftShare = 0.002;
/** Reset times come in whole seconds, rounded either way. */
export const resetSlackMs = 1_000;

/** The length of a window, as long as another clock may measure it. */
export const driftedMs = (perMs: number): number => perMs * (1 + driftShare);
/** Time that is added to a reset time; ms. */
export const slackMs = (perMs: number): number => Math.min(resetSlackMs, perMs / 10);

export interface ServerWindow {
  /** Rises with each window: answers to requests of an earlier one say nothing about this one. */
  readonly generation: number;
  /** When a request may be sent as far as the provider says; 0 = at any time. */
  freeAt(nowMs: number): number;
  /** A request is sent. */
  sent(): void;
  /** @param inFlight requests under way, which the provider may not have counted yet */
  learn(facts: RateLimitFacts, inFlight: number, perMs: number, nowMs: number): void;
  forget(): void;
}

/** @param concurrency requests under way at once, at most: as many answers may be out of order */
export function createServerWindow(concurrency: number): ServerWindow {
  let current: { left: number; lowest: number; resetAtMs: number } | undefined;
  let generation = 0;

  function forget(): void {
    current = undefined;
    generation++;
  }

  return {
    get generation() {
      return generation;
    },
    freeAt(nowMs) {
      if (current && nowMs >= current.resetAtMs) forget();
      return current && current.left <= 0 ? current.resetAtMs : 0;
    },
    sent() {
      if (current) current.left--;
    },
    learn({ remaining, resetAtMs }, inFlight, perMs, nowMs) {
      if (remaining === undefined) return;
      // Requests under way may have come after this one, so they count as not yet subtracted.
      const left = remaining - inFlight;
      const endsAtMs = resetAtMs === undefined ? undefined : resetAtMs + slackMs(perMs);
      if (current && remaining <= current.lowest + concurrency) {
        current.left = Math.min(current.left, left);
        current.lowest = Math.min(current.lowest, remaining);
        current.resetAtMs = endsAtMs ?? current.resetAtMs;
        return;
      }
      if (current) forget();
      // A window that names no end began at this answer at the latest.
      current = { left, lowest: remaining, resetAtMs: endsAtMs ?? nowMs + driftedMs(perMs) };
    },
    forget,
  };
}
