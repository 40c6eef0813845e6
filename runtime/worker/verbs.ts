import type { Batch } from "../contract/batch.ts";
import type { CatalogStream } from "../contract/catalog.ts";
import type { Context } from "../contract/context.ts";
import type { Egress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import type { Output, Row } from "../contract/output.ts";
import type { Source } from "../contract/source.ts";
import type { SelectedStream, Stream } from "../contract/stream.ts";
import { batchRanges, packBatch, packedBytes, packNotes } from "../wire/columns/pack.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import { stringifyExact } from "../wire/exact-json.ts";
import { type FrameWriter, frameKind } from "../wire/frames.ts";
import type { StreamRequest } from "../wire/verb-request.ts";
import { describeFailure } from "./failure.ts";
import { toCatalogStream } from "./load.ts";
import { compileRecordWriter } from "./records/writer.ts";

type AnyContext = Context<never, Egress>;

export async function check(source: Source, context: AnyContext): Promise<void> {
  await source.check(context);
}

/** Characters of streams that are sent to the host at once; one stream may have more. */
const catalogPartChars = 128 * 1024;

/** Sends the catalog in parts. @throws TOO_MANY_TABLES at the first stream beyond `maxStreams` */
export async function discover(
  source: Source,
  context: AnyContext,
  writer: FrameWriter,
  maxStreams: number,
): Promise<void> {
  let part: string[] = [];
  let partChars = 0;
  let found = 0;
  const send = async () => {
    writer.send(frameKind.streams, 0, Buffer.from(`[${part.join(",")}]`));
    part = [];
    partChars = 0;
    await writer.drained();
  };
  for await (const stream of source.discover?.(context) ?? source.streams ?? []) {
    if (++found > maxStreams) {
      const hint = "Narrow the selection with the connector's include and exclude settings.";
      throw new ConnectorError("TOO_MANY_TABLES", { found, limit: maxStreams, hint });
    }
    const text = JSON.stringify(toCatalogStream(stream));
    part.push(text);
    partChars += text.length;
    if (partChars >= catalogPartChars) await send();
  }
  await send();
}

/** @throws ENTITIES_UNSUPPORTED when the connector has none */
export async function entities(
  source: Source,
  context: AnyContext,
  writer: FrameWriter,
  input: JsonObject,
): Promise<void> {
  if (!source.entities) throw new ConnectorError("ENTITIES_UNSUPPORTED");
  const result: unknown = await source.entities(context, deepFreeze(input));
  if (!isJsonObject(result)) {
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "entities must give an object" });
  }
  writer.sendJson(frameKind.result, 0, result);
}

/**
 * Reads the selected streams one after another. A failure ends its stream only; cancelling ends
 * all.
 */
export async function read(
  source: Source,
  context: AnyContext,
  writer: FrameWriter,
  selection: readonly StreamRequest[],
  signal: AbortSignal,
): Promise<void> {
  for (const [index, request] of selection.entries()) {
    if (signal.aborted) throw new ConnectorError("CANCELLED");
    writer.sendJson(frameKind.status, index, { status: "started" });
    const output = createStreamOutput(selectStream(source, request), index, writer);
    try {
      await readStream(source, context, request, output, signal);
      await output.flush();
      writer.sendJson(frameKind.status, index, { status: "complete", ...output.summary() });
    } catch (error) {
      // rows before the failure stand; the failure itself is reported
      await output.flush().catch(() => {});
      writer.sendJson(frameKind.status, index, {
        status: "incomplete",
        ...output.summary(),
        error: describeFailure(error),
      });
    }
  }
}

async function readStream(
  source: Source,
  context: AnyContext,
  request: StreamRequest,
  output: StreamOutput,
  signal: AbortSignal,
): Promise<void> {
  const state = isBeginning(request.state) ? undefined : deepFreeze(structuredClone(request.state));
  for await (const item of source.read(context, output.stream, state as never) as AsyncIterable<
    Output<JsonValue>
  >) {
    if (signal.aborted) throw new ConnectorError("CANCELLED");
    if (item?.type === "records") await output.records(item.rows);
    else if (item?.type === "batch") await output.batch(item.batch);
    else if (item?.type === "checkpoint") await output.checkpoint(item.state);
    else
      throw new ConnectorError("CONNECTOR_PROTOCOL", {
        problem: "read yielded neither rows nor a checkpoint",
      });
  }
  // A finished full refresh starts anew next time; an incremental one that saw nothing stays where
  // it was.
  if (request.syncMode === "full_refresh") await output.checkpoint({});
  else if (!output.hasCheckpoint()) await output.checkpoint(request.state ?? {});
}

const isBeginning = (state: JsonValue | undefined) =>
  state === undefined ||
  state === null ||
  (typeof state === "object" && Object.keys(state).length === 0);

/**
 * The author's stream where the source has a fixed list, with the user's choices; else the stream
 * of the configured catalog.
 */
function selectStream(source: Source, request: StreamRequest): SelectedStream {
  const { stream } = request;
  const own = source.streams?.find(
    (one) => one.name === stream.name && one.namespace === stream.namespace,
  );
  const cursorField = request.cursorField ?? own?.cursorField;
  return {
    ...(own ?? toStream(stream)),
    syncMode: request.syncMode,
    cursorField,
    selectedFields: request.selectedFields,
  };
}

function toStream(stream: CatalogStream): Stream {
  return {
    name: stream.name,
    ...(stream.namespace === undefined ? {} : { namespace: stream.namespace }),
    schema: stream.json_schema,
    primaryKey: stream.source_defined_primary_key.map((path) => path[0] ?? ""),
    syncModes: stream.supported_sync_modes,
    isResumable: stream.is_resumable,
  };
}

interface StreamOutput {
  readonly stream: SelectedStream;
  records(rows: readonly Row[]): Promise<void>;
  batch(batch: Batch): Promise<void>;
  checkpoint(state: JsonValue): Promise<void>;
  flush(): Promise<void>;
  hasCheckpoint(): boolean;
  summary(): { nulledCount: number; droppedFields: readonly string[] };
}

/**
 * A frame of records is sent at about this many characters: large enough to be cheap, small enough
 * to flow.
 */
const frameChars = 64 * 1024;
/** Rows that wait for company at most this long, when a connector yields them one by one. */
const maxWaitMs = 500;
const maxWaitingRows = 500;

/** The host takes a frame of many rows up to this size; a longer one holds a single row. */
const maxFrameChars = 1024 * 1024;

/** The lines in pieces that are no longer, each with the number of its lines. */
function* cutLines(text: string, count: number): Generator<readonly [string, number]> {
  if (text.length <= maxFrameChars) return yield [text, count];
  for (let from = 0, end = 0; from < text.length; from = end) {
    let lines = 0;
    do {
      end = text.indexOf("\n", end) + 1;
      lines++;
    } while (end < text.length && text.indexOf("\n", end) + 1 - from <= maxFrameChars);
    yield [text.slice(from, end), lines];
  }
}

function createStreamOutput(
  stream: SelectedStream,
  index: number,
  writer: FrameWriter,
): StreamOutput {
  const recordWriter = compileRecordWriter(stream);
  let waiting: Row[] = [];
  let timer: NodeJS.Timeout | undefined;
  let hasCheckpoint = false;
  let nulledInBatches = 0;
  let rowsPerFrame = 64;

  const send = async (rows: readonly Row[]) => {
    for (let from = 0; from < rows.length; ) {
      const part =
        from === 0 && rows.length <= rowsPerFrame ? rows : rows.slice(from, from + rowsPerFrame);
      from += part.length;
      const text = recordWriter.write(part);
      rowsPerFrame = Math.max(
        1,
        Math.min(5000, Math.ceil((frameChars * part.length) / Math.max(1, text.length))),
      );
      for (const [lines, count] of cutLines(text, part.length))
        if (!writer.sendText(frameKind.records, index, count, lines)) await writer.drained();
    }
  };
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const rows = waiting;
    waiting = [];
    if (rows.length > 0) await send(rows);
  };
  /** A row that cannot be written fails the next call, where the connector's loop meets it. */
  let lateFailure: unknown;
  const flushLater = () => {
    flush().catch((error: unknown) => {
      lateFailure = error;
    });
  };

  return {
    stream,
    async flush() {
      await flush();
      if (lateFailure !== undefined) throw lateFailure;
    },
    async records(rows) {
      if (lateFailure !== undefined) throw lateFailure;
      if (!Array.isArray(rows))
        throw new ConnectorError("RECORD_INVALID", {
          stream: stream.name,
          problem: "rows must be an array",
        });
      if (rows.length > 1) {
        await flush();
        return send(rows);
      }
      waiting.push(...rows);
      if (waiting.length >= maxWaitingRows) await flush();
      else timer ??= setTimeout(flushLater, maxWaitMs);
    },
    async batch(batch) {
      await flush();
      if (lateFailure !== undefined) throw lateFailure;
      for (const { fields } of batch.notes) nulledInBatches += fields.length;
      for (const range of batchRanges(batch)) {
        const notes = packNotes(batch.notes, range);
        const length = packedBytes(batch, range, notes.length);
        const hasRoom = writer.sendPacked(frameKind.batch, index, length, (into) =>
          packBatch(batch, range, notes, into),
        );
        if (!hasRoom) await writer.drained();
      }
    },
    async checkpoint(state) {
      await flush();
      hasCheckpoint = true;
      if (
        !writer.send(frameKind.checkpoint, index, Buffer.from(stringifyExact(state, stream.name)))
      )
        await writer.drained();
    },
    hasCheckpoint: () => hasCheckpoint,
    summary: () => ({
      nulledCount: recordWriter.nulledCount + nulledInBatches,
      droppedFields: [...recordWriter.droppedFields],
    }),
  };
}
