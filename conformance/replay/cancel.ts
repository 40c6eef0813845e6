/** Cancels a run at its moment, once or again and again, and notes the run's progress. */
import type { CancelMoment } from "../contract/lab.ts";
import type { RunProgress } from "../contract/observation.ts";

export interface Cancellation {
  readonly signal: AbortSignal;
  /** The run's progress when it was cancelled. */
  readonly at: RunProgress | undefined;
  /** True while real time goes by between a moment and its cancel: virtual time stands still. */
  readonly isPending: boolean;
  /** Milliseconds since the cancel: of real time, and of virtual time that went by. */
  sinceMs(): number | undefined;
  onMessage(count: number): void;
  onRequest(index: number): void;
  /** @param requestCount requests that were sent so far; undefined while one is under way */
  onWait(requestCount: number | undefined): void;
  onDial(): void;
  /** The kit ends a run itself, which is no cancel. */
  abort(): void;
  end(): void;
}

/** @param now virtual time */
export function createCancellation(
  moment: CancelMoment | undefined,
  progress: () => RunProgress,
  now: () => number,
): Cancellation {
  const controller = new AbortController();
  let at: RunProgress | undefined;
  let atMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const cancel = () => {
    if (at) return;
    at = progress();
    atMs = performance.now() + now();
    controller.abort();
    if (moment?.at === "message" || moment?.at === "request") again((moment.times ?? 1) - 1);
  };
  // A signal calls its listeners once; a caller that cancels again calls them again.
  const again = (left: number) => {
    if (left <= 0) return;
    setImmediate(() => {
      controller.signal.dispatchEvent(new Event("abort"));
      again(left - 1);
    });
  };
  if (moment?.at === "start") cancel();
  return {
    signal: controller.signal,
    get at() {
      return at;
    },
    get isPending() {
      return timer !== undefined && at === undefined;
    },
    sinceMs: () => (at ? performance.now() + now() - atMs : undefined),
    onMessage(count) {
      if (moment?.at === "message" && count >= moment.count) cancel();
    },
    onRequest(index) {
      if (moment?.at !== "request" || index !== moment.index) return;
      if (moment.afterMs === undefined) cancel();
      else timer = setTimeout(cancel, moment.afterMs);
    },
    onWait(requestCount) {
      if (moment?.at === "wait" && (requestCount ?? -1) >= (moment.requestCount ?? 0)) cancel();
    },
    onDial() {
      if (moment?.at === "dial") cancel();
    },
    abort: () => controller.abort(),
    end: () => clearTimeout(timer),
  };
}
