/** Servers that say too much, or something else than MySQL does. */
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { openClient } from "./client.ts";
import { ServerError } from "./failures.ts";
import { openPackets } from "./packets.ts";

function packet(sequence: number, payload: Buffer | string): Buffer {
  const head = Buffer.alloc(4);
  const bytes = Buffer.from(payload as string, "latin1");
  head.writeUIntLE(bytes.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, bytes]);
}

const greeting = packet(0, "\n8.4.0\0 and what else a greeting has");
const ok = "\0\0\0\x02\0\0\0";
const eof = "\xfe\0\0\x02\0";

/** A server that answers each packet as it is told; at the end it says nothing. */
function serverOf(...answers: readonly Buffer[]): Duplex {
  const left = [packet(2, ok), ...answers];
  const stream = new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      const answer = left.shift();
      if (answer) stream.push(answer);
      done();
    },
  });
  stream.push(greeting);
  return stream;
}

const outcome = async (...answers: readonly Buffer[]) => {
  const stream = serverOf(...answers);
  const client = await openClient(stream);
  const failure = await client.query("SELECT 1").then(
    (rows) => rows,
    (error: unknown) => error as { code: string; details: { reason?: string } },
  );
  const isClosed = stream.destroyed;
  return { failure, isClosed, client };
};
const answerOf = (...payloads: readonly string[]) =>
  Buffer.concat(payloads.map((payload, at) => packet(at + 1, payload)));

test("rows come whole, however their packets are cut", async () => {
  const answer = answerOf(
    "\x02",
    "one",
    "two",
    eof,
    "\x01a\xfb",
    `\xfc\x2c\x01${"b".repeat(300)}\0`,
    eof,
  );
  const stream = serverOf();
  const client = await openClient(stream);
  const asked = client.query("SELECT a, b");
  for (const byte of answer) stream.push(Buffer.from([byte]));
  expect(await asked).toEqual([
    ["a", null],
    ["b".repeat(300), ""],
  ]);
});

test("after an error of the server the session goes on", async () => {
  const stream = serverOf(
    packet(1, "\xff\x48\x04#42S02gone"),
    answerOf("\x01", "one", eof, "\x011", eof),
  );
  const client = await openClient(stream);
  await expect(client.query("SELECT 1")).rejects.toEqual(
    expect.objectContaining({ constructor: ServerError, number: 1096 }),
  );
  expect(await client.query("SELECT 1")).toEqual([["1"]]);
});

test.each([
  ["a question for a file of this side", answerOf("\xfb/etc/passwd")],
  ["more columns than a table has", answerOf("\xfc\xff\xff")],
  ["a packet out of turn", packet(7, "\x01")],
  ["a row that ends before its value", answerOf("\x01", "one", eof, "\x09abc")],
  ["a row with more values than columns", answerOf("\x01", "one", eof, "\x01a\x01b")],
  ["columns without an end", answerOf("\x01", "one", "two")],
])("%s is none of MySQL, and ends the session", async (_, answer) => {
  const { failure, isClosed } = await outcome(answer);
  expect(failure).toMatchObject({
    code: "DATABASE_UNUSABLE",
    details: { reason: "its answer has not the form of MySQL's" },
  });
  expect(isClosed).toBe(true);
});

test("a row beyond the largest packet is told before it is kept", async () => {
  const head = Buffer.from([0xff, 0xff, 0xff, 4]);
  const { failure } = await outcome(Buffer.concat([answerOf("\x01", "one", eof), head]));
  expect(failure).toMatchObject({ code: "RECORD_TOO_LARGE" });
});

test("an answer about tables that has no end is given up", async () => {
  const row = `\xfd\x00\x00\x10${"x".repeat(1024 * 1024)}`;
  const rows = Array.from({ length: 65 }, () => row);
  const { failure, isClosed } = await outcome(answerOf("\x01", "one", eof, ...rows));
  expect(failure).toMatchObject({
    code: "DATABASE_UNUSABLE",
    details: { reason: "an answer about its tables is too large" },
  });
  expect(isClosed).toBe(true);
});

test("a server that is gone, and one that says nothing any more, are told apart", async () => {
  const gone = serverOf();
  const asked = (await openClient(gone)).query("SELECT 1");
  gone.push(null);
  await expect(asked).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  const silent = openPackets(new Duplex({ read() {} }), 1);
  await expect(silent.next()).rejects.toMatchObject({
    code: "PROVIDER_TIMEOUT",
    details: { phase: "statement" },
  });
});

test("of a slow reader no more lies here than is read ahead", async () => {
  const row = `\xfd\xa0\x86\x01${"x".repeat(100_000)}`;
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const packets = openPackets(stream);
  for (let at = 0; at < 20; at++) stream.push(packet(at, row));
  await packets.next();
  await new Promise(setImmediate);
  expect(stream.readableLength).toBeGreaterThan(1_000_000);
  for (let at = 1; at < 20; at++) expect((await packets.next()).length).toBe(row.length);
});
