/**
 * How long runs of a target may take: derived from what it needs on this machine, at the beginning
 * and again when a run seems to hang. What is only slow is waited for.
 */
import type { TargetKind } from "../contract/target.ts";

/** Real time, for tests to replace. */
export interface Timers {
  /** ms from any moment on. */
  now(): number;
  /** Calls back once; gives a function that takes it back. */
  after(ms: number, call: () => void): () => void;
}

export const realTimers: Timers = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** One run, as far as its time is concerned. */
export interface TimedRun<T> {
  readonly work: Promise<T>;
  /** Resolves when the run has first done something that can be seen: it has started. */
  readonly started: Promise<void>;
  /** How long it may take once it has started, on a machine that has time; ms. */
  readonly limitMs: number;
  /**
   * Runs the target's `spec` beside it: what that takes says whether the machine is slow now.
   * Undefined where runs of the target cannot be beside each other.
   */
  readonly probe?: (() => Promise<unknown>) | undefined;
}

export interface Pace {
  /** How many times longer than usual this target takes on this machine, 1 to 10. */
  readonly slowness: number;
  /** Takes note of how long its `spec` took, which asks nobody. */
  measured(specMs: number): void;
  /** The result of the run; undefined when it hangs. */
  within<T>(run: TimedRun<T>): Promise<T | undefined>;
}

/** The time of `spec` on an idle machine; ms. */
const usualSpecMs: Record<TargetKind, number> = {
  module: 100,
  program: 1_000,
  worker: 1_000,
  container: 1_000,
};
/** A connector that has not ended after ten times its time hangs. */
const mostSlowness = 10;
/** The longest start before anything is known of the target. */
const firstStartMs = 300_000;
/** A start takes so many times as long as the slowest `spec` and no longer. */
const startFactor = 10;
/** A probe that takes so many times what was measured before shows that the machine is slower. */
const slower = 1.5;

/** @param kind a container starts outside of this process, and its start is time of its own */
export function createPace(kind: TargetKind, timers: Timers = realTimers): Pace {
  const hasStart = kind === "container";
  let slowestSpecMs: number | undefined;
  let slowness = 1;
  const measured = (specMs: number) => {
    slowestSpecMs = Math.max(slowestSpecMs ?? 0, specMs);
    slowness = Math.min(mostSlowness, Math.max(1, specMs / usualSpecMs[kind]));
  };
  const startMs = () => (slowestSpecMs === undefined ? firstStartMs : startFactor * slowestSpecMs);

  return {
    get slowness() {
      return slowness;
    },
    measured,
    async within({ work, started, limitMs, probe }) {
      const isOver = watch(work);
      const first = watch(started);
      if (hasStart) await earliest(timers, startMs(), isOver, first);
      const startedMs = timers.now();
      for (;;) {
        const leftMs = limitMs * slowness - (timers.now() - startedMs);
        if (leftMs > 0) await earliest(timers, leftMs, isOver);
        if (isOver.is) return await work;
        if (!probe || slowness === mostSlowness) return undefined;
        const before = slowestSpecMs ?? 0;
        const probeStartMs = timers.now();
        // It is as long as the run that is judged: who does not answer this either, hangs.
        await earliest(timers, startMs(), isOver, watch(probe()));
        const probeMs = timers.now() - probeStartMs;
        if (isOver.is) return await work;
        if (probeMs <= slower * before) return undefined;
        measured(probeMs);
      }
    },
  };
}

interface Watched {
  readonly is: boolean;
  readonly done: Promise<void>;
}

function watch(promise: Promise<unknown>): Watched {
  const watched = { is: false, done: Promise.resolve() };
  const over = () => {
    watched.is = true;
  };
  watched.done = promise.then(over, over);
  return watched;
}

/** Resolves when one of these is over, or after so long. */
async function earliest(timers: Timers, ms: number, ...ones: readonly Watched[]): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = timers.after(ms, late.resolve);
  try {
    await Promise.race([...ones.map(({ done }) => done), late.promise]);
  } finally {
    stop();
  }
}
