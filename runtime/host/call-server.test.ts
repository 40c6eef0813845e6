/** Calls that wait and answers that nobody takes: what stops, and what goes on again. */
import { duplexPair } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { budgets } from "../contract/budgets.ts";
import type { Broker } from "../egress/broker.ts";
import { createFrameWriter, type Frame, frameKind } from "../wire/frames.ts";
import type { HttpAnswer } from "../wire/http-call.ts";
import { createCallServer } from "./call-server.ts";
import { systemClock } from "./clock.ts";

const MiB = 1024 * 1024;

function open(request: Broker["request"]) {
  const [wire, far] = duplexPair();
  const ending = new AbortController();
  const broker = { request } as Broker;
  const calls = createCallServer(createFrameWriter(wire), broker, systemClock, ending.signal);
  return { calls, wire, far, ending };
}

const requestOf = (id: number, bytes: number): Frame => ({
  kind: frameKind.request,
  id,
  nowMs: 0,
  payload: Buffer.from(`{"method":"POST","path":["a"],"body":"${"x".repeat(bytes - 60)}"}`),
});
const answerOf = (bytes: number): HttpAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.alloc(bytes, "x"),
});

/** Whether the promise has settled when all else that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => {
    settled = true;
  });
  for (let turns = 0; turns < 10; turns++) await turn();
  return settled;
}

test("a worker is not read from while 8 MiB of its requests are open, and then again", async () => {
  const answers: ((answer: HttpAnswer) => void)[] = [];
  const { calls, far } = open(() => new Promise((resolve) => answers.push(resolve)));
  far.resume();
  for (let id = 1; id <= 8; id++) calls.serve(requestOf(id, MiB - 100));
  expect(await isSettled(calls.room())).toBe(true);
  calls.serve(requestOf(9, MiB - 100));
  const room = calls.room();
  expect(await isSettled(room)).toBe(false);
  answers[0]?.(answerOf(1));
  expect(await isSettled(room)).toBe(true);
});

test("the end of a run ends the wait for room", async () => {
  const { calls, ending } = open(() => new Promise(() => {}));
  for (let id = 1; id <= 9; id++) calls.serve(requestOf(id, MiB - 100));
  const room = calls.room();
  expect(await isSettled(room)).toBe(false);
  ending.abort();
  expect(await isSettled(room)).toBe(true);
});

test("no request is sent while 64 MiB of answers wait for the worker", async () => {
  let sent = 0;
  const size = 16 * MiB;
  const { calls, far } = open(async (_call, _signal, room) => {
    await room?.();
    sent++;
    return answerOf(size);
  });
  const most = budgets.answers.together / size + 1;
  for (let id = 1; id <= 12; id++) {
    calls.serve(requestOf(id, 200));
    for (let turns = 0; turns < 10; turns++) await turn();
  }
  expect(sent).toBe(most);
  far.resume();
  await expect.poll(() => sent).toBe(12);
});

test.each([
  "ended",
  "destroyed",
] as const)("a wire that is %s with answers nobody took lets the host's thread go on, until the run ends", async (way) => {
  let sent = 0;
  const { calls, wire, ending } = open(async (_call, _signal, room) => {
    await room?.();
    sent++;
    return answerOf(budgets.answers.together + 1);
  });
  // It closes when the thread comes to it, as a socket does.
  wire._destroy = (error, done) => void setImmediate(done, error);
  calls.serve(requestOf(1, 200));
  expect(await isSettled(calls.room())).toBe(true);
  if (way === "ended") wire.end();
  else wire.destroy();
  calls.serve(requestOf(2, 200));
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(sent).toBe(way === "ended" ? 1 : 2);
  ending.abort();
  await expect.poll(() => sent).toBe(2);
});

test.each([
  ["a request of many values", `{"method":"POST","path":["a"],"body":[${"1,".repeat(100_001)}1]}`],
  [
    "a request that is nested",
    `{"method":"POST","path":["a"],"body":${"[".repeat(70)}${"]".repeat(70)}}`,
  ],
])("%s is refused before it is parsed", (_, text) => {
  const { calls } = open(() => new Promise(() => {}));
  const frame: Frame = { ...requestOf(1, 100), payload: Buffer.from(text) };
  expect(() => calls.serve(frame)).toThrow(expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }));
});
