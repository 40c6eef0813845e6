/**
 * The jobs of one process: takes permits, claims what is next, runs it, and looks after what others
 * have left.
 */
import { hostname } from "node:os";
import { startDueRuns } from "../reverse-etl/due.ts";
import type { Jobs, Services } from "../services.ts";
import { takeOverLost } from "./attempts.ts";
import { claimJob } from "./claim.ts";
import { openPermits } from "./permits.ts";
import { type JobRunners, runJob } from "./run.ts";
import { createRunners } from "./runners.ts";
import { enqueueDuePipelines } from "./schedules.ts";
import { hasRunnable, queueWaiting } from "./waiting.ts";

/**
 * How soon is found what nobody has announced: workers that have died, schedules that are due, lost
 * messages.
 */
const sweepEveryMs = 3_000;
/** A permit is given back after this, so that another process may have its turn. */
const permitMs = 3_600_000;

export type RunningJobs = Jobs & AsyncDisposable;

/** Only tells others that there is something to do. */
export async function announceJobs({ database, log }: Services): Promise<RunningJobs> {
  const permits = await openPermits(database, { isWorker: false, log });
  return {
    wake: () => void permits.send(),
    [Symbol.asyncDispose]: () => permits[Symbol.asyncDispose](),
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
  const stopping = new AbortController();
  let runningCount = 0;

  /** Runs jobs for as long as there are any. */
  async function use(): Promise<void> {
    const untilMs = clock.now() + permitMs;
    while (!stopping.signal.aborted && runningCount < concurrency && clock.now() < untilMs) {
      runningCount += 1;
      try {
        const now = new Date(clock.now());
        const claimed = await claimJob(database.db, {
          worker,
          limits: settings.jobs,
          exclusiveConnectors,
          now,
        });
        if (!claimed) return;
        // There may be another one, for another loop or another process.
        await permits.send();
        const next = await runJob(services, claimed, runners, stopping.signal);
        if (next) await permits.sendLater(claimed.job.id, next.getTime() - clock.now());
      } finally {
        runningCount -= 1;
      }
    }
    // A place was given back before the work was done: somebody else may go on with it.
    await permits.send();
  }

  async function announce(): Promise<void> {
    const now = new Date(clock.now());
    if (await hasRunnable(database.db, now)) await permits.send();
    await queueWaiting(database.db, now);
  }

  /** One part that fails does not keep the others from their turn. */
  async function sweep(): Promise<void> {
    for (const look of [takeOverLost, enqueueDuePipelines, startDueRuns, announce])
      await look(services).catch(() =>
        log.error("jobs could not be looked after", { part: look.name }),
      );
    isSweeping = false;
  }

  const permits = await openPermits(database, { isWorker: true, log });
  await permits.take(concurrency, use);
  let isSweeping = true;
  let sweeping = sweep();
  // The machine's time wakes it up; what is due is decided by the services' clock.
  const timer = setInterval(() => {
    if (isSweeping) return;
    isSweeping = true;
    sweeping = sweep();
  }, sweepEveryMs).unref();
  return {
    wake: () => void permits.send(),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stopping.abort();
      await sweeping;
      await permits[Symbol.asyncDispose]();
      await standard[Symbol.asyncDispose]();
    },
  };
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
