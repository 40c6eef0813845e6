/** Streams that bring nothing new: most of a large database, on most days. */
import { DuckDBConnection } from "@duckdb/node-api";
import type { JsonValue } from "svc-connectors";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

let nowMs = 1_700_000_000_000;
let place: Awaited<ReturnType<typeof openDuckdbPlace>>;
beforeAll(async () => {
  place = await openDuckdbPlace({ now: () => nowMs, sleep: async () => {} });
});
afterAll(() => place.close());
afterEach(() => vi.restoreAllMocks());

type Row = readonly [id: number, at: number, text: string];

const properties = { id: { type: "integer" }, at: { type: "integer" }, text: { type: "string" } };

interface Run {
  readonly fence: number;
  readonly rows?: readonly Row[];
  readonly state: JsonValue;
  readonly more?: Readonly<Record<string, object>>;
}

/** One run. Gives the statements that it ran once the writer was open. */
async function run(name: string, { fence, rows = [], state, more = {} }: Run): Promise<string[]> {
  nowMs += 60_000;
  const described = { name, into: "append_dedup", key: ["id"], cursor: "at" } as const;
  const stream = describeStream({ ...properties, ...more }, described);
  const sink = await place.write({ owner: name, jobId: `job_${fence}`, fence, streams: [stream] });
  const ran = vi.spyOn(DuckDBConnection.prototype, "run");
  await sink.status({ name }, "started");
  if (rows.length > 0) {
    const long = { kind: "integer", encoding: "int64", isKey: true } as const;
    const columns = [
      columnOf(
        "id",
        long,
        rows.map(([id]) => BigInt(id)),
      ),
      columnOf(
        "at",
        long,
        rows.map(([, at]) => BigInt(at)),
      ),
      columnOf(
        "text",
        { kind: "text", encoding: "utf8" },
        rows.map(([, , text]) => text),
      ),
    ];
    await sink.writeBatch?.({ name }, { rowCount: rows.length, columns, notes: [] });
  }
  await sink.checkpoint({ name }, state, rows.length);
  await sink.status({ name }, "complete");
  const statements = ran.mock.calls.map(([sql]) => sql);
  ran.mockRestore();
  await sink.close();
  return statements;
}

const read = (name: string) =>
  place.sql(`SELECT id, "at", text, _svc_job_id, _svc_id FROM "_svc_${name}" ORDER BY id`);
const savedAt = (name: string) =>
  place.sql(`SELECT updated_at::VARCHAR, state FROM _svc.state WHERE owner = '${name}'`);

const rows: readonly Row[] = [
  [1, 10, "a"],
  [2, 20, "b"],
];

test("no row and the same state: no statement at all", async () => {
  await run("idle", { fence: 1, rows, state: { at: 20 } });
  const before = [await read("idle"), await savedAt("idle")];
  expect(await run("idle", { fence: 2, state: { at: 20 } })).toEqual([]);
  expect([await read("idle"), await savedAt("idle")]).toEqual(before);
});

test("no row and another state: the state is saved", async () => {
  await run("moved", { fence: 1, rows, state: { at: 20 } });
  await run("moved", { fence: 2, state: { at: 30 } });
  expect((await savedAt("moved")).map(([, state]) => state)).toEqual(['{"at":30}']);
});

test("no row and a new property: the table has its column", async () => {
  await run("grown", { fence: 1, rows, state: { at: 20 } });
  await run("grown", { fence: 2, state: { at: 20 }, more: { later: { type: "string" } } });
  expect(await place.sql('SELECT later FROM "_svc_grown"')).toEqual([[null], [null]]);
});

test("the row of the last cursor, once more: the table and the state stay as they are", async () => {
  await run("repeated", { fence: 1, rows, state: { at: 20 } });
  const before = [await read("repeated"), await savedAt("repeated")];
  const again = rows.slice(1);
  const statements = await run("repeated", { fence: 2, rows: again, state: { at: 20 } });
  expect(statements.map((sql) => sql.split(" ")[0])).toEqual(["SELECT"]);
  expect([await read("repeated"), await savedAt("repeated")]).toEqual(before);
});

test.each<[string, Row, string[]]>([
  ["another value", [2, 20, "c"], ["a/job_1", "c/job_2"]],
  ["a newer cursor", [2, 21, "b"], ["a/job_1", "b/job_2"]],
  ["an older cursor", [2, 19, "c"], ["a/job_1", "b/job_1"]],
  ["another key", [3, 20, "b"], ["a/job_1", "b/job_1", "b/job_2"]],
])("a row with %s is written as ever, beside one that is repeated", async (name, row, expected) => {
  const stream = name.replaceAll(" ", "_");
  await run(stream, { fence: 1, rows, state: { at: 20 } });
  await run(stream, { fence: 2, rows: [[1, 10, "a"], row], state: { at: 21 } });
  expect((await read(stream)).map(([, , text, job]) => `${text}/${job}`)).toEqual(expected);
});

test("an interval that is as long and another one is written, in a column and in a key", async () => {
  const span = { text: { type: "string", native_type: { postgresql: "interval" } } };
  await run("spans", { fence: 1, rows: [[1, 10, "P1M"]], state: { at: 10 }, more: span });
  await run("spans", { fence: 2, rows: [[1, 10, "P30D"]], state: { at: 10 }, more: span });
  expect(await place.sql('SELECT CAST(text AS VARCHAR) FROM "_svc_spans"')).toEqual([["30 days"]]);
  const described = { name: "keys", into: "append_dedup", key: ["text"] } as const;
  const stream = describeStream({ ...properties, ...span }, described);
  const sink = await place.write({ owner: "keys", jobId: "job", fence: 1, streams: [stream] });
  const options = { kind: "text", encoding: "utf8", isKey: true } as const;
  await sink.status({ name: "keys" }, "started");
  const columns = [columnOf("text", options, ["P1M", "P30D"])];
  await sink.writeBatch?.({ name: "keys" }, { rowCount: 2, columns, notes: [] });
  await sink.checkpoint({ name: "keys" }, {}, 2);
  await sink.status({ name: "keys" }, "complete");
  await sink.close();
  expect(await place.sql('SELECT text FROM "_svc_keys" ORDER BY 1')).toEqual([["P1M"], ["P30D"]]);
});
