/**
 * The contents of the folder: partitions, files of small syncs, files that do not count any more;
 * and stores that are no good.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openFilesPlace } from "../../../tests/files-place.ts";
import { createFolderStore } from "./folder-store.ts";
import { type Manifest, manifestPath } from "./manifest.ts";

const dayMs = 86_400_000;
const text = { type: "string" };
const integer = { type: "integer" };
let nowMs = Date.parse("2026-03-31T12:00:00Z");
const clock = { now: () => nowMs, sleep: async () => {} };

type Place = Awaited<ReturnType<typeof openFilesPlace>>;
let place: Place;
let fence = 0;
beforeAll(async () => {
  place = await openFilesPlace(clock);
});
afterAll(() => place?.close());

const manifestOf = async ({ path }: Place, owner: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(path, manifestPath(owner)), "utf8"));
const filesIn = async ({ path }: Place, table: string) =>
  (await readdir(join(path, "main", table), { recursive: true }))
    .filter((name) => name.endsWith(".parquet"))
    .sort();
const counted = async (from: Place, owner: string) =>
  (await manifestOf(from, owner)).tables.flatMap(({ current }) => current?.files ?? []);

/** One sync of rows by their ids; each is a commit. */
async function sync(
  at: Place,
  owner: string,
  stream: ReturnType<typeof describeStream>,
  ids: readonly number[],
): Promise<void> {
  fence += 1;
  const { name } = stream.configured.stream;
  const sink = await at.write({ owner, jobId: `job_${fence}`, fence, streams: [stream] });
  await sink.status({ name }, "started");
  const lines = ids.map((id) => `{"id":${id},"note":"n${fence}"}\n`).join("");
  if (ids.length > 0) await sink.write({ name }, Buffer.from(lines), ids.length);
  await sink.checkpoint({ name }, { fence }, ids.length);
  await sink.status({ name }, "complete");
  await sink.close();
}

const keyed = (name: string) =>
  describeStream({ id: integer, note: text }, { name, into: "append_dedup", key: ["id"] });
const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe("files", () => {
  test("have null for NaN in a decimal, and each is counted", async () => {
    const decimal = { type: "number", airbyte_type: "big_number", precision: 12, scale: 2 };
    const name = "endless";
    const stream = describeStream({ id: integer, v: decimal }, { name });
    const sink = await place.write({ owner: name, jobId: "job", fence: 1, streams: [stream] });
    await sink.status({ name }, "started");
    const columns = [
      columnOf("id", { kind: "integer", encoding: "int32" }, [1, 2, 3]),
      columnOf("v", { kind: "number", encoding: "number" }, ["1.5", "NaN", "-Infinity"]),
    ];
    await sink.writeBatch?.({ name }, { rowCount: 3, columns, notes: [] });
    await sink.checkpoint({ name }, { at: 1 }, 3);
    await sink.status({ name }, "complete");
    await sink.close();
    expect(await place.sql(`SELECT v FROM ${sink.location({ name })} ORDER BY id`)).toEqual([
      ["1.50"],
      [null],
      [null],
    ]);
    expect(sink.nulledCount?.({ name })).toBe(2);
  });

  test("are those that the manifest names, and people read them with nothing but it", async () => {
    await sync(place, "people", keyed("people"), range(0, 50));
    await sync(place, "people", keyed("people"), range(40, 20));
    const { tables } = await manifestOf(place, "people");
    const paths = (tables[0]?.current?.files ?? []).map(({ path }) => join(place.path, path));
    const connection = await (await DuckDBInstance.create()).connect();
    const names = paths.map((path) => `'${path}'`).join(", ");
    const read = await connection.runAndReadAll(
      `SELECT count(*)::INT, count(DISTINCT id)::INT, sum(id)::INT FROM read_parquet([${names}])`,
    );
    expect(read.getRowsJson()).toEqual([[60, 60, (59 * 60) / 2]]);
    connection.closeSync();
  });

  test("that no row of a sync concerns stay as they are", async () => {
    const stream = keyed("ranges");
    await sync(place, "ranges", stream, range(0, 100));
    await sync(place, "ranges", stream, range(1_000, 100));
    const before = await counted(place, "ranges");
    expect(before).toHaveLength(2);
    await sync(place, "ranges", stream, [1_005, 2_000]);
    const after = await counted(place, "ranges");
    const [first, second] = before;
    expect(after).toContainEqual(first);
    expect(after).not.toContainEqual(second);
    expect(after.reduce((sum, { rows }) => sum + rows, 0)).toBe(201);
  });

  test("that were replaced are there for a day, for those who read by an earlier manifest", async () => {
    const stream = keyed("replaced");
    await sync(place, "replaced", stream, [1, 2]);
    const old = await filesIn(place, "_svc_replaced");
    await sync(place, "replaced", stream, [2, 3]);
    expect(await filesIn(place, "_svc_replaced")).toEqual(expect.arrayContaining(old));
    nowMs += dayMs + 1;
    await sync(place, "replaced", stream, []);
    const left = await filesIn(place, "_svc_replaced");
    expect(left).toEqual(
      (await counted(place, "replaced")).map(({ path }) => path.split("/").at(-1)),
    );
    expect(left).not.toContain(old[0]);
  });

  test("of many small syncs are put together", async () => {
    const stream = describeStream({ id: integer, note: text }, { name: "small" });
    for (const id of range(0, 18)) await sync(place, "small", stream, [id]);
    expect((await counted(place, "small")).length).toBeLessThan(5);
    expect(await place.sql("SELECT count(*) FROM _svc_small")).toEqual([["18"]]);
  });

  test("that a killed writer has left are removed by the next one", async () => {
    const stream = describeStream(
      { id: integer, note: text },
      { name: "killed", mode: "full_refresh", into: "overwrite" },
    );
    await sync(place, "killed", stream, [1]);
    const left = join(place.path, "main", "_svc_killed");
    const [made = ""] = await filesIn(place, "_svc_killed");
    const orphan = made.replace(/-[0-9a-f-]{36}\./, "-00000000-0000-4000-8000-000000000000.");
    await writeFile(join(left, orphan), "half of it");
    // It is never closed: a killed one.
    fence += 1;
    await place.write({ owner: "killed", jobId: "job", fence, streams: [stream] });
    expect(await filesIn(place, "_svc_killed")).toHaveLength(2);
    await sync(place, "killed", stream, [2]);
    expect(await filesIn(place, "_svc_killed")).not.toContain(orphan);
  });

  test("are in folders by the time of their writing, where that is wanted", async () => {
    const own = await openFilesPlace(clock, { partition_by: "month" });
    try {
      nowMs = Date.parse("2026-03-31T23:59:59Z");
      await sync(own, "parted", keyed("parted"), [1, 2]);
      nowMs = Date.parse("2026-04-01T00:00:01Z");
      await sync(own, "parted", keyed("parted"), [2, 3]);
      const folders = (await counted(own, "parted")).map(({ path }) => path.split("/")[2]).sort();
      expect(folders).toEqual(["_svc_month=2026-03", "_svc_month=2026-04"]);
      expect(await own.sql("SELECT id FROM _svc_parted ORDER BY id")).toEqual([
        ["1"],
        ["2"],
        ["3"],
      ]);
    } finally {
      await own.close();
    }
  });
});

test("a table of another name in capitals is the same one: another connection does not get it", async () => {
  await sync(place, "one", describeStream({ id: integer }, { name: "Capital" }), [1]);
  const theirs = describeStream({ id: integer }, { name: "capital" });
  await expect(sync(place, "two", theirs, [1])).rejects.toMatchObject({ code: "TABLE_CONFLICT" });
});

test("a folder that people keep files in is not taken for a table", async () => {
  const path = join(place.path, "main", "_svc_kept");
  await createFolderStore(place.path).replace(
    "main/_svc_kept/own.csv",
    Buffer.from("1"),
    undefined,
  );
  await expect(
    sync(place, "kept", describeStream({ id: integer }, { name: "kept" }), [1]),
  ).rejects.toMatchObject({ code: "TABLE_CONFLICT" });
  expect(await readdir(path)).toEqual(["own.csv"]);
});

test("a damaged manifest is a clear error, and nothing is written over it", async () => {
  const path = join(place.path, manifestPath("damaged"));
  await sync(place, "damaged", keyed("damaged"), [1]);
  await writeFile(path, "{ half");
  await expect(sync(place, "damaged", keyed("damaged"), [2])).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    details: { reason: "its manifest is damaged" },
  });
  expect(await readFile(path, "utf8")).toBe("{ half");
});

test("of two who replace one object at once, one is told that it has changed", async () => {
  const store = createFolderStore(place.path);
  const tag = await store.replace("_svc/race", Buffer.from("0"), undefined);
  const tags = await Promise.all(
    range(1, 8).map((one) => store.replace("_svc/race", Buffer.from(String(one)), tag)),
  );
  expect(tags.filter((one) => one !== undefined)).toHaveLength(1);
});
