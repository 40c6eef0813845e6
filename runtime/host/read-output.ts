/** The output of a worker while it reads: checked, filtered, counted, and handed on to the sink. */
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
import { streamLabel } from "../contract/catalog.ts";
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import type { HostEvent } from "../contract/host.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import { sanitizeText } from "../filter/text.ts";
import { batchFields } from "../wire/columns/fields.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import { createTurns } from "./lanes.ts";
import type { Run } from "./run.ts";
import type { SessionHandlers } from "./worker-output.ts";

export interface StreamProgress {
  readonly request: StreamRequest;
  readonly inspect: BatchInspector;
  /** Puts hashes in the place of the values that may not leave in plain. */
  readonly hash: (batch: Batch) => Batch;
  readonly render: LineRenderer;
  /** The worker's word for it: a stream begins once, and says nothing after its end. */
  phase: "waiting" | "started" | "ended";
  status: "incomplete" | "complete";
  recordCount: number;
  sinceCheckpoint: number;
  /** Values of batches that the sink's lines could not say, or its place not hold. */
  unsaidCount: number;
  /** Bytes of its last state. */
  stateBytes: number;
  /** Values that the worker left out. */
  nulledCount: number;
  error?: ConnectorError;
}

export interface ReadOutput {
  readonly streams: readonly StreamProgress[];
  readonly byteCount: number;
  /** The receivers of a worker that reads some of the streams, which it numbers from 0 on. */
  receive(part: readonly StreamProgress[]): SessionHandlers;
}

/** @throws CATALOG_INVALID */
export function createReadOutput(
  run: Run,
  requests: readonly StreamRequest[],
  hashKey: Uint8Array | undefined,
  sink: Sink,
  emit: (event: HostEvent) => void,
): ReadOutput {
  // One batch is looked at and written at a time, of whatever stream.
  const memory = createBatchMemory();
  const rendered = createLineMemory();
  const inTurn = createTurns();
  const streams: StreamProgress[] = requests.map((request) => ({
    request,
    inspect: createBatchInspector(batchFields(request), memory),
    hash: hasherOf(request, hashKey),
    render: createLineRenderer(request.stream, sink.lineFormat, rendered),
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

  const count = (progress: StreamProgress, rowCount: number, bytes: number) => {
    progress.recordCount += rowCount;
    progress.sinceCheckpoint += rowCount;
    byteCount += bytes;
  };

  async function write(progress: StreamProgress, payload: Buffer): Promise<void> {
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
    if (!sink.write) throw new ConnectorError("INTERNAL");
    await sink.write(stream, lines, batch.rowCount);
    count(progress, batch.rowCount, lines.length);
  }

  async function checkpoint(progress: StreamProgress, state: JsonValue): Promise<void> {
    const filtered = filterState(run, progress, state);
    stateBytes += filtered.bytes - progress.stateBytes;
    progress.stateBytes = filtered.bytes;
    if (stateBytes > budgets.state.together) throw tooLargeState(progress, budgets.state.together);
    await sink.checkpoint(progress.request.stream, filtered.state, progress.sinceCheckpoint);
    progress.sinceCheckpoint = 0;
  }

  async function end(progress: StreamProgress, message: JsonObject): Promise<void> {
    progress.phase = "ended";
    progress.nulledCount = countOf(message.nulledCount);
    emitDropped(run, message, progress, emit);
    if (message.status === "complete") progress.status = "complete";
    else if (message.status === "incomplete")
      progress.error = run.sanitizeError(fromErrorRecord(message.error));
    else throw outOfOrder("a status that does not exist");
    await sink.status(progress.request.stream, progress.status);
  }

  return {
    streams,
    get byteCount() {
      return byteCount;
    },
    receive(part) {
      const find = (index: number): StreamProgress => {
        const progress = part[index];
        if (!progress) throw outOfOrder("an unknown stream");
        return progress;
      };
      const started = (index: number): StreamProgress => {
        const progress = find(index);
        if (progress.phase === "waiting") throw outOfOrder("output of a stream before its start");
        if (progress.phase === "ended") throw outOfOrder("output of a stream after its end");
        return progress;
      };
      return {
        onBatch: (index, payload) => inTurn(() => write(started(index), payload)),
        onCheckpoint: (index, state) => inTurn(() => checkpoint(started(index), state)),
        onStatus: (index, message) =>
          inTurn(async () => {
            if (message.status !== "started") return end(started(index), message);
            const progress = find(index);
            if (progress.phase !== "waiting") throw outOfOrder("a stream begins twice");
            progress.phase = "started";
            await sink.status(progress.request.stream, "started");
          }),
      };
    },
  };
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
