/**
 * Whatever a worker says, in whatever order: what is no output of a connector is the connector's
 * fault, and nothing that is not well-formed is passed on.
 */
import { duplexPair } from "node:stream";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { bearer, http } from "../author.ts";
import type { CatalogStream, Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { ReadSummary } from "../contract/host.ts";
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

/** A frame's kind, its stream or call, and its bytes. */
type Said = readonly [kind: number, id: number, payload: Buffer];
const said = (kind: FrameKind, content: unknown = {}, id = 0): Said => [
  kind,
  id,
  Buffer.from(JSON.stringify(content)),
];
const rows = (...lines: string[]): Said => {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(lines.length);
  const text = lines.map((line) => `${line}\n`).join("");
  return [frameKind.records, 0, Buffer.concat([count, Buffer.from(text)])];
};
const started = said(frameKind.status, { status: "started" });
const complete = said(frameKind.status, { status: "complete", nulledCount: 0 });
const done: Said = [frameKind.done, 0, Buffer.alloc(0)];

let written: string;
beforeEach(() => {
  written = "";
});

/** Reads from a worker that says these frames and ends. */
async function readFrom(...frames: readonly Said[]): Promise<ReadSummary> {
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
  for (const [kind, id, payload] of frames) writer.send(kind as FrameKind, id, payload);
  far.end();
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
  const summary = await readFrom(started, rows('{"id":1}', '{"id":2}'), state, complete, done);
  expect(summary).toMatchObject({ status: "succeeded", recordCount: 2 });
  expect(written).toBe('{"id":1}\n{"id":2}\n');
});

test.each<[string, Said[]]>([
  ["rows before their stream's start", [rows('{"id":1}')]],
  ["rows after their stream's end", [started, complete, rows('{"id":1}')]],
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
  ["rows of a stream that nobody selected", [started, [frameKind.records, 1, rows("{}")[2]]]],
  ["text that is no JSON", [started, rows('{"id":1,"text":undefined,,}')]],
  ["a broken escape", [started, rows('{"text":"\\q\\u12"}')]],
  ["two notes in one row", [started, rows('{"id":null}\t{"changes":[]}\t{"changes":[]}')]],
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
  const { status, error } = await readFrom(...frames, done);
  expect([status, error?.code]).toEqual(["failed", "CONNECTOR_PROTOCOL"]);
  expect(written).toBe("");
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
  const { error, nulledCount: told } = await readFrom(started, end, done);
  expect([error?.code, told]).toEqual(["CONNECTOR_PROTOCOL", 0]);
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
