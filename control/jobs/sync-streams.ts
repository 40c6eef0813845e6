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
import { noteFact } from "../events/facts.ts";
import { isOfLog } from "../pipelines/modes.ts";
import { lockPipeline, type PipelineRow } from "../pipelines/rows.ts";
import {
  applySchemaChanges,
  type SchemaChange,
  type SchemaChangeResult,
  type StreamFailure,
} from "../pipelines/schema-changes.ts";
import {
  type AgreedStream,
  identityOf,
  type JobChoice,
  type JobStreams,
  jobStreams,
} from "../pipelines/selection.ts";
import { loadSelection, saveSelection } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import type { Db } from "../store/database.ts";
import type { SyncParts } from "./sync-parts.ts";

/** Changes that a log and an event name. */
const maxNamedChanges = 100;

export interface AttemptStreams extends JobStreams {
  /** The pipeline has other streams, which this attempt does not read. */
  readonly isPart: boolean;
  /** Streams that cannot be synced as agreed. */
  readonly failures: readonly StreamFailure[];
  /** Streams that the pipeline itself wants to be read from the beginning once. */
  readonly restarting: readonly StreamDescriptor[];
  /** The agreement that this attempt carries out. */
  readonly selectionVersion: number;
}

/**
 * Looks what is agreed and follows the source, in one step: whoever changes the pipeline does so
 * before it, or for the next attempt.
 * @throws SCHEMA_CHANGED when the pipeline was paused for it · not_found when it was deleted
 */
export async function chooseStreams(
  attempt: JobAttempt,
  { pipeline: { id }, destination }: SyncParts,
  discovered: readonly CatalogStream[],
): Promise<AttemptStreams> {
  const { job, services } = attempt;
  const { pipeline, changed, done } = await services.database.db
    .transaction()
    .execute(async (tx) => {
      const pipeline = await lockPipeline(tx, job.workspace_id, id);
      const { agreed, known } = await loadSelection(tx, id);
      const changed = applySchemaChanges({
        policy: pipeline.schema_change_policy,
        agreed,
        known,
        discovered,
        destinationModes: destination.syncModes,
      });
      const isSaved = changed.agreed !== agreed || changed.isPaused;
      const { selection_version } = isSaved ? await save(tx, attempt, pipeline, changed) : pipeline;
      const isSameAgreement =
        job.selection_version === pipeline.selection_version &&
        restartsOf(changed.agreed) === restartsOf(agreed);
      const done = isSameAgreement ? await statusesOf(tx, attempt) : new Map<string, string>();
      await noteSelection(tx, attempt, selection_version);
      return { pipeline: { ...pipeline, selection_version }, changed, done };
    });
  for (const change of changed.changes.slice(0, maxNamedChanges))
    attempt.log("warn", sentenceOf(change));
  if (changed.isPaused) throw new ConnectorError("SCHEMA_CHANGED");

  const choice = choiceOf(job.options);
  const isWanted = isChosen(choice.streams);
  // Streams of a log end at the same transaction, so all of them are read up to a new one.
  const ofLog = new Set(changed.streams.filter(isOfLog).map(({ stream }) => identityOf(stream)));
  const chosen = jobStreams(namingOf(pipeline), changed.streams, choice).streams.filter(
    ({ configured: { stream } }) =>
      ofLog.has(identityOf(stream)) || done.get(identityOf(stream)) !== "complete",
  );
  const streams = chosen.map(({ isRestart = false, ...stream }) => {
    // An earlier attempt has begun it anew: this one goes on from there.
    const isBegun = (done.get(identityOf(stream.configured.stream)) ?? "pending") !== "pending";
    return isRestart && !isBegun ? { ...stream, isRestart } : stream;
  });
  return {
    streams,
    catalog: { streams: streams.map(({ configured }) => configured) },
    isPart: streams.length < changed.streams.length,
    failures: [
      ...changed.failures.filter(({ stream }) => isWanted(stream)),
      ...goneSince(choice, changed),
    ],
    restarting: changed.streams.filter(({ isRestart }) => isRestart).map(({ stream }) => stream),
    selectionVersion: pipeline.selection_version,
  };
}

/** Streams that were asked for, and that the pipeline does not sync any more. */
function goneSince(
  { streams = [] }: JobChoice,
  { streams: synced, failures }: SchemaChangeResult,
): readonly StreamFailure[] {
  const known = new Set([...synced, ...failures].map(({ stream }) => identityOf(stream)));
  return streams
    .filter((stream) => !known.has(identityOf(stream)))
    .map((stream) => ({
      stream,
      error: new ConnectorError("STREAM_UNKNOWN", { stream: streamLabel(stream) }),
    }));
}

/** The streams whose saved state counts no more. */
const restartsOf = (agreed: readonly AgreedStream[]): string =>
  JSON.stringify(
    agreed.filter(({ isRestart }) => isRestart).map(({ stream }) => identityOf(stream)),
  );

/** The choice that was made with the job: `{streams?: [{name, namespace?}], full_refresh?}`. */
export function choiceOf(options: JobAttempt["job"]["options"]): JobChoice {
  const { streams, full_refresh } = options as {
    readonly streams?: readonly StreamDescriptor[];
    readonly full_refresh?: boolean;
  };
  return { streams, isFullRefresh: full_refresh === true };
}

function isChosen(
  streams: readonly StreamDescriptor[] | undefined,
): (stream: StreamDescriptor) => boolean {
  const chosen = streams && new Set(streams.map(identityOf));
  return (stream) => chosen?.has(identityOf(stream)) ?? true;
}

/** The statuses that earlier attempts of this job have reached, by stream. */
async function statusesOf(
  tx: Db,
  { job, attempt }: JobAttempt,
): Promise<ReadonlyMap<string, string>> {
  if (attempt === 1) return new Map();
  const rows = await tx
    .selectFrom("job_streams")
    .select(["namespace", "name", "status"])
    .where("job_id", "=", job.id)
    .execute();
  return new Map(
    rows.map(({ namespace, name, status }) => [identityOf({ namespace, name }), status]),
  );
}

/** Notes the selection that the streams' statuses are about, for the attempts after this one. */
const noteSelection = (tx: Db, { job, attempt }: JobAttempt, version: number) =>
  tx
    .updateTable("jobs")
    .set({ selection_version: version })
    .where("id", "=", job.id)
    .where("attempt", "=", attempt)
    .where("status", "=", "running")
    .execute();

/**
 * Saves the streams that are agreed from now on, tells what has changed, and pauses a pipeline that
 * is to be paused.
 */
async function save(
  tx: Db,
  { services }: JobAttempt,
  { id, workspace_id, status }: PipelineRow,
  changed: SchemaChangeResult,
): Promise<Pick<PipelineRow, "selection_version">> {
  const version = await saveSelection(tx, id, changed);
  const { changes } = changed;
  if (changes.length > 0)
    await noteFact(tx, {
      workspaceId: workspace_id,
      type: "schema.changed",
      subjectId: id,
      facts: {
        changes: changes.slice(0, maxNamedChanges).map((change) => ({
          stream: streamLabel(change.stream),
          type: change.type,
          ...("column" in change ? { column: change.column } : {}),
        })),
        change_count: changes.length,
      },
      at: new Date(services.clock.now()),
    });
  if (!changed.isPaused || status !== "active") return version;
  await tx
    .updateTable("pipelines")
    .set((eb) => ({
      status: "paused" as const,
      pause_reason: "schema_changed",
      next_run_at: null,
      version: eb("version", "+", 1),
      updated_at: new Date(services.clock.now()),
    }))
    .where("id", "=", id)
    .execute();
  return version;
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
