import { expect, test } from "vitest";
import type { CatalogStream } from "../contract/catalog.ts";
import type { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Broker } from "../egress/broker.ts";
import type { VerbRequest } from "../wire/verb-request.ts";
import { systemClock } from "./clock.ts";
import { readablePaths } from "./code-access.ts";
import { startProcess } from "./process.ts";
import { createSession } from "./session.ts";
import type { SessionHandlers } from "./worker-output.ts";

const connectorUrl = new URL("../../fixtures/broken/worker/ends-amid-answers.ts", import.meta.url)
  .href;
const limits = { timeoutMs: 60_000, unresponsiveMs: 30_000, graceMs: 30_000 };
const stream: CatalogStream = {
  name: "rows",
  json_schema: {
    type: "object",
    properties: { id: { type: "integer" }, text: { type: "string" } },
  },
  supported_sync_modes: ["full_refresh"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: false,
};

/**
 * Runs a worker to its end and tells all that was heard of it. The host stops listening at the
 * first records, the worker says more than is read ahead, and only then come the answers. They are
 * written, or cannot be, before the host listens again.
 */
async function hear(ending: string) {
  const paths = readablePaths(connectorUrl);
  const worker = startProcess({ paths, level: "process", memoryMb: 256 });
  const { wire } = worker;
  const session = createSession(worker, systemClock);
  await session.load({ url: connectorUrl });

  const began = Promise.withResolvers<void>();
  const paused = new Promise((resolve) => wire.once("pause", resolve));
  const hasText = new Promise<void>((resolve) => worker.onText(() => resolve()));
  const written = new Promise((resolve) => wire.once("drain", resolve).once("close", resolve));
  const large = Buffer.alloc(16 * 1024 * 1024, " ");
  const broker: Broker = {
    async request({ path }) {
      await began.promise;
      if (path[0] !== "begin") await Promise.all([paused, hasText]);
      return { status: 200, headers: {}, body: path[0] === "begin" ? Buffer.from("{}") : large };
    },
    connect: () => Promise.reject(new Error("not a database")),
    requestCount: 0,
    close: async () => {},
  };
  let recordCount = 0;
  let lastStatus: JsonObject = {};
  const handlers: SessionHandlers = {
    async onBatch(_index, payload) {
      const isFirst = recordCount === 0;
      recordCount += payload.readUInt32LE(0);
      if (!isFirst) return;
      began.resolve();
      await written;
    },
    onStatus(_index, status) {
      lastStatus = status;
    },
    onCheckpoint() {},
  };
  const verbRequest: VerbRequest = {
    verb: "read",
    config: { region: ending },
    selection: [{ stream, syncMode: "full_refresh" }],
  };
  const failure = await session.run(verbRequest, broker, handlers, limits).then(
    () => undefined,
    (error: ConnectorError) => error.code,
  );
  return { recordCount, lastStatus, failure };
}

test("a worker that completes while answers to it are under way is heard to its end", async () => {
  const { recordCount, lastStatus, failure } = await hear("completes");
  expect({ recordCount, failure }).toEqual({ recordCount: 324, failure: undefined });
  expect(lastStatus).toMatchObject({ status: "complete" });
});

test("a stream that fails while answers are under way says why", async () => {
  const { recordCount, lastStatus, failure } = await hear("throws");
  expect({ recordCount, failure }).toEqual({ recordCount: 324, failure: undefined });
  expect(lastStatus).toMatchObject({ status: "incomplete", error: { code: "CONNECTOR_FAILED" } });
});

test("a worker that crashes while answers are under way says why", async () => {
  expect(await hear("crashes")).toMatchObject({ recordCount: 324, failure: "CONNECTOR_FAILED" });
});
