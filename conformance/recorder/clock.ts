import type { Clock } from "svc-connectors";
import { systemClock } from "svc-connectors/host";

/**
 * A clock that stands still except for waits, which take as long as they take: a request that names
 * the present is the same in every replay.
 */
export function createStandingClock(originMs: number): Clock {
  let nowMs = originMs;
  return {
    standsStill: true,
    now: () => nowMs,
    async sleep(durationMs, signal) {
      await systemClock.sleep(durationMs, signal);
      nowMs += Math.max(0, durationMs);
    },
  };
}
