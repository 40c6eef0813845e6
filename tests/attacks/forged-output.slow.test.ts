/** A connector that writes to the wire itself; runtime/host/hostile-frames.test.ts has more of it. */
import { createHost, type Host } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameKind } from "../../runtime/wire/frames.ts";
import { createMemorySink } from "../memory-sink.ts";
import { broken, rowsOnly } from "./connector.ts";

type Forged = readonly [kind: number, id: number, payload: string];
const bytes = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part))).toString("base64");
const json = (kind: number, content: unknown): Forged => [kind, 0, bytes(JSON.stringify(content))];
const rows = (...lines: (string | Buffer)[]): Forged => {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(lines.length);
  return [frameKind.records, 0, bytes(count, ...lines.flatMap((line) => [line, "\n"]))];
};
const complete = json(frameKind.status, { status: "complete", nulledCount: 0 });

let host: Host;
beforeAll(() => {
  host = createHost();
});
afterAll(() => host[Symbol.asyncDispose]());

test.each<[string, Forged[]]>([
  ["a word of JavaScript in a row", [rows('{"id":1,"text":undefined,,}')]],
  ["an escape that is none", [rows('{"id":1,"text":"\\q\\u12"}')]],
  ["bytes that are no text", [rows(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))]],
  ["two notes in one row", [rows('{"id":null}\t{"changes":[]}\t{"changes":[]}')]],
  ["a row that closes its envelope", [rows('{}},"type":"STATE","x":{')]],
  ["rows after their stream's end", [complete, rows('{"id":1}')]],
  ["a state after its stream's end", [complete, json(frameKind.checkpoint, {})]],
  ["two ends", [complete, complete]],
  ["a second start", [json(frameKind.status, { status: "started" })]],
  ["a count of 1e308", [json(frameKind.status, { status: "complete", nulledCount: 1e308 })]],
  ["a log that is no text", [json(frameKind.log, { level: {}, message: { toString: 1 } })]],
  ["a refusal that is no text", [json(frameKind.denied, { resource: { toString: 1 } })]],
  ["a call that is nothing", [json(frameKind.request, null)]],
  ["a second manifest", [json(frameKind.manifest, {})]],
  ["a frame of the host's", [json(frameKind.answer, {})]],
])("%s ends the run as the connector's fault, and is not passed on", async (_, frames) => {
  const sink = createMemorySink();
  const config = { api_token: "s3cr3t-token-0123456789abcdef", region: JSON.stringify(frames) };
  const summary = await host.read(broken("says"), { config, catalog: rowsOnly }, sink);
  expect([summary.status, summary.error?.code]).toEqual(["failed", "CONNECTOR_PROTOCOL"]);
  expect([summary.recordCount, summary.nulledCount, sink.rows()]).toEqual([0, 0, []]);
});
