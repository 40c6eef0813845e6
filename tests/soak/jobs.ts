/**
 * Runs the jobs of an instance to order: to their end, or until they hang in the middle of a
 * commit.
 */
import type { JobRow, JobRunner } from "../../control/contract/job.ts";
import { takeOverLost } from "../../control/jobs/attempts.ts";
import { claimJob } from "../../control/jobs/claim.ts";
import { type JobRunners, runJob } from "../../control/jobs/run.ts";
import { createRunners } from "../../control/jobs/runners.ts";
import { enqueueDuePipelines } from "../../control/jobs/schedules.ts";
import { queueWaiting } from "../../control/jobs/waiting.ts";
import type { Services } from "../../control/services/services.ts";
import type { Random } from "./random.ts";

/** Stops one job at one of its calls of the destination, for as long as it is closed. */
interface Gate {
  /** Calls that still pass; undefined: all. */
  left: number | undefined;
  readonly reached: Promise<void>;
  pass(): Promise<void>;
  open(): void;
}

function createGate(left: number | undefined): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    left,
    reached: reached.promise,
    async pass() {
      if (this.left === undefined || this.left-- > 0) return;
      reached.resolve();
      await opened.promise;
    },
    open() {
      this.left = undefined;
      opened.resolve();
    },
  };
}

/** The services of a process whose writes go through a gate. */
function gated(services: Services, gate: Gate): Services {
  const { destinations } = services;
  return {
    ...services,
    destinations: {
      ...destinations,
      async write(...command) {
        const open = await destinations.write(...command);
        const { sink } = open;
        const { writeBatch, write } = sink;
        const late = async <T>(work: () => Promise<T>) => {
          await gate.pass();
          return await work();
        };
        return {
          ...open,
          sink: {
            ...sink,
            ...(writeBatch && {
              writeBatch: (stream, batch) => late(() => writeBatch.call(sink, stream, batch)),
            }),
            ...(write && { write: (...rows) => late(() => write.apply(sink, rows)) }),
            checkpoint: (...reached) => late(() => sink.checkpoint(...reached)),
            status: (...ended) => late(() => sink.status(...ended)),
          },
        };
      },
    },
  };
}

/** A job whose process stands still. */
export interface Hanging {
  readonly jobId: string;
  /** It goes on, as if nothing had happened, and ends. */
  wake(): Promise<void>;
}

export interface Jobs extends AsyncDisposable {
  /** Looks after what is due and what others have left, then runs until nothing can run now. */
  turn(): Promise<void>;
  /** Those that stand still. */
  readonly hanging: readonly Hanging[];
  /** Wakes all of them up. */
  wakeAll(): Promise<void>;
  /** Gives those back that stand still, as a process that is told to stop does. */
  giveBack(): Promise<void>;
}

export interface JobsOptions {
  readonly services: Services;
  readonly random: Random;
  /** How likely a job comes to stand still. */
  readonly hangs: number;
  /** Runs the pipelines that read nothing. */
  readonly light: JobRunner;
  readonly isLight: (pipelineId: string) => boolean;
  /** The pipeline, the turn and the attempt, in words that are the same in each run of a seed. */
  readonly momentOf: (job: JobRow) => string;
}

/** More claims than that in one turn are a job that comes again and again. */
const mostClaims = 100_000;

export function createJobs({
  services,
  random,
  hangs,
  light,
  isLight,
  momentOf,
}: JobsOptions): Jobs {
  const { database, clock, settings } = services;
  const standard = createRunners(services);
  const runners: JobRunners = {
    ...standard.runners,
    sync: (attempt) =>
      isLight(attempt.job.subject_id) ? light(attempt) : standard.runners.sync(attempt),
  };
  const stopping = new AbortController();
  let hanging: (Hanging & { readonly gate: Gate; readonly ended: Promise<unknown> })[] = [];

  const claim = () =>
    claimJob(database.db, {
      worker: "soak",
      limits: settings.jobs,
      exclusiveConnectors: ["conn_duckdb"],
      now: new Date(clock.now()),
    });

  async function runClaimed(claimed: NonNullable<Awaited<ReturnType<typeof claim>>>) {
    const own = random.of(momentOf(claimed.job));
    const isHung = !isLight(claimed.job.subject_id) && own.chance(hangs);
    const gate = createGate(isHung ? own.whole(0, 8) : undefined);
    const ended = runJob(gated(services, gate), claimed, runners, stopping.signal);
    const isOver = await Promise.race([ended.then(() => true), gate.reached.then(() => false)]);
    if (isOver) return;
    const wake = async () => {
      gate.open();
      await ended;
    };
    hanging.push({ jobId: claimed.job.id, gate, ended, wake });
  }

  async function wakeAll() {
    const waking = hanging;
    hanging = [];
    for (const { wake } of waking) await wake();
  }

  return {
    get hanging() {
      return hanging;
    },
    async turn() {
      await takeOverLost(services);
      await enqueueDuePipelines(services);
      await queueWaiting(services);
      for (let claims = 0; claims < mostClaims; claims += 1) {
        const claimed = await claim();
        if (!claimed) return;
        await runClaimed(claimed);
      }
      throw new Error("jobs come again and again");
    },
    wakeAll,
    async giveBack() {
      stopping.abort();
      await wakeAll();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await wakeAll();
      await standard[Symbol.asyncDispose]();
    },
  };
}
