/**
 * Jobs for tests of the queue: rows without pipelines behind them, and a clock that stands until it
 * is moved.
 */
import type { Clock } from "svc-connectors/host";
import { createId } from "../control/contract/ids.ts";
import type { NewJob } from "../control/contract/job.ts";
import { claimJob } from "../control/jobs/claim.ts";
import { enqueueJob } from "../control/jobs/enqueue.ts";
import { defaultJobLimits, type JobLimits } from "../control/services/settings.ts";
import type { TestControl } from "./control.ts";

export interface StandingClock extends Clock {
  move(durationMs: number): void;
}

export function createStandingClock(startMs = Date.parse("2026-01-31T09:30:00Z")): StandingClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    sleep: async () => undefined,
    move: (durationMs) => {
      nowMs += durationMs;
    },
  };
}

/** A sync of a pipeline that is not there. Gives its id. */
export const addJob = (
  { control, db, first }: TestControl,
  job: Partial<NewJob> = {},
): Promise<string> =>
  enqueueJob(
    db,
    {
      workspaceId: first.id,
      kind: "sync",
      subjectId: createId("pipeline"),
      jobType: "sync",
      trigger: "api",
      options: {},
      limits: [],
      ...job,
    },
    new Date(control.services.clock.now()),
  );

export const claim = (
  { control, db }: TestControl,
  limits: Partial<JobLimits> = {},
  exclusive: readonly string[] = [],
) =>
  claimJob(db, {
    worker: "test",
    limits: { ...defaultJobLimits, ...limits },
    exclusiveConnectors: exclusive,
    now: new Date(control.services.clock.now()),
  });

export const jobRow = ({ db }: TestControl, id: string) =>
  db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

export const attemptRows = ({ db }: TestControl, id: string) =>
  db.selectFrom("job_attempts").selectAll().where("job_id", "=", id).orderBy("attempt").execute();
