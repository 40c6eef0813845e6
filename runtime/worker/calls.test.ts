import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { FrameWriter } from "../wire/frames.ts";
import { frameKind } from "../wire/frames.ts";
import { createCalls } from "./calls.ts";

test("what a server says before its client is heard, though it comes with the answer to connect", async () => {
  const ids: number[] = [];
  const writer = {
    send: () => true,
    sendJson: (_kind: number, id: number) => ids.push(id) > 0,
    drained: async () => {},
  } as unknown as FrameWriter;
  const calls = createCalls(writer, new AbortController().signal);
  const connecting = calls.connect();
  const [id = 0] = ids;
  const frame = { id, nowMs: 0, payload: Buffer.alloc(0) };
  calls.settle({ ...frame, kind: frameKind.wake });
  calls.settle({ ...frame, kind: frameKind.bytes, payload: Buffer.from("hello") });
  calls.settle({ ...frame, kind: frameKind.bytesEnd });
  expect(await text(await connecting)).toBe("hello");
});
