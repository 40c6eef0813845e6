/**
 * The jobs of one process: claims what is next while it has a free place, runs it, and looks after
 * what others have left.
 */
import { hostname } from "node:os";
import { startDueRuns } from "../reverse-etl/due.ts";
import type { Jobs, Services } from "../services/services.ts";
import { takeOverLost } from "./attempts.ts";
import { claimJob } from "./claim.ts";
import { coalesce } from "./coalesce.ts";
import { type JobRunners, runJob } from "./run.ts";
import { createRunners } from "./runners.ts";
import { enqueueDuePipelines } from "./schedules.ts";
import { queueWaiting } from "./waiting.ts";
import { createWakeUps } from "./wake-ups.ts";

/**
 * How soon is found what nobody has announced: workers that have died and retries of theirs,
 * schedules that are due, lost wake-ups.
 */
const sweepEveryMs = 3_000;
/** A process without a free place wakes the others up so often, for what it leaves. */
const passOnEveryMs = 1_000;
/** Jobs that run when the process stops have this long to end. */
const stopMs = 30_000;

export type RunningJobs = Jobs & AsyncDisposable;

/** Only tells others that there is something to do. */
export function announceJobs({ database }: Services): RunningJobs {
  const wakeUps = createWakeUps(database);
  let last = Promise.resolve();
  return {
    wake() {
      last = wakeUps.send();
    },
    [Symbol.asyncDispose]: () => last,
  };
}

/** Runs jobs in this process until it is disposed of; what runs then goes back to the queue. */
export async function startJobs(
  services: Services,
  replaced: Partial<JobRunners> = {},
): Promise<RunningJobs> {
  const { database, clock, log, settings } = services;
  const standard = createRunners(services);
  const runners = { ...standard.runners, ...replaced };
  const worker = `${hostname()}:${process.pid}`;
  const { concurrency } = settings.jobs;
  const exclusiveConnectors = await findExclusive(services);
  const wakeUps = createWakeUps(database);
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  let passedOnMs = Number.NEGATIVE_INFINITY;

  /** Claims until there is no free place or nothing that can run now. */
  const claimNext = coalesce(async () => {
    let hasClaimed = false;
    try {
      while (!stopping.signal.aborted && running.size < concurrency) {
        const claim = { worker, limits: settings.jobs, exclusiveConnectors };
        const claimed = await claimJob(database.db, { ...claim, now: new Date(clock.now()) });
        if (!claimed) return;
        hasClaimed = true;
        const run = runJob(services, claimed, runners, stopping.signal).then((next) => {
          running.delete(run);
          void claimNext();
          if (next) void wakeAt(next);
        });
        running.add(run);
      }
    } catch {
      log.error("a job could not be taken");
      return;
    }
    // A job that ended may have let more than one go on: somebody else may have a place for it.
    if (!hasClaimed || performance.now() - passedOnMs < passOnEveryMs) return;
    passedOnMs = performance.now();
    await wakeUps.send();
  });

  /**
   * Of a retry everybody is told at its time; when this process is gone by then, a sweep finds it.
   */
  async function wakeAt(next: Date): Promise<void> {
    try {
      await clock.sleep(Math.max(0, next.getTime() - clock.now()), stopping.signal);
      await wakeUps.send();
    } catch {
      // The process stops.
    }
  }

  /** One part that fails does not keep the others from their turn. */
  async function sweep(): Promise<void> {
    for (const look of [takeOverLost, enqueueDuePipelines, startDueRuns, queueWaiting])
      await look(services).catch(() =>
        log.error("jobs could not be looked after", { part: look.name }),
      );
    await claimNext();
    sweeping = undefined;
  }

  const receiving = wakeUps.receive(() => void claimNext());
  let sweeping: Promise<void> | undefined = sweep();
  // The machine's time wakes it up; what is due is decided by the services' clock.
  const timer = setInterval(() => {
    sweeping ??= sweep();
  }, sweepEveryMs).unref();
  return {
    wake: () => void wakeUps.send(),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stopping.abort();
      await receiving[Symbol.asyncDispose]();
      await sweeping;
      await claimNext();
      await within(stopMs, Promise.all(running));
      // Jobs that have gone back to the queue are for others.
      await wakeUps.send();
      await standard[Symbol.asyncDispose]();
    },
  };
}

/** Waits for the work, but no longer than this. */
async function within(durationMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, durationMs);
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Ids of the connectors whose destinations only one writer can have open. */
async function findExclusive({ connectors }: Services): Promise<string[]> {
  const exclusive: string[] = [];
  for (const definition of connectors.list()) {
    if (definition.type !== "destination") continue;
    // One that cannot be loaded cannot be written to either.
    const manifest = await connectors.destination(definition).catch(() => undefined);
    if (manifest?.isExclusive) exclusive.push(definition.id);
  }
  return exclusive;
}
