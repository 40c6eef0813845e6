/**
 * The streams that one attempt of a sync reads: the agreed ones, as the source is today, without
 * what the job has done already.
 */
import {
  type CatalogStream,
  ConnectorError,
  type StreamDescriptor,
  streamLabel,
} from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import type { PipelineRow } from "../pipelines/rows.ts";
import {
  applySchemaChanges,
  type SchemaChange,
  type SchemaChangeResult,
  type StreamFailure,
} from "../pipelines/schema-changes.ts";
import { identityOf, type JobChoice, type JobStreams, jobStreams } from "../pipelines/selection.ts";
import { loadSelection, saveSelection } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import type { SyncParts } from "./sync-parts.ts";

/** Changes that a log names. */
const maxNamedChanges = 100;

export interface AttemptStreams extends JobStreams {
  /** Streams that cannot be synced as agreed. */
  readonly failures: readonly StreamFailure[];
  /** Streams that the pipeline itself wants to be read from the beginning once. */
  readonly restarting: readonly StreamDescriptor[];
}

/** @throws SCHEMA_CHANGED when the pipeline was paused for it */
export async function chooseStreams(
  attempt: JobAttempt,
  { pipeline, destination }: SyncParts,
  discovered: readonly CatalogStream[],
): Promise<AttemptStreams> {
  const { db } = attempt.services.database;
  const { agreed, known } = await loadSelection(db, pipeline.id);
  const changed = applySchemaChanges({
    policy: pipeline.schema_change_policy,
    agreed,
    known,
    discovered,
    destinationModes: destination.syncModes,
  });
  for (const change of changed.changes.slice(0, maxNamedChanges))
    attempt.log("warn", sentenceOf(change));
  if (changed.agreed !== agreed || changed.isPaused) await save(attempt, pipeline, changed);
  if (changed.isPaused) throw new ConnectorError("SCHEMA_CHANGED");

  const choice = choiceOf(attempt.job.options);
  const isWanted = isChosen(choice.streams);
  const done = await statusesOf(attempt);
  const chosen = jobStreams(namingOf(pipeline), changed.streams, choice).streams.filter(
    ({ configured }) => done.get(identityOf(configured.stream)) !== "complete",
  );
  const streams = chosen.map(({ isRestart = false, ...stream }) => {
    // An earlier attempt has begun it anew: this one goes on from there.
    const isBegun = (done.get(identityOf(stream.configured.stream)) ?? "pending") !== "pending";
    return isRestart && !isBegun ? { ...stream, isRestart } : stream;
  });
  return {
    streams,
    catalog: { streams: streams.map(({ configured }) => configured) },
    failures: changed.failures.filter(({ stream }) => isWanted(stream)),
    restarting: changed.streams.filter(({ isRestart }) => isRestart).map(({ stream }) => stream),
  };
}

/** The choice that was made with the job: `{streams?: [{name, namespace?}], full_refresh?}`. */
function choiceOf(options: JobAttempt["job"]["options"]): JobChoice {
  const { streams, full_refresh } = options as {
    readonly streams?: readonly StreamDescriptor[];
    readonly full_refresh?: boolean;
  };
  return { ...(streams === undefined ? {} : { streams }), isFullRefresh: full_refresh === true };
}

function isChosen(
  streams: readonly StreamDescriptor[] | undefined,
): (stream: StreamDescriptor) => boolean {
  const chosen = streams && new Set(streams.map(identityOf));
  return (stream) => chosen?.has(identityOf(stream)) ?? true;
}

/** The statuses that earlier attempts of this job have reached, by stream. */
async function statusesOf({
  services,
  job,
  attempt,
}: JobAttempt): Promise<ReadonlyMap<string, string>> {
  if (attempt === 1) return new Map();
  const rows = await services.database.db
    .selectFrom("job_streams")
    .select(["namespace", "name", "status"])
    .where("job_id", "=", job.id)
    .execute();
  return new Map(
    rows.map(({ namespace, name, status }) => [identityOf({ namespace, name }), status]),
  );
}

/**
 * Saves the streams that are agreed from now on. A pipeline that somebody has changed meanwhile
 * stays as they want it; the next job looks again.
 */
async function save(
  { services }: JobAttempt,
  { id, version }: PipelineRow,
  changed: SchemaChangeResult,
): Promise<void> {
  const { database, clock } = services;
  await database.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom("pipelines")
      .select(["version", "status"])
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!row || row.status === "deleted" || row.version !== version) return;
    await saveSelection(tx, id, changed);
    if (!changed.isPaused || row.status !== "active") return;
    await tx
      .updateTable("pipelines")
      .set((eb) => ({
        status: "paused" as const,
        pause_reason: "schema_changed",
        next_run_at: null,
        version: eb("version", "+", 1),
        updated_at: new Date(clock.now()),
      }))
      .where("id", "=", id)
      .execute();
  });
}

function sentenceOf(change: SchemaChange): string {
  const stream = streamLabel(change.stream);
  switch (change.type) {
    case "stream_added":
      return `The source has a new stream: ${stream}.`;
    case "stream_removed":
      return `The source has the stream ${stream} no more.`;
    case "key_changed":
      return `The primary key of ${stream} is another one.`;
    case "cursor_changed":
      return `The cursor of ${stream} is another one.`;
    case "column_added":
      return `${stream} has a new column: ${change.column}.`;
    case "column_removed":
      return `${stream} has the column ${change.column} no more.`;
    case "column_type_changed":
      return `The type of ${change.column} in ${stream} is another one.`;
  }
}
