import { createBatchHasher } from "../batches/hash-columns.ts";
import {
  type BatchInspector,
  createBatchInspector,
  createBatchMemory,
} from "../batches/inspect.ts";
import { createLineMemory } from "../batches/line-bytes.ts";
import { createLineRenderer, type LineRenderer } from "../batches/render-lines.ts";
import type { Batch } from "../contract/batch.ts";
import { budgets } from "../contract/budgets.ts";
import { type ConfiguredStream, streamLabel } from "../contract/catalog.ts";
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import type { HostEvent, ReadRequest, ReadSummary, StreamSummary } from "../contract/host.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import { sanitizeText } from "../filter/text.ts";
import { withHashedFields } from "../spec/hashed-fields.ts";
import { parseSelection } from "../spec/selection.ts";
import { batchFields } from "../wire/columns/fields.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import type { Run } from "./run.ts";

interface StreamProgress {
  readonly request: StreamRequest;
  readonly inspect: BatchInspector;
  /** Puts hashes in the place of the values that may not leave in plain. */
  readonly hash: (batch: Batch) => Batch;
  readonly render: LineRenderer;
  /** What the worker has said of it: a stream begins once, and says nothing after its end. */
  phase: "waiting" | "started" | "ended";
  status: "incomplete" | "complete";
  recordCount: number;
  sinceCheckpoint: number;
  /** Values of batches that the sink's lines could not say. */
  unsaidCount: number;
  /** Of its last state. */
  stateBytes: number;
  nulledCount: number;
  error?: ConnectorError;
}

/**
 * Reads the selected streams into the sink: every frame of rows passes the secret filter, every
 * state too, in the worker's order.
 * @throws CATALOG_INVALID, STREAM_UNKNOWN, SYNC_MODE_UNSUPPORTED, STATE_INVALID, TOO_MANY_TABLES
 * before anything is read
 */
export async function read(
  run: Run,
  request: ReadRequest,
  sink: Sink,
  emit: (event: HostEvent) => void,
): Promise<ReadSummary> {
  const requests = parseSelection(
    run.manifest,
    request.catalog,
    request.state ?? [],
    request.isIncrementalOptional
      ? (stream, reason) =>
          emit({
            type: "log",
            level: "warn",
            message: "The stream cannot be read incrementally and is read whole.",
            fields: { stream: sanitizeText(stream, run.secrets), reason },
          })
      : undefined,
  );
  // One batch is looked at and written at a time, of whatever stream.
  const memory = createBatchMemory();
  const rendered = createLineMemory();
  const streams: StreamProgress[] = requests.map((one) => ({
    request: one,
    inspect: createBatchInspector(batchFields(one), memory),
    hash: hasherOf(one, request.hashKey),
    render: createLineRenderer(one.stream, sink.lineFormat, rendered),
    phase: "waiting",
    status: "incomplete",
    recordCount: 0,
    sinceCheckpoint: 0,
    unsaidCount: 0,
    stateBytes: 0,
    nulledCount: 0,
  }));
  let byteCount = 0;
  let stateBytes = 0;
  let failure: ConnectorError | undefined;
  const find = (index: number): StreamProgress => {
    const progress = streams[index];
    if (!progress) throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "an unknown stream" });
    return progress;
  };
  const started = (index: number): StreamProgress => {
    const progress = find(index);
    if (progress.phase === "waiting") throw outOfOrder("output of a stream before its start");
    if (progress.phase === "ended") throw outOfOrder("output of a stream after its end");
    return progress;
  };

  const count = (progress: StreamProgress, rowCount: number, bytes: number) => {
    progress.recordCount += rowCount;
    progress.sinceCheckpoint += rowCount;
    byteCount += bytes;
  };

  try {
    await sink.open(requests.map(toConfiguredStream));
    await run.execute(
      { verb: "read", selection: requests },
      {
        async onBatch(index, payload) {
          const progress = started(index);
          const { stream } = progress.request;
          const inspected = progress.inspect(payload);
          const redacted = run.withRedactionEvent(
            "records",
            () => run.secrets.redactBatch(inspected),
            streamLabel(stream),
          );
          const batch = progress.hash(redacted);
          if (sink.writeBatch) {
            await sink.writeBatch(stream, batch);
            return count(progress, batch.rowCount, payload.length);
          }
          const { lines, nulledCount } = progress.render(batch, run.now());
          progress.unsaidCount += nulledCount;
          await sink.write(stream, lines, batch.rowCount);
          count(progress, batch.rowCount, lines.length);
        },
        async onCheckpoint(index, state) {
          const progress = started(index);
          const filtered = filterState(run, progress, state);
          stateBytes += filtered.bytes - progress.stateBytes;
          progress.stateBytes = filtered.bytes;
          if (stateBytes > budgets.state.together)
            throw tooLargeState(progress, budgets.state.together);
          await sink.checkpoint(progress.request.stream, filtered.state, progress.sinceCheckpoint);
          progress.sinceCheckpoint = 0;
        },
        async onStatus(index, message) {
          if (message.status === "started") {
            const progress = find(index);
            if (progress.phase !== "waiting") throw outOfOrder("a stream begins twice");
            progress.phase = "started";
            return sink.status(progress.request.stream, "started");
          }
          const progress = started(index);
          progress.phase = "ended";
          progress.nulledCount = countOf(message.nulledCount) + progress.unsaidCount;
          emitDropped(run, message, progress, emit);
          if (message.status === "complete") progress.status = "complete";
          else if (message.status === "incomplete")
            progress.error = run.sanitizeError(fromErrorRecord(message.error));
          else throw outOfOrder("a status that does not exist");
          await sink.status(progress.request.stream, progress.status);
        },
      },
    );
    const unfinished = streams.find(
      ({ status, error }) => status === "incomplete" && error === undefined,
    );
    if (unfinished)
      throw new ConnectorError("CONNECTOR_PROTOCOL", {
        problem: "it ended before its streams did",
      });
  } catch (error) {
    failure = run.sanitizeError(error);
    const open = streams.find(
      ({ status, error: own }) => status === "incomplete" && own === undefined,
    );
    if (open) open.error = failure;
  } finally {
    await sink.close().catch((error: unknown) => {
      failure ??= run.sanitizeError(error);
    });
  }
  return summarize(run, streams, byteCount, failure);
}

/** @throws CATALOG_INVALID for hashes without a key: nothing would leave in plain instead */
function hasherOf(
  { stream, hashedFields }: StreamRequest,
  key: Uint8Array | undefined,
): (batch: Batch) => Batch {
  if (hashedFields === undefined) return (batch) => batch;
  if (key === undefined)
    throw new ConnectorError("CATALOG_INVALID", {
      path: `hashed_fields of ${streamLabel(stream)}`,
      problem: "need a key, and there is none: give one with --hash-key FILE",
    });
  return createBatchHasher(hashedFields, key);
}

const outOfOrder = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });

/** @throws CONNECTOR_PROTOCOL when it is no count that a stream of rows can have */
function countOf(value: JsonValue | undefined): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw outOfOrder("a count that is none");
}

function filterState(
  run: Run,
  progress: StreamProgress,
  state: JsonValue,
): { state: JsonValue; bytes: number } {
  const line = Buffer.from(`${JSON.stringify(state)}\n`);
  if (line.length > budgets.state.bytes) throw tooLargeState(progress, budgets.state.bytes);
  const label = streamLabel(progress.request.stream);
  const filtered = run.withRedactionEvent("state", () => run.secrets.redactLines(line), label);
  return {
    state: filtered === line ? state : (JSON.parse(filtered.toString()) as JsonValue),
    bytes: line.length,
  };
}

function tooLargeState({ request }: StreamProgress, limit: number): ConnectorError {
  return new ConnectorError("STATE_TOO_LARGE", { stream: streamLabel(request.stream), limit });
}

/** Most names of undeclared fields that are reported for one stream. */
const maxDroppedNames = 20;

function emitDropped(
  run: Run,
  message: JsonObject,
  { request }: StreamProgress,
  emit: (event: HostEvent) => void,
): void {
  const fields = Array.isArray(message.droppedFields)
    ? message.droppedFields.filter((name) => typeof name === "string")
    : [];
  if (fields.length === 0) return;
  // The names come from the provider.
  const safe = fields
    .slice(0, maxDroppedNames)
    .map((name) => sanitizeText(String(name), run.secrets));
  emit({ type: "dropped", stream: streamLabel(request.stream), fields: safe });
}

function toConfiguredStream({
  stream,
  syncMode,
  cursorField,
  selectedFields,
  hashedFields,
  rowFilter,
}: StreamRequest): ConfiguredStream {
  return withHashedFields({
    stream,
    sync_mode: syncMode,
    ...(cursorField === undefined ? {} : { cursor_field: [cursorField] }),
    ...(selectedFields === undefined ? {} : { selected_fields: selectedFields }),
    ...(hashedFields === undefined ? {} : { hashed_fields: hashedFields }),
    ...(rowFilter === undefined ? {} : { row_filter: rowFilter }),
  });
}

function summarize(
  run: Run,
  streams: readonly StreamProgress[],
  byteCount: number,
  failure: ConnectorError | undefined,
): ReadSummary {
  const error = failure ?? streams.find((stream) => stream.error)?.error;
  const sum = (pick: (stream: StreamProgress) => number) =>
    streams.reduce((total, stream) => total + pick(stream), 0);
  return {
    status: error?.code === "CANCELLED" ? "cancelled" : error ? "failed" : "succeeded",
    recordCount: sum(({ recordCount }) => recordCount),
    byteCount,
    requestCount: run.broker.requestCount,
    nulledCount: sum(({ nulledCount }) => nulledCount),
    redactedCount: run.secrets.hitCount,
    streams: streams.map(toStreamSummary),
    ...(error ? { error: error.toRecord() } : {}),
  };
}

function toStreamSummary({
  request,
  status,
  recordCount,
  nulledCount,
  error,
}: StreamProgress): StreamSummary {
  const stream = streamLabel(request.stream);
  return {
    stream,
    status,
    recordCount,
    nulledCount,
    ...(error ? { error: error.toRecord(stream) } : {}),
  };
}
