import type { Selectable } from "kysely";
import { ControlError, notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { JobStatus, Tables } from "../store/tables.ts";

export type PipelineRow = Selectable<Tables["pipelines"]>;

/** Those that live; a deleted one does not exist any more. @throws not_found */
export async function findPipeline(db: Db, workspaceId: string, id: string): Promise<PipelineRow> {
  const row = await selectPipeline(db, workspaceId, id).executeTakeFirst();
  if (!row) throw notFound("pipeline", id);
  return row;
}

/** As {@link findPipeline}, locked until the transaction ends. */
export async function lockPipeline(db: Db, workspaceId: string, id: string): Promise<PipelineRow> {
  const row = await selectPipeline(db, workspaceId, id).forUpdate().executeTakeFirst();
  if (!row) throw notFound("pipeline", id);
  return row;
}

const selectPipeline = (db: Db, workspaceId: string, id: string) =>
  db
    .selectFrom("pipelines")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .where("status", "!=", "deleted");

/** @throws pipeline_locked */
export function requireUnlocked({ status }: PipelineRow): void {
  if (status === "locked") throw new ControlError("pipeline_locked");
}

/** The latest job of a pipeline, as its pipeline shows it. */
export type LastJob = Pick<
  Selectable<Tables["jobs"]>,
  "id" | "job_type" | "status" | "failure" | "created_at" | "ended_at"
>;

/** The latest job of each pipeline that has one; the open one is always the latest. */
export async function lastJobs(
  db: Db,
  pipelineIds: readonly string[],
): Promise<ReadonlyMap<string, LastJob>> {
  if (pipelineIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("jobs")
    .distinctOn("pipeline_id")
    .select(["pipeline_id", "id", "job_type", "status", "failure", "created_at", "ended_at"])
    .where("pipeline_id", "in", pipelineIds)
    .orderBy("pipeline_id")
    .orderBy("created_at", "desc")
    .orderBy("ended_at", (order) => order.desc().nullsFirst())
    .execute();
  return new Map(rows.map((row) => [row.pipeline_id ?? "", row]));
}

export const syncStates = [
  "running",
  "queued",
  "failed",
  "paused",
  "pending",
  "incomplete",
  "synced",
] as const;
export type SyncState = (typeof syncStates)[number];

/**
 * `incomplete`: the last attempt failed and another one will follow, or the last job was cancelled.
 */
const ofJob: Readonly<Record<JobStatus, SyncState>> = {
  pending: "queued",
  queued: "queued",
  running: "running",
  incomplete: "incomplete",
  succeeded: "synced",
  failed: "failed",
  cancelled: "incomplete",
};

/**
 * How a pipeline stands: what is under way counts first, then whether it may go on, then how it
 * ended.
 */
export function syncStateOf(
  { status }: Pick<PipelineRow, "status">,
  job: LastJob | undefined,
): SyncState {
  const isOpen = job !== undefined && !["succeeded", "failed", "cancelled"].includes(job.status);
  if (!isOpen && status !== "active") return "paused";
  if (job === undefined) return "pending";
  // A stream that was cleared has nothing that is in sync.
  return job.job_type === "clear" && job.status === "succeeded" ? "pending" : ofJob[job.status];
}
