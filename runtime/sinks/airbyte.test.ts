import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError, type ErrorCode, errorTable } from "../contract/errors.ts";
import { createAirbyteSink, createMessageWriter, eventText } from "./airbyte.ts";

const protocol = parse(
  readFileSync(new URL("../../fixtures/airbyte-protocol.yaml", import.meta.url), "utf8"),
) as object;
const ajv = formats.default(new Ajv({ strict: false }).addSchema(protocol));
const isMessage = ajv.compile({ $ref: "airbyte-protocol#/definitions/AirbyteMessage" });

const clock = { now: () => 1_700_000_000_123, sleep: async () => {} };

/**
 * A sink, its messages, and every line that they wrote, parsed and checked against the protocol.
 */
function setUp() {
  let text = "";
  const write = async (chunk: string | Buffer) => {
    text += chunk.toString();
  };
  const messages = createMessageWriter(write, clock);
  const lines = () => {
    expect(text === "" || text.endsWith("\n")).toBe(true);
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const message: unknown = JSON.parse(line);
        expect(isMessage(message), `${line} ${ajv.errorsText(isMessage.errors)}`).toBe(true);
        return message as object;
      });
  };
  return { messages, lines, sink: createAirbyteSink(write, messages) };
}

const users = { name: "users", namespace: "public" };
const recordLine = `{"type":"RECORD","record":{"stream":"users","namespace":"public","data":{"id":1},"emitted_at":1}}\n`;

test("the protocol's schema refuses what is not a message", () => {
  expect(isMessage({ type: "RECORD" })).toBe(false);
  expect(isMessage({ type: "TRACE", trace: { type: "ERROR", emitted_at: 1 } })).toBe(false);
});

test("a stream becomes STARTED, RUNNING, its records as they are, STATE with its count, COMPLETE", async () => {
  const { sink, lines } = setUp();
  await sink.open([]);
  await sink.status(users, "started");
  await sink.write?.(users, Buffer.from(recordLine + recordLine), 2);
  await sink.write?.(users, Buffer.from(recordLine), 1);
  await sink.checkpoint(users, { last: 3 }, 3);
  await sink.status(users, "complete");
  await sink.close();
  const status = (text: string) => ({
    type: "TRACE",
    trace: {
      type: "STREAM_STATUS",
      emitted_at: 1_700_000_000_123,
      stream_status: { stream_descriptor: users, status: text },
    },
  });
  const record = JSON.parse(recordLine) as object;
  expect(lines()).toEqual([
    status("STARTED"),
    status("RUNNING"),
    record,
    record,
    record,
    {
      type: "STATE",
      state: {
        type: "STREAM",
        stream: { stream_descriptor: users, stream_state: { last: 3 } },
        sourceStats: { recordCount: 3 },
      },
    },
    status("COMPLETE"),
  ]);
});

test("a stream that never ended is INCOMPLETE, once", async () => {
  const { sink, lines } = setUp();
  await sink.status(users, "started");
  await sink.close();
  await sink.close();
  expect(
    lines().map(
      (line) =>
        (line as unknown as { trace: { stream_status: { status: string } } }).trace.stream_status
          .status,
    ),
  ).toEqual(["STARTED", "INCOMPLETE"]);
});

test("a stream without a namespace has none in its descriptor", async () => {
  const { sink, lines } = setUp();
  await sink.checkpoint({ name: "users" }, {}, 0);
  expect(JSON.stringify(lines())).not.toContain("namespace");
});

test("every error of the table is a TRACE ERROR with a failure type and its code as internal message, without a stack", async () => {
  const { messages, lines } = setUp();
  const codes = Object.keys(errorTable) as ErrorCode[];
  for (const code of codes) await messages.error(new ConnectorError(code).toRecord(), users);
  const errors = lines().map(
    (line) => (line as unknown as { trace: { error: object } }).trace.error,
  );
  expect(errors).toHaveLength(codes.length);
  for (const error of errors)
    expect(Object.keys(error).sort()).toEqual([
      "failure_type",
      "internal_message",
      "message",
      "stream_descriptor",
    ]);
  expect(errors.map((error) => (error as { internal_message: string }).internal_message)).toEqual(
    codes,
  );
});

test.each([
  ["CONFIG_INVALID", "config_error"],
  ["RATE_LIMITED", "transient_error"],
  ["RESPONSE_INVALID", "system_error"],
  ["CONNECTOR_FAILED", "system_error"],
  ["INTERNAL", "system_error"],
] as const)("%s is a %s", async (code, failureType) => {
  const { messages, lines } = setUp();
  await messages.error(new ConnectorError(code).toRecord());
  expect(lines()).toMatchObject([{ trace: { error: { failure_type: failureType } } }]);
});

test("spec, status, catalog and log are messages of the protocol", async () => {
  const { messages, lines } = setUp();
  const manifest: Manifest = {
    id: "conn_test",
    version: "1.0.0",
    title: "Test",
    documentationUrl: "https://example.com/docs",
    spec: { type: "object", properties: {} },
    egress: { kind: "http", baseUrl: "https://example.com", auth: [] },
  };
  await messages.spec(manifest);
  await messages.connectionStatus({ status: "succeeded" });
  await messages.connectionStatus({
    status: "failed",
    error: new ConnectorError("CREDENTIALS_REJECTED").toRecord(),
  });
  await messages.catalog([]);
  await messages.log("WARN", "Slow.");
  expect(lines()).toEqual([
    {
      type: "SPEC",
      spec: {
        protocol_version: "0.18.0",
        documentationUrl: "https://example.com/docs",
        connectionSpecification: { type: "object", properties: {} },
        supportsIncremental: true,
        supported_destination_sync_modes: [],
      },
    },
    { type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } },
    {
      type: "CONNECTION_STATUS",
      connectionStatus: {
        status: "FAILED",
        message: new ConnectorError("CREDENTIALS_REJECTED").message,
      },
    },
    { type: "CATALOG", catalog: { streams: [] } },
    { type: "LOG", log: { level: "WARN", message: "Slow." } },
  ]);
});

test("events are one line of text", () => {
  expect(eventText({ type: "waiting", untilMs: 1_700_000_000_000, reason: "rate_limit" })).toBe(
    "Waiting for the rate limit until 2023-11-14T22:13:20.000Z.",
  );
  expect(
    eventText({ type: "log", level: "info", message: "Page read.", fields: { page: 3, of: "a" } }),
  ).toBe('Page read. page=3 of="a"');
  expect(eventText({ type: "denied", resource: "net" })).toBe("The sandbox refused net.");
  expect(eventText({ type: "dropped", stream: "users", fields: ["a", "b"] })).toContain("a, b");
});
