import type { Clock } from "../contract/clock.ts";
import type { BrokerOptions } from "./broker.ts";

/** Reports to a display that requests wait, and that none does any more. */
export interface WaitReport {
  /** A request waits until that clock time. Call what it gives when it goes on. */
  begin(untilMs: number, reason: "rate_limit" | "retry"): () => void;
  /** Sleeps and reports it. @throws CANCELLED */
  sleep(durationMs: number, reason: "rate_limit" | "retry", signal: AbortSignal): Promise<void>;
}

export function createWaitReport(
  clock: Clock,
  onWaiting: BrokerOptions["onWaiting"] = () => undefined,
): WaitReport {
  let waitingCount = 0;

  function begin(untilMs: number, reason: "rate_limit" | "retry"): () => void {
    waitingCount++;
    onWaiting(untilMs, reason);
    return () => {
      waitingCount--;
      if (waitingCount === 0) onWaiting(0, reason);
    };
  }

  return {
    begin,
    async sleep(durationMs, reason, signal) {
      const end = begin(clock.now() + durationMs, reason);
      try {
        await clock.sleep(durationMs, signal);
      } finally {
        end();
      }
    },
  };
}
