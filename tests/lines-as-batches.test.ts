import { describe, expect, test } from "vitest";
import { batchOfLines } from "../conformance/destination/batches.ts";
import { columns } from "../conformance/destination/rules/dest-02.values.ts";
import { describeStream } from "../conformance/destination/streams.ts";
import { createBatchInspector } from "../runtime/batches/inspect.ts";
import { createLineRenderer } from "../runtime/batches/render-lines.ts";
import type { Batch } from "../runtime/contract/batch.ts";
import { packBatch, packedBytes, packNotes } from "../runtime/wire/columns/pack.ts";

/** The batch after the look that the host takes at what a worker sends. */
function looked(batch: Batch): Batch {
  const range = { from: 0, to: batch.rowCount };
  const notes = packNotes(batch.notes, range);
  const payload = Buffer.alloc(packedBytes(batch, range, notes.length));
  packBatch(batch, range, notes, payload);
  return createBatchInspector(batch.columns)(payload);
}

const linesOf = (batch: Batch) =>
  createLineRenderer({ name: "x" }, "rows")(batch, 0).lines.toString().trimEnd().split("\n");

describe.each(["columns", "texts"] as const)("as %s", (form) => {
  test.each(Object.entries(columns))("%s: a host takes the batch, and every value is in it", (_, {
    schema,
    literals,
  }) => {
    const { configured } = describeStream({ v: schema }, { name: "x" });
    const lines = literals.map((literal) => `{"v":${literal}}`);
    const again = linesOf(looked(batchOfLines(configured, lines, form)));
    expect(again).toHaveLength(lines.length);
    // In the same form once more: equal values are equal texts there.
    expect(linesOf(batchOfLines(configured, again, form))).toEqual(again);
  });
});

test("a database's encodings where every value has one, texts where not or where they are asked for", () => {
  const date = { type: "string", format: "date" };
  const { configured } = describeStream(
    { day: date, other: date, n: { type: "integer" } },
    { name: "x" },
  );
  const lines = ['{"day":"2024-02-29","other":"2024-02-30","n":1}', '{"n":9223372036854775808}'];
  const encodings = (form: "columns" | "texts") =>
    batchOfLines(configured, lines, form).columns.map(({ encoding }) => encoding);
  expect(encodings("columns")).toEqual(["date32", "utf8", "number"]);
  expect(encodings("texts")).toEqual(["utf8", "utf8", "number"]);
});

test("a value that its column cannot have is null, and noted beside what was noted before", () => {
  const { configured } = describeStream(
    { n: { type: "integer" }, ok: { type: "boolean" } },
    { name: "x" },
  );
  const meta = '{"changes":[{"field":"lost","change":"NULLED"}]}';
  const { notes } = batchOfLines(configured, ["{}", `{"n":"7","ok":"maybe","_svc_meta":${meta}}`]);
  expect(notes).toEqual([{ row: 1, fields: ["lost", "n", "ok"] }]);
});
