/**
 * Merges of more rows than are merged whole: those whose keys alone decide, and those they do not.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

const clock = { now: () => 1_700_000_000_000, sleep: async () => {} };
let place: Awaited<ReturnType<typeof openDuckdbPlace>>;
beforeAll(async () => {
  place = await openDuckdbPlace(clock);
});
afterAll(() => place.close());

interface Row {
  readonly id: number;
  readonly at: number | null;
  readonly text: string;
}

const rowCount = 5_000;
const rowsOf = (make: (row: number) => Partial<Row>): Row[] =>
  Array.from({ length: rowCount }, (_, row) => ({
    id: row,
    at: row,
    text: `new ${row}`,
    ...make(row),
  }));

const properties = {
  id: { type: "integer" },
  at: { type: ["integer", "null"] },
  text: { type: "string" },
};

async function run(name: string, fence: number, cursor: string | undefined, rows: readonly Row[]) {
  const described = { name, into: "append_dedup", key: ["id"] } as const;
  const stream = describeStream(properties, cursor ? { ...described, cursor } : described);
  const sink = await place.write({ owner: name, jobId: "job", fence, streams: [stream] });
  await sink.status({ name }, "started");
  const number = { kind: "integer", encoding: "int32" } as const;
  const columns = [
    columnOf(
      "id",
      number,
      rows.map(({ id }) => id),
    ),
    columnOf(
      "at",
      number,
      rows.map(({ at }) => at),
    ),
    columnOf(
      "text",
      { kind: "text", encoding: "utf8" },
      rows.map(({ text }) => text),
    ),
  ];
  await sink.writeBatch?.({ name }, { rowCount: rows.length, columns, notes: [] });
  await sink.checkpoint({ name }, { fence }, rows.length);
  await sink.status({ name }, "complete");
  await sink.close();
  return sink.location({ name });
}

/**
 * The rows that remain, written one after the other: the newest of each key, of equal ones the
 * later.
 */
function newest(cursor: string | undefined, rows: readonly Row[]): string[] {
  const byId = new Map<number, Row>();
  for (const row of rows) {
    const known = byId.get(row.id);
    const isOlder =
      cursor !== undefined && known && known.at !== null && (row.at === null || known.at > row.at);
    if (!isOlder) byId.set(row.id, row);
  }
  return [...byId.values()]
    .sort((a, b) => a.id - b.id)
    .map(({ id, at, text }) => `${id}/${at}/${text}`);
}

const before = rowsOf((row) => ({ text: `old ${row}`, at: row % 2 === 0 ? row : row + 10_000 }));

test.each<[string, string | undefined, readonly Row[]]>([
  ["that are all new", "at", rowsOf((row) => ({ id: row + rowCount }))],
  ["that all replace others", "at", rowsOf((row) => ({ at: 50_000 + row }))],
  ["of which some are older", "at", rowsOf(() => ({}))],
  ["that are all older", "at", rowsOf(() => ({ at: -1 }))],
  ["without a cursor value", "at", rowsOf(() => ({ at: null }))],
  ["whose keys come twice", "at", rowsOf((row) => ({ id: row % 3_000, at: 50_000 - row }))],
  ["that have no cursor", undefined, rowsOf((row) => ({ id: row + 2_500 }))],
  ["whose keys come twice, and have no cursor", undefined, rowsOf((row) => ({ id: row % 3_000 }))],
])("rows %s leave the newest of each key", async (name, cursor, rows) => {
  const stream = name.replaceAll(/\W+/g, "_");
  await run(stream, 1, cursor, before);
  const location = await run(stream, 2, cursor, rows);
  const found = await place.sql(
    `SELECT concat_ws('/', id, coalesce("at"::VARCHAR, 'null'), text) FROM ${location} ORDER BY id`,
  );
  expect(found.map(([text]) => text)).toEqual(newest(cursor, [...before, ...rows]));
  const ids = await place.sql(`SELECT count(DISTINCT _svc_id) = count(*) FROM ${location}`);
  expect(ids).toEqual([["true"]]);
});
