import { isEnabled } from "../connectors/registry.ts";
import { createId } from "../contract/ids.ts";
import { ControlError } from "../contract/reasons.ts";
import { enqueueJob, findOpenJob } from "../jobs/enqueue.ts";
import type { Db } from "../store/database.ts";
import type { Trigger } from "../store/tables.ts";
import { type ActivationRow, findModel, findReverseDestination } from "./rows.ts";
import { noRows } from "./run-row.ts";

export interface RunOptions {
  readonly fullResync?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * Makes a run and its job, in the caller's transaction; afterwards `services.jobs.wake()` tells the
 * workers.
 * @returns the run's id
 * @throws run_in_progress naming the run that is under way · connector_disabled, of either end
 */
export async function startRun(
  tx: Db,
  activation: ActivationRow,
  trigger: Trigger,
  { fullResync = false, dryRun = false }: RunOptions,
  now: Date,
): Promise<string> {
  await requireNoRun(tx, activation.id);
  await requireConnectors(tx, activation);
  const id = createId("run");
  const { workspace_id: workspaceId } = activation;
  const model = await findModel(tx, workspaceId, activation.model_id);
  const destination = await findReverseDestination(tx, workspaceId, activation.destination_id);
  const jobId = await enqueueJob(
    tx,
    {
      workspaceId,
      kind: "reverse_etl",
      subjectId: activation.id,
      jobType: "sync",
      trigger,
      options: { runId: id },
      limits: [
        `destination:${model.destination_id}`,
        ...(destination.credential_id === null ? [] : [`credential:${destination.credential_id}`]),
      ],
    },
    now,
  );
  await insertRun(tx, activation, { id, jobId, trigger, fullResync, dryRun }, now);
  return id;
}

/**
 * @throws connector_disabled naming the one of the warehouse, or of the destination's credential
 */
async function requireConnectors(
  tx: Db,
  { model_id, destination_id }: ActivationRow,
): Promise<void> {
  const warehouse = tx
    .selectFrom("reverse_etl_models")
    .innerJoin("destinations", "destinations.id", "reverse_etl_models.destination_id")
    .select("destinations.connector_id")
    .where("reverse_etl_models.id", "=", model_id);
  const target = tx
    .selectFrom("reverse_etl_destinations")
    .innerJoin("credentials", "credentials.id", "reverse_etl_destinations.credential_id")
    .select("credentials.connector_id")
    .where("reverse_etl_destinations.id", "=", destination_id);
  for (const { connector_id } of await warehouse.union(target).execute())
    if (!(await isEnabled(tx, connector_id)))
      throw new ControlError("connector_disabled", { connector_id });
}

/** Notes that the time for a run came while another one was under way. */
export const skipRun = (tx: Db, activation: ActivationRow, now: Date): Promise<void> =>
  insertRun(
    tx,
    activation,
    { id: createId("run"), jobId: null, trigger: "schedule", fullResync: false, dryRun: false },
    now,
  );

interface NewRun extends Required<RunOptions> {
  readonly id: string;
  /** Null: it is skipped. */
  readonly jobId: string | null;
  readonly trigger: Trigger;
}

async function insertRun(tx: Db, activation: ActivationRow, run: NewRun, now: Date): Promise<void> {
  const counts = JSON.stringify(noRows);
  await tx
    .insertInto("reverse_etl_runs")
    .values({
      id: run.id,
      workspace_id: activation.workspace_id,
      activation_id: activation.id,
      job_id: run.jobId,
      status: run.jobId === null ? "skipped" : "queued",
      trigger: run.trigger,
      full_sync: run.fullResync ?? false,
      dry_run: run.dryRun ?? false,
      query_size: null,
      planned: counts,
      successful: counts,
      failed: counts,
      error: null,
      created_at: now,
      started_at: null,
      finished_at: run.jobId === null ? now : null,
    })
    .execute();
}

/** @throws run_in_progress naming the run */
export async function requireNoRun(db: Db, activationId: string): Promise<void> {
  const open = await findOpenJob(db, activationId);
  if (open) throw new ControlError("run_in_progress", { runId: open.options.runId ?? null });
}
