import type { Batch, BatchField } from "../contract/batch.ts";
import type { CatalogStream } from "../contract/catalog.ts";
import type { Context } from "../contract/context.ts";
import type { Egress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import type { Output, Row } from "../contract/output.ts";
import type { ReadRun, Source, StreamBeginning } from "../contract/source.ts";
import type { SelectedStream, Stream } from "../contract/stream.ts";
import { batchFields } from "../wire/columns/fields.ts";
import {
  batchRanges,
  packBatch,
  packedBytes,
  packNotes,
  type RowRange,
} from "../wire/columns/pack.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import { stringifyExact } from "../wire/exact-json.ts";
import { type FrameWriter, frameKind } from "../wire/frames.ts";
import type { StreamRequest, VerbRequest } from "../wire/verb-request.ts";
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
  { selection = [], isPart = false, waitMs }: Pick<VerbRequest, "selection" | "isPart" | "waitMs">,
  signal: AbortSignal,
): Promise<void> {
  const streams = selection.map((request) => ({
    stream: selectStream(source, request),
    state: beginningOf(request.state),
  }));
  for (const [index, request] of selection.entries()) {
    if (signal.aborted) throw new ConnectorError("CANCELLED");
    writer.sendJson(frameKind.status, index, { status: "started" });
    const output = createStreamOutput(
      (streams[index] as StreamBeginning).stream,
      batchFields(request),
      index,
      writer,
    );
    try {
      await readStream(source, context, request, output, { streams, isPart, waitMs }, signal);
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
  run: ReadRun,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = output;
  const state = run.streams.find((one) => one.stream === stream)?.state;
  const items = source.read(context, stream, state as never, run as never);
  for await (const item of items as AsyncIterable<Output<JsonValue>>) {
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

const beginningOf = (state: JsonValue | undefined) =>
  isBeginning(state) ? undefined : deepFreeze(structuredClone(state));

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
    rowFilter: request.rowFilter,
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

/** Rows that wait for company at most this long, when a connector yields them one by one. */
const maxWaitMs = 500;

function createStreamOutput(
  stream: SelectedStream,
  fields: readonly BatchField[],
  index: number,
  writer: FrameWriter,
): StreamOutput {
  const recordWriter = compileRecordWriter(stream, fields);
  let timer: NodeJS.Timeout | undefined;
  let hasCheckpoint = false;
  let nulledInBatches = 0;

  const send = (batch: Batch, range: RowRange): boolean => {
    const notes = packNotes(batch.notes, range);
    const length = packedBytes(batch, range, notes.length);
    return writer.sendPacked(frameKind.batch, index, length, (into) =>
      packBatch(batch, range, notes, into),
    );
  };
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (recordWriter.rowCount === 0) return;
    // At once as a whole: whoever adds rows meanwhile uses the same memory.
    const batch = recordWriter.take();
    for (const range of batchRanges(batch)) send(batch, range);
    await writer.drained();
  };

  return {
    stream,
    flush,
    async records(rows) {
      if (!Array.isArray(rows))
        throw new ConnectorError("RECORD_INVALID", {
          stream: stream.name,
          problem: "rows must be an array",
        });
      for (let from = 0; from < rows.length; ) {
        from = recordWriter.add(rows, from);
        if (from < rows.length) await flush();
      }
      if (rows.length > 1) await flush();
      else timer ??= setTimeout(() => void flush(), maxWaitMs);
    },
    async batch(batch) {
      await flush();
      for (const { fields } of batch.notes) nulledInBatches += fields.length;
      for (const range of batchRanges(batch)) if (!send(batch, range)) await writer.drained();
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
