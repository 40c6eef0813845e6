/**
 * One attempt of a sync: opens both sides, agrees on the streams, reads into the destination, and
 * says what came of it.
 */
import {
  batchBytes,
  type DestinationSink,
  eventLevel,
  eventText,
  type Host,
  type HostEvent,
  type ReadRequest,
  type ReadSummary,
  type Sink,
  type StreamDescriptor,
  streamLabel,
  type VerbOptions,
  withHashedFields,
} from "svc-connectors/host";
import type { AttemptResult, JobAttempt, JobRunner } from "../contract/job.ts";
import { noteOutcome } from "../credentials/outcome.ts";
import { noteRestarted } from "../pipelines/streams.ts";
import type { Failure } from "../store/tables.ts";
import type { LabelsOf } from "../telemetry/metrics.ts";
import { openHashKey } from "../vault/hash-key.ts";
import { type ChangedColumns, createChangedColumns } from "./changed-columns.ts";
import { clearStreams, runClear } from "./clear.ts";
import { type Comparison, compareKeys, isFollowed } from "./compare-keys.ts";
import { toAttemptResult, toFailure } from "./failure.ts";
import { again, follow } from "./follow.ts";
import { createLag, type Lag } from "./lag.ts";
import { createLeftOut, type LeftOut } from "./left-out.ts";
import { openParts, type SyncParts } from "./sync-parts.ts";
import { type AttemptStreams, chooseStreams } from "./sync-streams.ts";

export const createSyncRunner =
  (host: Host): JobRunner =>
  async (attempt) => {
    if (attempt.job.job_type === "clear") return await runClear(attempt);
    // Who fails: what is asked of the source until the destination is opened, or the other way
    // round.
    const failing: FailureOrigin = { origin: "source" };
    try {
      const parts = await openParts(attempt);
      const { source } = parts;
      const { telemetry, connectors } = attempt.services;
      const verb = { ...source.options, onEvent: toLog(attempt, source.options) };
      const facts = {
        source: connectors.idOf(source.reference.url),
        destination: connectors.idOf(parts.destination.reference.url),
      };
      const discovered = await telemetry.inSpan("discover", facts, () =>
        host.discover(source.reference, source.config, verb),
      );
      const streams = await chooseStreams(attempt, parts, discovered);
      if (attempt.job.job_type === "reset") {
        failing.origin = "destination";
        // Those that an earlier attempt has begun to read anew were cleared by it.
        await clearStreams(
          attempt,
          parts,
          streams.streams.filter(({ isRestart }) => isRestart),
        );
        failing.origin = "source";
      }
      const hashKey = await hashKeyOf(attempt, streams);
      const round = (of: AttemptStreams, waitMs?: number) =>
        bring(host, attempt, parts, of, { failing, facts, hashKey, waitMs });
      const following = follow(attempt, parts, streams);
      let result = await round(streams);
      while (result.status === "succeeded") {
        const waitMs = await following.nextWait();
        if (waitMs === undefined) break;
        result = await round(again(streams), waitMs);
      }
      return following.end(result);
    } catch (error) {
      return toAttemptResult(error, failing.origin, now(attempt));
    }
  };

interface Round {
  readonly failing: FailureOrigin;
  readonly facts: Ends;
  readonly hashKey: ReadRequest["hashKey"];
  /** How long changes may be waited for; undefined: it is the first round. */
  readonly waitMs: number | undefined;
}

/** Brings the streams to the destination once. */
async function bring(
  host: Host,
  attempt: JobAttempt,
  parts: SyncParts,
  streams: AttemptStreams,
  round: Round,
): Promise<AttemptResult> {
  const { telemetry, database } = attempt.services;
  const { facts, failing, hashKey } = round;
  const notes = {
    leftOut: createLeftOut(),
    changedColumns: createChangedColumns(attempt),
    lag: createLag(attempt),
  };
  const summary = await telemetry.inSpan("read", facts, () =>
    read(host, attempt, parts, streams, round, notes),
  );
  if (summary?.status === "succeeded") notes.lag.end();
  await notes.changedColumns.note(database.db, parts.pipeline.id);
  await notes.leftOut.note(database.db, attempt, parts.pipeline.id, summary);
  const verb = { ...parts.source.options, onEvent: toLog(attempt, parts.source.options) };
  const comparison = await telemetry.inSpan("compare keys", facts, () =>
    compareKeys(host, attempt, parts, { streams: streams.streams, summary, hashKey, verb }),
  );
  return await conclude(attempt, parts, streams, { summary, comparison }, failing);
}

/** Ids of the connectors, for metrics and traces. */
type Ends = LabelsOf<"svc_rows_committed_total">;

interface FailureOrigin {
  origin: Failure["origin"];
}

const now = ({ services }: JobAttempt) => new Date(services.clock.now());

const levels = { DEBUG: "debug", INFO: "info", WARN: "warn" } as const;

/** @param isWhole false: of what is done over and over only warnings stay in the log */
const toLog =
  (attempt: JobAttempt, { onEvent }: VerbOptions = {}, isWhole = true) =>
  (event: HostEvent) => {
    onEvent?.(event);
    const level = levels[eventLevel(event)];
    if (isWhole || level === "warn") attempt.log(level, eventText(event));
  };

/** Notes for people, besides the rows. */
interface Notes {
  readonly leftOut: LeftOut;
  readonly changedColumns: ChangedColumns;
  readonly lag: Lag;
}

/** Undefined: nothing is hashed. */
const hashKeyOf = async ({ services, job }: JobAttempt, { catalog }: AttemptStreams) =>
  catalog.streams.some(({ hashed_fields }) => hashed_fields)
    ? await openHashKey(services.database.db, services.vault, job.workspace_id)
    : undefined;

async function read(
  host: Host,
  attempt: JobAttempt,
  { source, destination, pipeline }: SyncParts,
  { catalog, streams, isPart }: AttemptStreams,
  { failing, facts, hashKey, waitMs }: Round,
  { leftOut, changedColumns, lag }: Notes,
): Promise<ReadSummary | undefined> {
  const { services, job, fence, progress } = attempt;
  progress.expect(catalog.streams.map(({ stream }) => stream));
  if (streams.length === 0) return undefined;
  if (waitMs === undefined) attempt.log("info", "Streams are read.", { streams: streams.length });
  const { reference, config, options } = destination;
  failing.origin = "destination";
  await using opened = await services.destinations.write(
    reference,
    config,
    {
      owner: pipeline.connection_id,
      jobId: job.id,
      fence,
      streams: streams.map((one) => ({ ...one, configured: withHashedFields(one.configured) })),
      onColumnChanged(change) {
        changedColumns.add(change);
        leftOut.onColumnChanged(change);
      },
      onCommitted({ stream, rowCount }) {
        progress.add(stream, { committed: rowCount });
        services.telemetry.count("svc_rows_committed_total", facts, rowCount);
      },
    },
    { ...options, onEvent: toLog(attempt, {}, waitMs === undefined) },
  );
  failing.origin = "source";
  const followed = streams
    .filter(isFollowed)
    .map(({ configured }) => streamLabel(configured.stream));
  const sink = observe(opened.sink, attempt, failing, facts, new Set(followed));
  try {
    const request = {
      config: source.config,
      catalog,
      state: opened.sink.savedState(),
      hashKey,
      isPart,
      waitMs,
      parallelStreams: pipeline.parallel_streams,
    };
    const log = toLog(attempt, source.options, waitMs === undefined);
    return await host.read(source.reference, request, sink, {
      ...source.options,
      onEvent: (event) => {
        leftOut.onEvent(event);
        lag.onEvent(event);
        log(event);
      },
    });
  } finally {
    // A read that never began has not closed it; one that has says itself how that went.
    await sink.close().catch(() => undefined);
  }
}

/**
 * The sink, counted; what fails in it is the destination's. Closed once.
 * @param followed labels of streams that are not complete before their keys were compared
 */
function observe(
  sink: DestinationSink,
  { progress, services: { telemetry } }: JobAttempt,
  failing: FailureOrigin,
  facts: Ends,
  followed: ReadonlySet<string>,
): Sink {
  const recordSpan = telemetry.here();
  let closing: Promise<void> | undefined;
  const ofDestination = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      failing.origin = "destination";
      throw error;
    }
  };
  const note = (stream: StreamDescriptor, emitted: number, bytes: number) => {
    progress.add(stream, { emitted, bytes });
    telemetry.count("svc_bytes_written_total", facts, bytes);
  };
  const { writeBatch, write } = sink;
  return {
    lineFormat: sink.lineFormat,
    open: (streams) => ofDestination(sink.open(streams)),
    ...(write && {
      async write(stream, lines, rowCount) {
        const bytes = lines.length;
        await ofDestination(write.call(sink, stream, lines, rowCount));
        note(stream, rowCount, bytes);
      },
    }),
    ...(writeBatch && {
      async writeBatch(stream, batch) {
        await ofDestination(writeBatch.call(sink, stream, batch));
        note(stream, batch.rowCount, batchBytes(batch));
      },
    }),
    async checkpoint(stream, state, rowCount) {
      const startedMs = performance.now();
      await ofDestination(sink.checkpoint(stream, state, rowCount));
      if (rowCount > 0)
        recordSpan("commit", { ...facts, rows: rowCount }, performance.now() - startedMs);
    },
    async status(stream, status) {
      await ofDestination(sink.status(stream, status));
      if (status === "complete" && followed.has(streamLabel(stream))) return;
      progress.status(stream, status === "started" ? "running" : status);
    },
    close() {
      closing ??= ofDestination(sink.close());
      return closing;
    },
    nulledCount: (stream) => sink.nulledCount?.(stream) ?? 0,
  };
}

async function conclude(
  attempt: JobAttempt,
  { source, pipeline }: SyncParts,
  { catalog, failures, restarting, selectionVersion }: AttemptStreams,
  {
    summary,
    comparison,
  }: { readonly summary: ReadSummary | undefined; readonly comparison: Comparison },
  { origin }: FailureOrigin,
): Promise<AttemptResult> {
  const { services, progress } = attempt;
  const { db } = services.database;
  const at = now(attempt);
  const completed: StreamDescriptor[] = [];
  const failed: { readonly failure: Failure; readonly retryAfterMs: number | undefined }[] = [];
  if (summary?.error) {
    const { retryAfterMs } = summary.error;
    failed.push({ failure: toFailure(summary.error, origin, at), retryAfterMs });
  }
  const byLabel = new Map(catalog.streams.map(({ stream }) => [streamLabel(stream), stream]));
  for (const { stream: label, status, error } of summary?.streams ?? []) {
    const stream = byLabel.get(label);
    if (!stream) continue;
    if (status === "complete") completed.push(stream);
    else if (error) {
      const failure = toFailure(error, origin, at);
      progress.status(stream, "incomplete", failure);
      failed.push({ failure, retryAfterMs: error.retryAfterMs });
    }
  }
  for (const { stream, error } of failures) {
    const failure = toFailure(error.toRecord(streamLabel(stream)), "source", at);
    progress.status(stream, "incomplete", failure);
    failed.push({ failure, retryAfterMs: undefined });
  }
  for (const { stream, error, origin: side } of comparison.failures) {
    const failure = toFailure(error, side, at);
    progress.status(stream, "incomplete", failure);
    failed.push({ failure, retryAfterMs: error.retryAfterMs });
  }
  if (restarting.length > 0) await noteRestarted(db, pipeline.id, selectionVersion, completed);
  if (origin === "source") await noteOutcome(db, source.credential, summary?.error?.code, at);
  if (summary?.status === "cancelled" || comparison.isCancelled) return { status: "cancelled" };
  // A failure that may pass is worth another attempt, also beside one that will not.
  const first = failed.find(({ failure }) => failure.retryable) ?? failed[0];
  if (!first) return { status: "succeeded" };
  const { failure, retryAfterMs } = first;
  return { status: "failed", failure, retryAfterMs };
}
