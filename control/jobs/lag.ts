import type { HostEvent } from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";

/** Sees the events of a read, and tells how far its source's log of changes is behind. */
export interface Lag {
  onEvent(event: HostEvent): void;
  /** The read is over: a pipeline of which nothing was told reads no log any more. */
  end(): void;
}

export function createLag({ progress }: Pick<JobAttempt, "progress">): Lag {
  let isReported = false;
  return {
    onEvent(event) {
      if (event.type !== "log") return;
      // A connector says so: a number that is none is left.
      const { lagBytes } = event.fields;
      if (typeof lagBytes !== "number" || !Number.isSafeInteger(lagBytes) || lagBytes < 0) return;
      isReported = true;
      progress.lag(lagBytes);
    },
    end() {
      if (!isReported) progress.lag(null);
    },
  };
}
