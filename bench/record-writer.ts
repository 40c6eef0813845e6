/**
 * The record writer (validation, projection, columns: the worker's part), and with it the look at
 * the batch and its lines (the host's part), against JSON.stringify of the whole, unchecked Airbyte
 * message; each up to the bytes of a page of 500 rows. Prints one line a shape of record; a
 * ratio is records/s over records/s.
 */
import { performance } from "node:perf_hooks";
import { Type } from "typebox";
import { createLineWriter } from "../fixtures/written-rows.ts";
import type { Row } from "../runtime/contract/output.ts";
import { Nullable, Timestamp } from "../runtime/contract/spec.ts";

const rowCount = 100_000;
const rowsPerPage = 500;
const rounds = 9;
const emittedAtMs = 1_700_000_000_000;

const timestamp = (index: number) => new Date(1_700_000_000_000 + index * 1000).toISOString();

const shapes = {
  "8 fields": {
    schema: Type.Object({
      id: Type.String(),
      email: Type.String(),
      status: Type.Enum(["active", "unsubscribed", "bounced"]),
      opens: Type.Integer({ minimum: 0 }),
      rate: Type.Number(),
      opened_at: Nullable(Timestamp()),
      is_vip: Type.Boolean(),
      note: Nullable(Type.String()),
    }),
    row: (index: number): Row => ({
      id: `sub_${index.toString(16).padStart(8, "0")}`,
      email: `person${index}@example.com`,
      status: ["active", "unsubscribed", "bounced"][index % 3],
      opens: index % 977,
      rate: (index % 1000) / 1000,
      opened_at: timestamp(index),
      is_vip: index % 7 === 0,
      note: index % 5 === 0 ? 'says "hi"\n' : null,
    }),
  },
  "8 fields, 2 of them not declared": {
    schema: Type.Object({
      id: Type.Integer(),
      email: Type.String(),
      status: Type.String(),
      opens: Type.Integer(),
      opened_at: Timestamp(),
      note: Nullable(Type.String()),
    }),
    row: (index: number): Row => ({
      id: index,
      email: `person${index}@example.com`,
      status: ["active", "unsubscribed", "bounced"][index % 3],
      opens: index % 977,
      opened_at: timestamp(index),
      note: index % 5 === 0 ? 'says "hi"\n' : null,
      html: "<p>A body that nobody asked for, with some markup in it.</p>",
      internal_id: `x-${index}`,
    }),
  },
  "20 columns, nested": {
    schema: Type.Object({
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, column) => [`text_${column}`, Nullable(Type.String())]),
      ),
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, column) => [`count_${column}`, Nullable(Type.Integer())]),
      ),
      tags: Type.Array(Type.String()),
      address: Nullable(
        Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()), lat: Type.Number() }),
      ),
    }),
    row: (index: number): Row => ({
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, column) => [
          `text_${column}`,
          `Some text ${column} of row ${index}`,
        ]),
      ),
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, column) => [`count_${column}`, index * column]),
      ),
      tags: ["a", "newsletter", "customer"].slice(index % 3),
      address: { city: "Zürich", zip: "8001", lat: 47.37 + index / 1e5 },
    }),
  },
};

/** Time of the fastest round in ns a row. */
function measure(
  pages: readonly (readonly Row[])[],
  write: (rows: readonly Row[]) => { readonly length: number },
): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    let byteCount = 0;
    for (const page of pages) byteCount += write(page).length;
    if (byteCount === 0) throw new Error("nothing was written");
    times.push(performance.now() - start);
  }
  return (Math.min(...times) * 1e6) / rowCount;
}

for (const [name, { schema, row }] of Object.entries(shapes)) {
  // From text, as a provider's answer is: objects made in other ways may be slower to read.
  const rows: Row[] = JSON.parse(
    JSON.stringify(Array.from({ length: rowCount }, (_, index) => row(index))),
  );
  const pages = Array.from({ length: rowCount / rowsPerPage }, (_, page) =>
    rows.slice(page * rowsPerPage, (page + 1) * rowsPerPage),
  );
  const stream = { name: "bench", schema };
  const { write, pack } = createLineWriter(stream, "airbyte");
  const naive = measure(pages, (page) => {
    let text = "";
    for (const data of page) {
      text += `${JSON.stringify({ type: "RECORD", record: { stream: "bench", data, emitted_at: emittedAtMs } })}\n`;
    }
    return Buffer.from(text);
  });
  const worker = measure(pages, pack);
  const whole = measure(pages, write);
  const against = (ns: number) => `${ns.toFixed(0)} ns (ratio ${(naive / ns).toFixed(2)})`;
  console.log(
    `${name}: JSON.stringify ${naive.toFixed(0)} ns a row, record writer ${against(worker)}, as lines ${against(whole)}`,
  );
}
