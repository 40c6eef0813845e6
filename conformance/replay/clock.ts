import type { Clock } from "svc-connectors";
import { ConnectorError } from "svc-connectors/host";

/**
 * A clock on which waits cost next to nothing: it jumps to the next due time as soon as nothing
 * else can go on.
 */
export interface VirtualClock extends Clock {
  /** Every wait that was asked for. */
  readonly waits: readonly { readonly atMs: number; readonly durationMs: number }[];
  /** Called when a wait begins. */
  onWait: (() => void) | undefined;
  /** Lets time go by, ms; nobody is woken for it alone. */
  pass(ms: number): void;
  /** Lets time go by, ms, and wakes whoever waits for it. */
  advance(ms: number): void;
  /** Ends the clock: nobody is woken any more. */
  end(): void;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * Real time without activity after which the clock jumps: work between two awaits is done by then.
 */
const restMs = 2;
/**
 * Turns of the event loop that have to go by besides: on a loaded machine the work of this process
 * needs more time, but no more turns.
 */
const restTurns = 6;
/**
 * Longest wait that the clock makes; a longer one is legal, and seen in `waits` as it was asked
 * for.
 */
const maxWaitMs = 10 * 365 * 86_400_000;

/**
 * @param startMs ms since the epoch
 * @param activity grows with everything that happens on the network, and is undefined while an
 * answer is on its way
 */
export function createVirtualClock(
  startMs: number,
  activity: () => number | undefined,
): VirtualClock {
  let nowMs = startMs;
  let sleepers: Sleeper[] = [];
  let isTicking = false;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const waits: { atMs: number; durationMs: number }[] = [];

  const tick = () => {
    if (isTicking || isEnded) return;
    isTicking = true;
    const before = activity();
    const count = waits.length;
    const jump = (turnsLeft: number): void => {
      if (turnsLeft > 0 && !isEnded) {
        setImmediate(jump, turnsLeft - 1);
        return;
      }
      isTicking = false;
      if (sleepers.length === 0 || isEnded) return;
      const isQuiet = before !== undefined && activity() === before && waits.length === count;
      if (!isQuiet) {
        tick();
        return;
      }
      const dueMs = Math.min(...sleepers.map((sleeper) => sleeper.dueMs));
      nowMs = Math.max(nowMs, dueMs);
      wakeDue();
      if (sleepers.length > 0) tick();
    };
    timer = setTimeout(jump, restMs, restTurns);
  };

  const wakeDue = () => {
    const due = sleepers.filter((sleeper) => sleeper.dueMs <= nowMs);
    sleepers = sleepers.filter((sleeper) => sleeper.dueMs > nowMs);
    for (const { wake } of due) wake();
  };

  const clock: VirtualClock = {
    standsStill: true,
    waits,
    onWait: undefined,
    now: () => nowMs,
    sleep(durationMs, signal) {
      if (signal?.aborted || isEnded) return Promise.reject(new ConnectorError("CANCELLED"));
      waits.push({ atMs: nowMs, durationMs });
      return new Promise((resolve, reject) => {
        const cancel = () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(new ConnectorError("CANCELLED"));
        };
        const wait = Number.isFinite(durationMs) ? Math.min(Math.max(0, durationMs), maxWaitMs) : 0;
        const sleeper: Sleeper = {
          dueMs: nowMs + wait,
          wake() {
            signal?.removeEventListener("abort", cancel);
            resolve();
          },
        };
        sleepers.push(sleeper);
        signal?.addEventListener("abort", cancel, { once: true });
        clock.onWait?.();
        tick();
      });
    },
    pass(ms) {
      nowMs += ms;
    },
    advance(ms) {
      nowMs += ms;
      wakeDue();
    },
    end() {
      isEnded = true;
      // Else it would look like a timer that the connector left.
      clearTimeout(timer);
      sleepers = [];
    },
  };
  return clock;
}
