/**
 * A connector that writes to the wire itself; runtime/host/hostile-frames.test.ts has more of it.
 */
import { createHost, type Host } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { frameKind } from "../../runtime/wire/frames.ts";
import { createMemorySink } from "../memory-sink.ts";
import { broken, rowsOnly } from "./connector.ts";

type Forged = readonly [kind: number, id: number, payload: string];
const bytes = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part))).toString("base64");
const json = (kind: number, content: unknown): Forged => [kind, 0, bytes(JSON.stringify(content))];
/** A batch of two columns, its 24 numbers of 32 bits as they are given. */
const batch = (...words: number[]): Forged => [
  frameKind.batch,
  0,
  bytes(Buffer.from(Uint32Array.from(words).buffer)),
];
/** Of the heads of `id` (64-bit integers) and `text`. */
const [idHead, textHead] = [3, 11];
const complete = json(frameKind.status, { status: "complete", nulledCount: 0 });

let host: Host;
beforeAll(() => {
  host = createHost();
});
afterAll(() => host[Symbol.asyncDispose]());

test.each<[string, Forged[]]>([
  ["bytes that are no text", [batch(1, 2, 0, 0, idHead, 0, textHead, 1, 1, 0, 0, 1, 0xff, 0)]],
  ["a batch of four billion rows", [batch(2 ** 32 - 1, 2, 0, 0, idHead, 0, textHead, 0)]],
  ["a batch whose text is 4 GiB", [batch(1, 2, 0, 0, idHead, 0, textHead, -1, 1, 0, 0, 0)]],
  ["a batch whose text runs back", [batch(1, 2, 0, 0, idHead, 0, textHead, 0, 1, 0, 1, 0)]],
  [
    "a batch after its stream's end",
    [complete, batch(1, 2, 0, 0, idHead, 0, textHead, 0, 1, 0, 0, 0)],
  ],
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
