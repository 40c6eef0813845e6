import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError } from "../contract/errors.ts";

/** Longest wait that Node's timers keep: 2^31-1 ms. Longer ones would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(durationMs, signal) {
    if (!(durationMs > 0)) return;
    try {
      await delay(Math.min(durationMs, maxTimerMs), undefined, { signal });
    } catch {
      throw new ConnectorError("CANCELLED");
    }
  },
};

/**
 * A clock that runs `factor` times as fast as the machine's, from `originMs` on: tests and
 * benchmarks wait less.
 */
export function createScaledClock(factor: number, originMs: number = Date.now()): Clock {
  const startedMs = performance.now();
  return {
    now: () => Math.round(originMs + (performance.now() - startedMs) * factor),
    sleep: (durationMs, signal) => systemClock.sleep(durationMs / factor, signal),
  };
}
