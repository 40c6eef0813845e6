import { isEnabled } from "../connectors/registry.ts";
import type { NewJob } from "../contract/job.ts";
import { ControlError } from "../contract/reasons.ts";
import type { PipelineRow } from "../pipelines/rows.ts";
import type { Db } from "../store/database.ts";
import type { Trigger } from "../store/tables.ts";

/** The options of one sync. */
export interface SyncOptions {
  /** Only these; absent: all. */
  readonly streams?: readonly { readonly name: string; readonly namespace?: string }[];
  /** Reads them from the beginning. */
  readonly full_refresh?: boolean;
  /** However many rows the source has no more: they are deleted ones. */
  readonly confirm_deletes?: boolean;
}

/**
 * A job of a pipeline that can be enqueued: what it runs, and what it uses that only so many jobs
 * may use at once. One that only clears asks nothing of the source.
 * @throws not_found when it was deleted · connector_disabled, of either end that it uses
 */
export async function newSyncJob(
  db: Db,
  pipeline: PipelineRow,
  {
    trigger,
    options = {},
    jobType = options.full_refresh ? "refresh" : "sync",
  }: {
    readonly trigger: Trigger;
    readonly options?: SyncOptions;
    readonly jobType?: NewJob["jobType"];
  },
): Promise<NewJob> {
  const ends = await db
    .selectFrom("connections")
    .innerJoin("sources", "sources.id", "connections.source_id")
    .innerJoin("destinations", "destinations.id", "connections.destination_id")
    .select([
      "sources.connector_id as source_connector",
      "sources.credential_id",
      "destinations.id as destination_id",
      "destinations.connector_id as destination_connector",
    ])
    .where("connections.id", "=", pipeline.connection_id)
    .executeTakeFirst();
  if (!ends) throw new ControlError("not_found", { resource: "pipeline" });
  const isReading = jobType !== "clear";
  for (const id of [...(isReading ? [ends.source_connector] : []), ends.destination_connector])
    if (!(await isEnabled(db, id)))
      throw new ControlError("connector_disabled", { connector_id: id });
  return {
    workspaceId: pipeline.workspace_id,
    kind: "sync",
    subjectId: pipeline.id,
    pipelineId: pipeline.id,
    connectionId: pipeline.connection_id,
    jobType,
    trigger,
    options: { ...options },
    limits: [
      ...(isReading
        ? [`credential:${ends.credential_id}`, `provider:${ends.source_connector}`]
        : []),
      `destination:${ends.destination_id}`,
    ],
  };
}
