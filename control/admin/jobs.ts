import type { Static } from "typebox";
import { requestCancel } from "../jobs/cancel.ts";
import { type Job, type StreamStats, toJob, toStreamStats } from "../jobs/schemas.ts";
import type { JobStatus } from "../store/tables.ts";
import type { AdminContext } from "./actions.ts";
import { AdminError } from "./admin-error.ts";
import { auditOperator } from "./audit.ts";
import { findWorkspace } from "./workspaces.ts";

/** Jobs that one list holds. */
const maxListed = 200;

export interface JobFilter {
  /** Id or slug. */
  readonly workspace?: string | undefined;
  readonly status?: JobStatus | undefined;
}

/** Jobs of the instance, the newest first. */
export async function listJobs(
  { services: { database } }: AdminContext,
  { workspace, status }: JobFilter,
): Promise<{ readonly jobs: readonly Static<typeof Job>[] }> {
  const { db } = database;
  let rows = db.selectFrom("jobs").selectAll();
  if (workspace !== undefined)
    rows = rows.where("workspace_id", "=", (await findWorkspace(db, workspace)).id);
  if (status !== undefined) rows = rows.where("status", "=", status);
  const found = await rows
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(maxListed)
    .execute();
  return { jobs: found.map(toJob) };
}

/** A job with the progress of its streams. */
export async function getJob(
  { services: { database } }: AdminContext,
  { job }: { readonly job: string },
): Promise<{
  readonly job: Static<typeof Job>;
  readonly streams: readonly Static<typeof StreamStats>[];
}> {
  const row = await database.db
    .selectFrom("jobs")
    .selectAll()
    .where("id", "=", job)
    .executeTakeFirst();
  if (!row) throw new AdminError("there is no such job; svc jobs list shows them");
  const streams = await database.db
    .selectFrom("job_streams")
    .selectAll()
    .where("job_id", "=", job)
    .execute();
  return { job: toJob(row), streams: streams.map(toStreamStats) };
}

/** Cancels a job as the API does. Gives what became of it. */
export function cancelJob(
  { services: { database, clock } }: AdminContext,
  { job }: { readonly job: string },
): Promise<{ readonly outcome: Awaited<ReturnType<typeof requestCancel>> }> {
  const now = new Date(clock.now());
  return database.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom("jobs")
      .select(["id", "workspace_id"])
      .where("id", "=", job)
      .executeTakeFirst();
    if (!row) throw new AdminError("there is no such job; svc jobs list shows them");
    const outcome = await requestCancel(tx, row, now);
    const entry = { action: "job.cancel", type: "job", id: row.id, summary: "Cancel a job" };
    if (outcome !== "ended") await auditOperator(tx, row.workspace_id, now, entry);
    return { outcome };
  });
}
