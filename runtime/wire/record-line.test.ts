import { describe, expect, test } from "vitest";
import { createLineFormatter } from "./record-line.ts";

const lines = (...texts: string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(""));
describe("the envelope", () => {
  const stream = { name: 'odd "näme"\n', namespace: "public" };
  const rows = lines('{"id":1}', '{"id":null}\t{"changes":[{"field":"id"}]}', "{}");

  test("of an Airbyte message names the stream, and the notes where there are any", () => {
    const format = createLineFormatter(stream, "airbyte");
    const record = (data: unknown, meta?: unknown) => ({
      type: "RECORD",
      record: {
        stream: stream.name,
        namespace: "public",
        data,
        emitted_at: 99,
        ...(meta ? { meta } : {}),
      },
    });
    const parse = (text: Buffer) =>
      text
        .toString()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(parse(format(rows, 3, true, 99))).toEqual([
      record({ id: 1 }),
      record({ id: null }, { changes: [{ field: "id" }] }),
      record({}),
    ]);
    expect(parse(format(lines('{"id":1}', "{}"), 2, false, 99))).toEqual([
      record({ id: 1 }),
      record({}),
    ]);
  });

  test("of bare rows is none, and notes become _svc_meta", () => {
    const format = createLineFormatter(stream, "rows");
    expect(format(rows, 3, true, 99).toString()).toBe(
      '{"id":1}\n{"id":null,"_svc_meta":{"changes":[{"field":"id"}]}}\n{}\n',
    );
  });
});
