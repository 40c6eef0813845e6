import { type ConfiguredStream, streamLabel } from "../contract/catalog.ts";
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import type { HostEvent, ReadRequest, ReadSummary, StreamSummary } from "../contract/host.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import { sanitizeText } from "../filter/text.ts";
import { parseSelection } from "../spec/selection.ts";
import { checkRowLines, createLineFormatter, type LineFormatter } from "../wire/record-line.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import type { Run } from "./run.ts";

/** Largest saved state of one stream. */
const maxStateBytes = 1024 * 1024;

interface Progress {
  readonly order: StreamRequest;
  readonly format: LineFormatter;
  isStarted: boolean;
  status: "incomplete" | "complete";
  recordCount: number;
  sinceCheckpoint: number;
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
  tell: (event: HostEvent) => void,
): Promise<ReadSummary> {
  const orders = parseSelection(run.manifest, request.catalog, request.state ?? []);
  const streams: Progress[] = orders.map((order) => ({
    order,
    format: createLineFormatter(order.stream, sink.lineFormat),
    isStarted: false,
    status: "incomplete",
    recordCount: 0,
    sinceCheckpoint: 0,
    nulledCount: 0,
  }));
  let byteCount = 0;
  let failure: ConnectorError | undefined;
  const find = (index: number): Progress => {
    const progress = streams[index];
    if (!progress) throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "an unknown stream" });
    return progress;
  };
  const start = async (progress: Progress): Promise<void> => {
    if (progress.isStarted)
      throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a stream begins twice" });
    progress.isStarted = true;
    await sink.status(progress.order.stream, "started");
  };

  try {
    await sink.open(orders.map(toConfiguredStream));
    await run.execute(
      { verb: "read", selection: orders },
      {
        async onRecords(index, rowCount, lines) {
          const progress = find(index);
          const hasNotes = checkRowLines(lines, rowCount);
          // Rows are searched for secrets before the envelope is put around them: it is ours, and
          // half of the bytes.
          const redact = (bytes: Buffer) =>
            run.telling(
              "records",
              () => run.secrets.redactLines(bytes),
              streamLabel(progress.order.stream),
            );
          const rows = hasNotes ? lines : redact(lines);
          const formatted = progress.format(rows, rowCount, hasNotes, run.now());
          const filtered = hasNotes ? redact(formatted) : formatted;
          await sink.write(progress.order.stream, filtered, rowCount);
          progress.recordCount += rowCount;
          progress.sinceCheckpoint += rowCount;
          byteCount += filtered.length;
        },
        async onCheckpoint(index, state) {
          const progress = find(index);
          await sink.checkpoint(
            progress.order.stream,
            filterState(run, progress, state),
            progress.sinceCheckpoint,
          );
          progress.sinceCheckpoint = 0;
        },
        async onStatus(index, message) {
          const progress = find(index);
          progress.nulledCount = Number(message.nulledCount) || 0;
          if (message.status === "started") return start(progress);
          tellDropped(run, message, progress, tell);
          if (message.status === "complete") progress.status = "complete";
          else progress.error = run.sanitizeError(fromErrorRecord(message.error));
          await sink.status(progress.order.stream, progress.status);
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

function filterState(run: Run, progress: Progress, state: JsonValue): JsonValue {
  const line = Buffer.from(`${JSON.stringify(state)}\n`);
  if (line.length > maxStateBytes) {
    throw new ConnectorError("STATE_TOO_LARGE", {
      stream: streamLabel(progress.order.stream),
      limit: maxStateBytes,
    });
  }
  const label = streamLabel(progress.order.stream);
  const filtered = run.telling("state", () => run.secrets.redactLines(line), label);
  return filtered === line ? state : (JSON.parse(filtered.toString()) as JsonValue);
}

/** Names of undeclared fields that are told of one stream. */
const maxDroppedNames = 20;

function tellDropped(
  run: Run,
  message: JsonObject,
  { order }: Progress,
  tell: (event: HostEvent) => void,
): void {
  const fields = Array.isArray(message.droppedFields)
    ? message.droppedFields.filter((name) => typeof name === "string")
    : [];
  if (fields.length === 0) return;
  // The names come from the provider.
  const safe = fields
    .slice(0, maxDroppedNames)
    .map((name) => sanitizeText(String(name), run.secrets));
  tell({ type: "dropped", stream: streamLabel(order.stream), fields: safe });
}

function toConfiguredStream({
  stream,
  syncMode,
  cursorField,
  selectedFields,
}: StreamRequest): ConfiguredStream {
  return {
    stream,
    sync_mode: syncMode,
    ...(cursorField === undefined ? {} : { cursor_field: [cursorField] }),
    ...(selectedFields === undefined ? {} : { selected_fields: selectedFields }),
  };
}

function summarize(
  run: Run,
  streams: readonly Progress[],
  byteCount: number,
  failure: ConnectorError | undefined,
): ReadSummary {
  const error = failure ?? streams.find((stream) => stream.error)?.error;
  const sum = (pick: (stream: Progress) => number) =>
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
  order,
  status,
  recordCount,
  nulledCount,
  error,
}: Progress): StreamSummary {
  const stream = streamLabel(order.stream);
  return {
    stream,
    status,
    recordCount,
    nulledCount,
    ...(error ? { error: error.toRecord(stream) } : {}),
  };
}
