/**
 * Whatever a worker says, in whatever order: what is no output of a connector is the connector's
 * fault, and nothing that is not well-formed is passed on.
 */
import { duplexPair } from "node:stream";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { payloadOf } from "../../fixtures/batch-payloads.ts";
import { columnOf } from "../../fixtures/batches.ts";
import { bearer, http } from "../author.ts";
import type { Column } from "../contract/batch.ts";
import type { CatalogStream, Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { ReadSummary } from "../contract/host.ts";
import type { Sink } from "../contract/sink.ts";
import { createBroker } from "../egress/create-broker.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { createFrameWriter, type FrameKind, frameKind } from "../wire/frames.ts";
import { systemClock } from "./clock.ts";
import type { WorkerProcess } from "./process.ts";
import { read } from "./read.ts";
import type { Run } from "./run.ts";
import { createSession } from "./session.ts";

const stream: CatalogStream = {
  name: "rows",
  json_schema: { type: "object", properties: { id: { type: "integer" } } },
  supported_sync_modes: ["full_refresh"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: false,
};
const egress = http({ baseUrl: "https://api.example.com", auth: bearer("api_token") });
const manifest = { spec: { type: "object" }, egress, streams: [stream] } as unknown as Manifest;
const limits = { timeoutMs: 60_000, unresponsiveMs: 60_000, graceMs: 0 };

/**
 * A frame's kind, its stream or call, and its bytes; `length` is said of them, whatever they are.
 */
type Said = readonly [kind: number, id: number, payload: Buffer, length?: number];
const said = (kind: FrameKind, content: unknown = {}, id = 0): Said => [
  kind,
  id,
  Buffer.from(JSON.stringify(content)),
];
const ids = (...values: (bigint | null)[]) =>
  columnOf("id", { kind: "integer", encoding: "int64", isKey: true }, values);
const batchOf = (...columns: Column[]): Said => {
  const rowCount = 2;
  return [frameKind.batch, 0, payloadOf({ rowCount, columns, notes: [] })];
};
/** Two rows as columns, some of their bytes changed. */
const forgedBatch = (at: number, ...bytes: readonly number[]): Said => {
  const [kind, id, payload] = batchOf(ids(1n, 2n));
  payload.set(bytes, at);
  return [kind, id, payload];
};
const started = said(frameKind.status, { status: "started" });
const complete = said(frameKind.status, { status: "complete", nulledCount: 0 });
const done: Said = [frameKind.done, 0, Buffer.alloc(0)];

let written: string;
beforeEach(() => {
  written = "";
});

/** Reads from a worker that says these frames and ends, into a sink of lines. */
const readFrom = (...frames: readonly Said[]) => readInto({}, frames);
/** A sink that takes batches. */
const ofBatches: Pick<Sink, "writeBatch"> = {
  async writeBatch(_stream, { rowCount }) {
    written += `${rowCount} rows\n`;
  },
};

async function readInto(
  ofSink: Pick<Sink, "writeBatch">,
  frames: readonly Said[],
): Promise<ReadSummary> {
  const [wire, far] = duplexPair();
  const ended = Promise.withResolvers<ConnectorError | undefined>();
  const worker: WorkerProcess = {
    wire,
    ended: ended.promise,
    onText() {},
    hold() {},
    kill(reason) {
      wire.destroy();
      far.destroy();
      ended.resolve(reason);
    },
  };
  far.on("error", () => {});
  far.resume();
  const session = createSession(worker, systemClock);
  const secrets = createSecretRegistry();
  const broker = createBroker({
    declaration: egress,
    config: { api_token: "tok-0123456789" },
    secrets,
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: { resolve: () => Promise.reject(new Error("no network")) },
    limits: { maxAttempts: 1 },
  });
  const run = {
    manifest,
    secrets,
    broker,
    now: () => 0,
    withRedactionEvent: (_where: string, filter: () => unknown) => filter(),
    sanitizeError: (error: unknown) =>
      error instanceof ConnectorError ? error : new ConnectorError("INTERNAL"),
    execute: (request: object, handlers: object) =>
      session.run(
        { verb: "read", config: {}, ...request },
        broker,
        { onLog() {}, onDenied() {}, ...handlers },
        limits,
      ),
  } as unknown as Run;
  const writer = createFrameWriter(far);
  for (const [kind, id, payload, length] of frames) {
    if (length === undefined) writer.send(kind as FrameKind, id, payload);
    else {
      const header = Buffer.alloc(17);
      header.writeUInt32LE(length, 0);
      header.writeUInt8(kind, 4);
      far.write(Buffer.concat([header, payload]));
    }
  }
  // One that has more to say goes on.
  if (frames.every(({ length }) => length < 4)) far.end();
  far.on("finish", () => ended.resolve(undefined));
  const nothing = async () => {};
  const sink = { lineFormat: "rows", open: nothing, checkpoint: nothing, status: nothing } as const;
  const catalog = { streams: [{ stream, sync_mode: "full_refresh" as const }] };
  try {
    return await read(
      run,
      { config: {}, catalog },
      {
        ...sink,
        ...ofSink,
        close: nothing,
        async write(_stream, lines) {
          written += lines;
        },
      },
      () => {},
    );
  } finally {
    await broker.close();
  }
}

test("a worker that keeps to the order is read", async () => {
  const state = said(frameKind.checkpoint, { page: 2 });
  const summary = await readFrom(started, batchOf(ids(1n, 2n)), state, complete, done);
  expect(summary).toMatchObject({ status: "succeeded", recordCount: 2 });
  expect(written).toBe('{"id":1}\n{"id":2}\n');
});

test.each<[string, Said[]]>([
  ["a state before its stream's start", [said(frameKind.checkpoint)]],
  ["a state after its stream's end", [started, complete, said(frameKind.checkpoint)]],
  ["an end before the start", [complete]],
  ["two starts", [started, started]],
  ["two ends", [started, complete, complete]],
  ["a start after the end", [started, complete, started]],
  [
    "a failure after the end",
    [started, complete, said(frameKind.status, { status: "incomplete" })],
  ],
  ["a status that does not exist", [started, said(frameKind.status, { status: "done" })]],
  ["a status that is no text", [started, said(frameKind.status, { status: ["complete"] })]],
  ["columns before their stream's start", [batchOf(ids(1n, 2n))]],
  ["columns after their stream's end", [started, complete, batchOf(ids(1n, 2n))]],
  [
    "columns of a stream that nobody selected",
    [started, [frameKind.batch, 1, batchOf(ids(1n, 2n))[2]]],
  ],
  ["columns of 2 GiB", [started, [frameKind.batch, 0, Buffer.alloc(64), 2 ** 31]]],
  ["columns of nothing", [started, [frameKind.batch, 0, Buffer.alloc(0)]]],
  ["a million rows of nothing", [started, forgedBatch(0, 0x40, 0x42, 0x0f, 0)]],
  ["a column that the stream does not have", [started, batchOf(ids(1n, 2n), ids(1n, 2n))]],
  ["no column where the stream has one", [started, batchOf()]],
  ["another encoding than the column can have", [started, forgedBatch(16, 11)]],
  ["texts where numbers are", [started, forgedBatch(20, 8)]],
  ["notes of 4 GiB", [started, forgedBatch(8, 0xff, 0xff, 0xff, 0xff)]],
  ["a key that is null", [started, batchOf(ids(1n, null))]],
  ["a log that is no text", [started, said(frameKind.log, { level: "info", message: { a: 1 } })]],
  [
    "a log that cannot be text",
    [started, said(frameKind.log, { level: "info", message: { toString: 1 } })],
  ],
  ["a log without a level", [started, said(frameKind.log, { message: "text" })]],
  [
    "a log with fields that are a list",
    [said(frameKind.log, { level: "", message: "", fields: [] })],
  ],
  ["a refusal that is no text", [said(frameKind.denied, { resource: { toString: 1 } })]],
  ["a call that is nothing", [started, said(frameKind.request, null)]],
  ["a list for a call", [started, said(frameKind.request, [])]],
  ["an unknown frame", [[99, 0, Buffer.alloc(0)]]],
])("%s are the connector's fault, and nothing of it is passed on", async (_, frames) => {
  for (const sink of [{}, ofBatches]) {
    const { status, error, recordCount } = await readInto(sink, [...frames, done]);
    expect([status, error?.code, recordCount]).toEqual(["failed", "CONNECTOR_PROTOCOL", 0]);
    expect(written).toBe("");
  }
});

test("columns are read, as lines and as they are", async () => {
  const frames = [started, batchOf(ids(1n, 2n)), complete, done];
  expect(await readInto({}, frames)).toMatchObject({ status: "succeeded", recordCount: 2 });
  expect(await readInto(ofBatches, frames)).toMatchObject({ status: "succeeded", recordCount: 2 });
  expect(written).toBe('{"id":1}\n{"id":2}\n2 rows\n');
});

test.each([
  1e308,
  -1,
  0.5,
  2 ** 53,
  "7",
  null,
  [1],
  undefined,
])("a count of %j is refused", async (nulledCount) => {
  const end = said(frameKind.status, { status: "complete", nulledCount });
  const outcome = await readFrom(started, end, done);
  expect([outcome.error?.code, outcome.nulledCount]).toEqual(["CONNECTOR_PROTOCOL", 0]);
});

test("no frame of any kind and content is the host's fault", async () => {
  const names = ["status", "error", "code", "message", "fields", "level", "resource", "path"];
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(fc.constantFrom(...names, "toString", "__proto__", "bytes"), fc.jsonValue()),
    fc.constantFrom("started", "complete", "incomplete", 1e308),
  );
  const payload = fc.oneof(
    odd.map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
  );
  const kinds = Object.values(frameKind).filter((kind) => kind !== frameKind.sleep);
  const frame = fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: 0, max: 1 }), payload);
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 6 }), async (frames) => {
      const saysItself = frames.some(([, , bytes]) => bytes.includes("INTERNAL"));
      const { error } = await readFrom(started, ...frames, done);
      if (!saysItself) expect(error?.code).not.toBe("INTERNAL");
    }),
    { numRuns: 300 },
  );
});
