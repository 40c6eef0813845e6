/**
 * A job of a pipeline that is scheduled as continuous: it reads round after round, each of which
 * waits for changes and ends where a transaction does. The state of a round is kept before the next
 * one begins, which lets the source's server forget its log up to there.
 */
import type { ConfiguredStream } from "svc-connectors/host";
import type { AttemptResult, JobAttempt } from "../contract/job.ts";
import { ControlError } from "../contract/reasons.ts";
import { isOfLog } from "../pipelines/modes.ts";
import { findPipeline, type PipelineRow } from "../pipelines/rows.ts";
import type { Db } from "../store/database.ts";
import { enqueueJob } from "./enqueue.ts";
import { leftOut } from "./schedules.ts";
import { newSyncJob } from "./sync-job.ts";
import type { AttemptStreams } from "./sync-streams.ts";

/** A job lasts so long, and the next one begins. */
const sliceMs = 10 * 60_000;
/** When others wait for a worker, it makes room after this. */
const sharedSliceMs = 30_000;
/** A round waits so long for changes: so soon it is seen that the pipeline was paused. */
const waitMs = 20_000;

export interface Following {
  /** How long the next round may wait for changes; undefined: there is none. */
  nextWait(): Promise<number | undefined>;
  /** The result of the last round, as the job's. */
  end(result: AttemptResult): AttemptResult;
}

interface Followed {
  readonly pipeline: PipelineRow;
  readonly destination: { readonly minRoundMs: number };
}

const isFollowed = ({ stream, sync_mode: syncMode }: ConfiguredStream) =>
  isOfLog({ stream, syncMode });

/**
 * Follows nothing, unless all streams of the pipeline are read from a log. A destination that asks
 * for a gap between rounds (`minRoundMs`) gets one round in each job, and the next job is due when
 * the gap is over: no place of a worker is taken meanwhile.
 */
export function follow(
  { services, job, signal }: JobAttempt,
  { pipeline, destination: { minRoundMs } }: Followed,
  { catalog, failures, isPart, selectionVersion }: AttemptStreams,
): Following {
  const { clock, database } = services;
  const startedMs = clock.now();
  const isContinuous =
    pipeline.schedule.type === "continuous" &&
    job.job_type === "sync" &&
    failures.length === 0 &&
    catalog.streams.every(isFollowed);

  /** The pipeline as this job was made for; undefined: it is paused, or to do something else. */
  const current = async (db: Db): Promise<PipelineRow | undefined> => {
    const row = await findPipeline(db, job.workspace_id, pipeline.id).catch(() => undefined);
    return row?.status === "active" && row.schedule.type === "continuous" ? row : undefined;
  };

  return {
    async nextWait() {
      const lastedMs = clock.now() - startedMs;
      if (minRoundMs > 0) return undefined;
      if (!isContinuous || isPart || signal.aborted || lastedMs >= sliceMs) return undefined;
      const row = await current(database.db);
      if (row?.selection_version !== selectionVersion) return undefined;
      if (lastedMs >= sharedSliceMs && (await doOthersWait(database.db, new Date(clock.now()))))
        return undefined;
      return Math.min(waitMs, sliceMs - lastedMs);
    },
    end(result) {
      if (result.status !== "succeeded" || !isContinuous) return result;
      return {
        ...result,
        async commit(tx) {
          await result.commit?.(tx);
          const row = await current(tx);
          if (!row) return;
          if (minRoundMs > 0) await beginLater(tx, row, new Date(startedMs + minRoundMs));
          else await beginNext(tx, row, new Date(clock.now()));
        },
      };
    },
  };
}

/** By the schedule, which makes the job then. */
const beginLater = async (tx: Db, { id }: PipelineRow, at: Date): Promise<void> =>
  void (await tx.updateTable("pipelines").set({ next_run_at: at }).where("id", "=", id).execute());

/** Its place in line is behind those that wait. */
async function beginNext(tx: Db, pipeline: PipelineRow, now: Date): Promise<void> {
  try {
    await enqueueJob(tx, await newSyncJob(tx, pipeline, { trigger: "schedule" }), now);
  } catch (error) {
    if (!(error instanceof ControlError) || !leftOut.includes(error.reason)) throw error;
  }
}

/** Whether there is a job that could run and that nobody has taken. */
const doOthersWait = async (db: Db, now: Date): Promise<boolean> =>
  (await db
    .selectFrom("jobs")
    .select("id")
    .where("status", "in", ["pending", "queued", "incomplete"])
    .where("runnable_at", "<=", now)
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** The streams of a round after the first one: what was to begin anew has. */
export const again = (streams: AttemptStreams): AttemptStreams => ({
  ...streams,
  streams: streams.streams.map(({ isRestart: _, ...stream }) => stream),
  restarting: [],
});
