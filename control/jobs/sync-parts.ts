/**
 * The parts of a sync are looked up and opened at the beginning of each attempt: rules may have
 * changed since it was made.
 */
import type {
  ConnectorReference,
  DestinationOptions,
  DestinationSyncMode,
  JsonObject,
  VerbOptions,
} from "svc-connectors/host";
import { checkBaseUrlOf } from "../connectors/configuration.ts";
import { requireEnabled } from "../connectors/registry.ts";
import type { JobAttempt } from "../contract/job.ts";
import { type CredentialRow, findCredential } from "../credentials/rows.ts";
import { openDestination, targetOf } from "../destinations/open.ts";
import { findDestination } from "../destinations/rows.ts";
import { findPipeline, type PipelineRow } from "../pipelines/rows.ts";
import { findSource } from "../sources/rows.ts";
import { openRun, type RunContext } from "../sources/runs.ts";

export interface SyncParts {
  readonly pipeline: PipelineRow;
  readonly source: {
    readonly reference: ConnectorReference;
    readonly credential: CredentialRow;
    /** With its secrets: it goes to the host and nowhere else. */
    readonly config: JsonObject;
    readonly options: VerbOptions;
  };
  readonly destination: {
    readonly reference: ConnectorReference;
    /** With its secrets. */
    readonly config: JsonObject;
    readonly options: DestinationOptions;
    readonly syncModes: readonly DestinationSyncMode[];
    /** Between the beginnings of two rounds of a pipeline that follows a log. */
    readonly minRoundMs: number;
  };
}

/**
 * @throws not_found, connector_disabled, invalid_base_url, credential_mismatch,
 * credential_not_usable, oauth_app_missing
 */
export async function openParts(attempt: JobAttempt): Promise<SyncParts> {
  const { ctx, job, pipeline, isNew } = await beginAttempt(attempt);
  return {
    pipeline,
    source: await openSource(ctx, job, pipeline, isNew),
    destination: await openWarehouse(ctx, job, pipeline, isNew),
  };
}

/** As {@link openParts}, for what does not touch the source. */
export async function openDestinationPart(
  attempt: JobAttempt,
): Promise<Pick<SyncParts, "pipeline" | "destination">> {
  const { ctx, job, pipeline, isNew } = await beginAttempt(attempt);
  return { pipeline, destination: await openWarehouse(ctx, job, pipeline, isNew) };
}

async function beginAttempt({ services, job, attempt, secrets, signal }: JobAttempt) {
  const { db } = services.database;
  await services.connectors.reload();
  const ctx: RunContext = { services, db, secrets, signal, now: new Date(services.clock.now()) };
  const pipeline = await findPipeline(db, job.workspace_id, job.pipeline_id ?? "");
  // A definition that was disabled stops new jobs; what is under way comes to its end.
  return { ctx, job, pipeline, isNew: attempt === 1 };
}

type Job = JobAttempt["job"];

async function openSource(
  ctx: RunContext,
  job: Job,
  { source_id }: PipelineRow,
  isNew: boolean,
): Promise<SyncParts["source"]> {
  const { connectors } = ctx.services;
  const row = await findSource(ctx.db, job.workspace_id, source_id);
  const definition = connectors.get(row.connector_id);
  if (isNew) await requireEnabled(ctx.db, definition);
  const credential = await findCredential(ctx.db, job.workspace_id, row.credential_id);
  const settings = { ...(credential.metadata as JsonObject), ...(row.configuration as JsonObject) };
  const manifest = await connectors.manifest(definition);
  const configuration = checkBaseUrlOf(ctx, manifest, settings, "configuration", credential);
  const { config, options } = await openRun(ctx, { definition, credential, configuration }, "sync");
  return { reference: definition.reference, credential, config, options };
}

async function openWarehouse(
  ctx: RunContext,
  job: Job,
  { destination_id }: PipelineRow,
  isNew: boolean,
): Promise<SyncParts["destination"]> {
  const target = await targetOf(
    ctx,
    await findDestination(ctx.db, job.workspace_id, destination_id),
  );
  const { definition } = target;
  if (isNew) await requireEnabled(ctx.db, definition);
  const { syncModes, minRoundMs } = await ctx.services.connectors.destination(definition);
  return {
    reference: definition.reference,
    syncModes,
    minRoundMs,
    ...(await openDestination(ctx, target, "sync")),
  };
}
