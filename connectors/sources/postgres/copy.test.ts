import { Duplex } from "node:stream";
import fc from "fast-check";
import type { ColumnKind } from "svc-connectors";
import { expect, test } from "vitest";
import { toLines } from "../../../tests/postgres-run.ts";
import { copiedValues } from "./columns/texts.ts";
import { createCopyTap } from "./copy-tap.ts";
import { createRowDecoder } from "./row-decoder.ts";
import { toValueType } from "./types.ts";

const message = (kind: string, ...body: readonly Uint8Array[]) => {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(length + 4, 1);
  return Buffer.concat([head, ...body]);
};
const int16 = (value: number) => Buffer.from([(value >> 8) & 0xff, value & 0xff]);
const field = (bytes: Buffer | null) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes?.length ?? -1);
  return Buffer.concat([length, bytes ?? Buffer.alloc(0)]);
};
const header = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
type Cells = readonly [number, string | null];

const cells = ([id, text]: Cells) => [
  int16(2),
  field(Buffer.from([id >> 24, id >> 16, id >> 8, id])),
  field(text === null ? null : Buffer.from(text)),
];

/**
 * The server's answer to a COPY of these rows, with messages for others before, between and behind.
 */
function answerOf(rows: readonly Cells[]): Buffer {
  const [first, ...others] = rows;
  return Buffer.concat([
    message("S", Buffer.from("name\0value\0")),
    message("H", Buffer.from([1, 0, 2, 0, 1, 0, 1])),
    message("d", header, ...(first ? cells(first) : [int16(-1)])),
    message("N", Buffer.from("notice")),
    ...others.map((row) => message("d", ...cells(row))),
    ...(first ? [message("d", int16(-1))] : []),
    message("c"),
    message("C", Buffer.from("COPY 3\0")),
    message("Z", Buffer.from("T")),
  ]);
}
const forOthers = Buffer.concat([
  message("S", Buffer.from("name\0value\0")),
  message("N", Buffer.from("notice")),
  message("C", Buffer.from("COPY 3\0")),
  message("Z", Buffer.from("T")),
]);

interface Options {
  readonly maxRows?: number;
  readonly endlessFrom?: number;
}

/** The batches of an answer that comes in these chunks. */
function receive(chunks: readonly Buffer[], { maxRows = 100, endlessFrom }: Options = {}) {
  const stream = new Duplex({ read() {}, write() {} });
  const passed: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => void passed.push(chunk));
  const tap = createCopyTap(stream);
  let failure: unknown;
  const isNullable = true;
  const fieldOf = (name: string, kind: ColumnKind) => ({ name, kind, isNullable, isKey: false });
  const id = toValueType({ oid: 23, delimiter: null, modifier: -1, isEnum: false });
  const columns = [
    { field: fieldOf("id", "integer"), values: id.createValues(maxRows, false) },
    { field: fieldOf("t", "text"), values: copiedValues(maxRows, "utf8") },
  ];
  const lines: string[][] = [];
  const lasts: (string | undefined)[] = [];
  const decoder = createRowDecoder({
    decoded: columns,
    columns,
    maxRows,
    kept: [1],
    endless:
      endlessFrom === undefined
        ? undefined
        : { index: 0, isEndless: (view, at) => view.getInt32(at) >= endlessFrom },
    onFull() {},
    onFailure: (error) => {
      failure ??= error;
    },
  });
  const takeBatch = () => {
    lines.push(toLines(decoder.batch()));
    lasts.push(decoder.last(1)?.toString());
    decoder.clear();
    tap.resume();
  };
  tap.open(decoder);
  for (const chunk of chunks) {
    stream.emit("data", Buffer.from(chunk));
    while (decoder.isFull) takeBatch();
  }
  if (decoder.rowCount > 0) takeBatch();
  return { lines, lasts, failure, passed: Buffer.concat(passed), isOpen: !stream.destroyed };
}

const lineOf = ([id, t]: Cells) => JSON.stringify({ id, t });

const rows: Cells[] = [
  [1, "one"],
  [-2, null],
  [3, ""],
  [70_000, "☃ and more"],
];

test("rows are the same wherever the stream is cut, and all other messages go where they went", () => {
  const answer = answerOf(rows);
  for (let at = 0; at <= answer.length; at++) {
    const received = receive([answer.subarray(0, at), answer.subarray(at)]);
    expect(received.lines.flat()).toEqual(rows.map(lineOf));
    expect(received.passed.equals(forOthers)).toBe(true);
  }
  const bytes = [...answer].map((byte) => Buffer.from([byte]));
  expect(receive(bytes).lines.flat()).toEqual(rows.map(lineOf));
  expect(receive(bytes).passed.equals(forOthers)).toBe(true);
});

test("property: any rows, in any chunks, in batches of any size, arrive once and in order", () => {
  const cell = fc.tuple(fc.integer(), fc.option(fc.string({ maxLength: 60 })));
  fc.assert(
    fc.property(
      fc.array(cell, { maxLength: 40 }),
      fc.array(fc.nat({ max: 200 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 12 }),
      (given, cuts, maxRows) => {
        const answer = answerOf(given);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const length of [...cuts, answer.length]) {
          chunks.push(answer.subarray(at, at + length));
          at += length;
        }
        const { lines, passed, lasts } = receive(chunks, { maxRows });
        expect(lines.flat()).toEqual(given.map(lineOf));
        expect(passed.equals(forOthers)).toBe(true);
        expect(lines.map((list) => list.length).every((count) => count <= maxRows)).toBe(true);
        let count = 0;
        for (const [index, list] of lines.entries()) {
          count += list.length;
          expect(lasts[index]).toBe(given[count - 1]?.[1] ?? undefined);
        }
      },
    ),
  );
});

test("rows without end begin a batch", () => {
  const given: Cells[] = [1, 2, 3, 4, 5].map((id) => [id, "x"]);
  expect(receive([answerOf(given)], { endlessFrom: 4 }).lines.map((one) => one.length)).toEqual([
    3, 2,
  ]);
  expect(receive([answerOf(given)], { endlessFrom: 0 }).lines.map((one) => one.length)).toEqual([
    5,
  ]);
});

test("an answer that is no COPY of these columns ends the session with one error, whatever is wrong", () => {
  const unusable = { code: "DATABASE_UNUSABLE" };
  const first = cells([1, "one"]);
  const broken = [
    message("d", Buffer.from("PGCOPY\n\xff\r\n\x01", "latin1"), Buffer.alloc(8), ...first),
    message("d", header, int16(1), field(Buffer.from([0, 0, 0, 1]))),
    message("d", header, int16(2), field(Buffer.from([0, 1])), field(null)),
    message("d", header, ...first, int16(0)),
    message("d", header, int16(2), field(null), Buffer.from([0, 0, 0, 9, 1])),
    message("d", header, int16(2), field(null)),
    Buffer.from([0x64, 0, 0, 0, 1, 0]),
    Buffer.from([0x64, 0x80, 0, 0, 1, 0]),
  ];
  for (const bytes of broken) {
    const { failure, lines, isOpen } = receive([bytes]);
    expect(failure).toMatchObject(unusable);
    expect(lines).toEqual([]);
    expect(isOpen).toBe(false);
  }
});

test("a row beyond the limit is refused by its length, before it is held", () => {
  const head = Buffer.from([0x64, 0x04, 0, 0, 0, 0]); // 64 MiB
  expect(receive([answerOf(rows).subarray(0, 40), head]).failure).toBeUndefined();
  expect(receive([head]).failure).toMatchObject({ code: "RECORD_TOO_LARGE" });
});
