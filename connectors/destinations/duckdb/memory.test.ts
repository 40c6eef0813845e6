/** The memory in which DuckDB keeps rows that it has written. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";
import { openDatabase } from "./database.ts";
import { duckdbFailed } from "./failures.ts";

test("rows are committed before they are many bytes, and are not kept in memory", async () => {
  const place = await openDuckdbPlace({ now: () => 1_700_000_000_000, sleep: async () => {} });
  const stream = describeStream({ v: { type: "string" } }, { name: "large" });
  const committed: number[] = [];
  const sink = await place.write({
    owner: "large",
    jobId: "job",
    fence: 1,
    streams: [stream],
    onCommitted: ({ rowCount }) => committed.push(rowCount),
  });
  await sink.status({ name: "large" }, "started");
  const write = async (...texts: string[]) => {
    const columns = [columnOf("v", { kind: "text", encoding: "utf8" }, texts)];
    await sink.writeBatch?.({ name: "large" }, { rowCount: texts.length, columns, notes: [] });
    await sink.checkpoint({ name: "large" }, { at: committed.length }, texts.length);
  };
  await write("the first checkpoint is due, and none after it for a while");
  for (let batch = 0; batch < 8; batch++)
    await write(...Array.from({ length: 8 }, () => randomBytes(512 * 1024).toString("hex")));
  await write("one more");
  expect(committed).toEqual([1, 64]);
  {
    await using database = await openDatabase(place.path);
    const connection = await database.connect();
    const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
    const [[bytes]] = (await query("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")) as [
      [string],
    ];
    expect(Number(bytes)).toBeLessThan(33 * 1024 * 1024);
    expect(await query("SELECT current_setting('memory_limit')")).toEqual([["1.0 GiB"]]);
    connection.closeSync();
  }
  await sink.status({ name: "large" }, "complete");
  await sink.close();
  expect(await place.sql('SELECT count(*) FROM "_svc_large"')).toEqual([["66"]]);
  await place.close();
});

test.each([
  "Out of Memory Error: could not allocate block of size 256.0 KiB (1.0 GiB/1.0 GiB used)",
  "TransactionContext Error: Failed to commit: failed to pin block of size 4.0 MiB (1.0 GiB/1.0 GiB used)",
])("what DuckDB has no memory for is told so: %s", (message) => {
  expect(duckdbFailed(new Error(message)).details).toMatchObject({
    reason: expect.stringContaining("1 GiB of memory"),
  });
});
