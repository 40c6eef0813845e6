import { duplexPair } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConnectorError } from "../contract/errors.ts";
import {
  createFrameReader,
  createFrameWriter,
  type FrameGate,
  frameKind,
  joinPayload,
  parsePayload,
  splitPayload,
} from "./frames.ts";

const kinds = Object.values(frameKind);

/** The bytes that the writer puts on the stream for these frames. */
async function bytesOf(
  frames: readonly { kind: number; id: number; payload: Uint8Array }[],
): Promise<Buffer> {
  const [near, far] = duplexPair();
  const chunks: Buffer[] = [];
  far.on("data", (chunk: Buffer) => chunks.push(chunk));
  const writer = createFrameWriter(near, () => 1234.5);
  for (const { kind, id, payload } of frames) writer.send(kind as never, id, payload);
  near.end();
  await new Promise((resolve) => far.once("end", resolve));
  return Buffer.concat(chunks);
}

const upTo =
  (maxBytes: number): FrameGate =>
  (_, bytes) => {
    if (bytes > maxBytes) throw new ConnectorError("CONNECTOR_PROTOCOL");
    return "take";
  };

function readAll(chunks: readonly Buffer[], maxBytes = 1_000_000) {
  const reader = createFrameReader(upTo(maxBytes));
  const frames: { kind: number; id: number; nowMs: number; payload: string }[] = [];
  for (const chunk of chunks) {
    for (const { kind, id, nowMs, payload } of reader.push(chunk))
      frames.push({ kind, id, nowMs, payload: payload.toString("hex") });
  }
  reader.end();
  return frames;
}

const anyFrame = fc.record({
  kind: fc.constantFrom(...kinds),
  id: fc.nat(2 ** 32 - 1),
  payload: fc.uint8Array({ maxLength: 300 }),
});

describe("frames", () => {
  test("arrive as they were sent, however the bytes are cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFrame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        async (sent, cuts) => {
          const bytes = await bytesOf(sent);
          const chunks: Buffer[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const expected = sent.map(({ kind, id, payload }) => ({
            kind,
            id,
            nowMs: 1234.5,
            payload: Buffer.from(payload).toString("hex"),
          }));
          expect(readAll(chunks)).toEqual(expected);
          expect(readAll([bytes])).toEqual(expected);
        },
      ),
    );
  });

  test("over the limit are refused by their header alone", async () => {
    const bytes = await bytesOf([{ kind: frameKind.log, id: 0, payload: Buffer.alloc(101) }]);
    expect(() => readAll([bytes.subarray(0, 17)], 100)).toThrow(
      expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
    );
  });

  test("that end halfway are refused", async () => {
    const bytes = await bytesOf([{ kind: frameKind.log, id: 0, payload: Buffer.alloc(10) }]);
    for (const size of [1, 16, 17, 26]) {
      expect(() => readAll([bytes.subarray(0, size)])).toThrow(
        expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
      );
    }
  });

  test("of memory that is used again arrive also when many are sent before the first is read", async () => {
    const [near, far] = duplexPair();
    const writer = createFrameWriter(near);
    const payloads = Array.from({ length: 30 }, (_, index) =>
      Buffer.alloc(1 + index * 40_000, index),
    );
    for (const [index, payload] of payloads.entries())
      writer.sendPacked(frameKind.batch, index, payload.length, (into) => into.set(payload));
    near.end();
    const reader = createFrameReader(upTo(10_000_000));
    let index = 0;
    for await (const chunk of far) {
      for (const frame of reader.push(chunk as Buffer)) {
        expect(frame.id).toBe(index);
        expect(frame.payload.equals(payloads[index] as Buffer)).toBe(true);
        index++;
      }
    }
    expect(index).toBe(payloads.length);
  });
});

test("many who wait for a full wire are one listener, and all go on when it drains", async () => {
  const [near, far] = duplexPair();
  const writer = createFrameWriter(near);
  while (writer.send(frameKind.log, 0, Buffer.alloc(10_000)));
  const before = near.listenerCount("drain");
  const waiting = Array.from({ length: 50 }, () => writer.drained());
  expect(near.listenerCount("drain")).toBe(before + 1);
  far.resume();
  await Promise.all(waiting);
  expect(near.listenerCount("drain")).toBe(before);
});

test("a head and a body are taken apart as they were joined", () => {
  const joined = Buffer.concat(
    joinPayload({ status: 200, headers: { a: "é" } }, Buffer.from([0, 1, 2])),
  );
  expect(splitPayload(joined)).toEqual({
    head: { status: 200, headers: { a: "é" } },
    body: Buffer.from([0, 1, 2]),
  });
});

test("a payload that is no JSON is a protocol error without its text", () => {
  expect(() => parsePayload(Buffer.from("{secret"))).toThrow(
    expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
  );
});
