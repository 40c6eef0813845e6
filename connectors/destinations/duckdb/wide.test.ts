import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { batchOfLines } from "../../../fixtures/taking-lines.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { duckdbContext } from "../../../tests/duckdb-place.ts";
import { openDatabase } from "./database.ts";
import { duckdbFailed } from "./failures.ts";
import duckdb from "./index.ts";

const rowCount = 10_240;

test("a new file takes rows of 2,000 columns within its memory", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-wide-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "wide.duckdb");
  const types = [
    { type: "integer" },
    { type: "string" },
    { type: "number" },
    { type: "string", format: "date-time" },
  ];
  const columns = Array.from({ length: 2_000 }, (_, index) => `c${index}`);
  const properties = Object.fromEntries(
    columns.map((name, index) => [name, types[index % 4] as object]),
  );
  const values = (index: number) => [index, `text ${index}`, index / 8, "2024-01-01T00:00:00Z"];
  const row = Object.fromEntries(columns.map((name, index) => [name, values(index)[index % 4]]));
  const stream = describeStream(properties, { name: "wide", mode: "full_refresh" });
  const ctx = duckdbContext(path, { now: () => 0, sleep: async () => {} });
  const command = { owner: "wide", jobId: "job", fence: 1, streams: [stream] };
  const sink = await duckdb.write(ctx, command);
  await sink.status({ name: "wide" }, "started");
  const batch = batchOfLines(stream.configured, Array(128).fill(JSON.stringify(row)));
  for (let written = 0; written < rowCount; written += 128)
    await sink.writeBatch?.({ name: "wide" }, batch);
  await sink.status({ name: "wide" }, "complete");
  const location = sink.location({ name: "wide" });
  await sink.close();
  await using database = await openDatabase(path);
  const connection = await database.connect();
  const sql = `SELECT count(*), sum(c1996), min(c1999) = '2024-01-01 00:00:00+00' FROM ${location}`;
  const rows = (await connection.runAndReadAll(sql)).getRows();
  connection.closeSync();
  expect(rows.flat().map(String)).toEqual([String(rowCount), String(1_996 * rowCount), "true"]);
});

test("what does not fit into DuckDB's memory is told with what helps, however DuckDB says it", () => {
  for (const text of [
    "Out of Memory Error: failed to pin block of size 256.0 KiB (1.0 GiB/1.0 GiB used)",
    "TransactionContext Error: Failed to commit: could not allocate block of size 256.0 KiB (1023.8 MiB/1.0 GiB used)",
  ])
    expect(String(duckdbFailed(new Error(text)).details.reason)).toContain(
      "DuckDB needed more than its 1 GiB of memory",
    );
});
