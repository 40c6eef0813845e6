/**
 * A whole sync of PostgreSQL into DuckDB and into PostgreSQL, sandbox, filter and state included,
 * against programs that only copy: `psql` into `psql`, and `psql` into DuckDB's own CSV reader.
 * Also 6,000 small tables, with the peak of memory. `node --conditions=svc-source bench/sync.ts
 * [rows]`
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  findPostgres,
  type PostgresDatabase,
  startPostgres,
} from "../simulators/postgres-server.ts";
import { type Result, runProgram } from "./run.ts";

const columns = "id, email, name, active, score, amount, created_at, city, note, visits";
const types = `id bigint PRIMARY KEY, email text, name text, active boolean, score double precision, amount numeric(12, 2),
  created_at timestamptz, city text, note text, visits bigint`;

export async function* benchSync(rowCount = 5_000_000): AsyncGenerator<Result> {
  const binaries = findPostgres();
  if (binaries === undefined) return;
  const psql = join(binaries, "psql");
  await using server = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  const settingsOf = ({ name }: PostgresDatabase) => ({
    host: server.host,
    port: server.port,
    database: name,
    username: "postgres",
    password: server.password,
    ssl_mode: "disable",
  });
  try {
    const source = await server.createDatabase();
    await source.query(`CREATE TABLE people (${types})`);
    await source.query(`INSERT INTO people SELECT i, 'person' || i || '@example.org', 'Person Number ' || i, i % 3 = 0, i / 8.0, i / 100.0,
      timestamptz '2026-01-01' + i * interval '1 second', 'Berlin', 'a note of some length about ' || i, i % 1000
      FROM generate_series(1, ${rowCount}) i`);
    const target = await server.createDatabase();
    await target.query(`CREATE TABLE people (${types.replace(" PRIMARY KEY", "")})`);
    const rows = rowCount.toLocaleString("en");

    const copied = await timed(
      [psql, source.url, "-c", `\\copy people (${columns}) TO STDOUT`],
      [psql, target.url, "-c", "\\copy people FROM STDIN"],
    );
    const into = await server.createDatabase();
    const toPostgres = await runProgram("./sync-run.ts", [
      JSON.stringify({
        source: settingsOf(source),
        destination: { name: "postgres-destination", config: settingsOf(into) },
      }),
    ]);
    yield {
      name: `sync of ${rows} rows, PostgreSQL → PostgreSQL, against psql \\copy into psql \\copy`,
      ours: `${toPostgres.seconds.toFixed(1)} s, ${String(toPostgres.report.peakMb)} MB`,
      baseline: `${copied.toFixed(1)} s`,
      ratio: copied / toPostgres.seconds,
      aim: "≥ 0.4",
    };

    const plain = join(folder, "plain.duckdb");
    const reader = fileURLToPath(new URL("./duckdb-csv.ts", import.meta.url));
    const piped = await timed(
      [psql, source.url, "-c", `\\copy people (${columns}) TO STDOUT CSV`],
      [process.execPath, reader, plain],
    );
    const toDuckdb = await runProgram("./sync-run.ts", [
      JSON.stringify({
        source: settingsOf(source),
        destination: { name: "duckdb", config: { file: "bench" }, folder },
      }),
    ]);
    yield {
      name: `sync of ${rows} rows, PostgreSQL → DuckDB, against psql \\copy into DuckDB's read_csv`,
      ours: `${toDuckdb.seconds.toFixed(1)} s, ${String(toDuckdb.report.peakMb)} MB`,
      baseline: `${piped.toFixed(1)} s`,
      ratio: piped / toDuckdb.seconds,
      aim: "≥ 0.4",
    };

    const many = await server.createDatabase();
    await many.query(`DO $$ BEGIN FOR t IN 1..6000 LOOP
      EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, a text, b numeric, c timestamptz)', t);
      EXECUTE format('INSERT INTO t%s SELECT i, ''row '' || i, i / 7.0, now() FROM generate_series(1, 3) i', t);
    END LOOP; END $$`);
    const manyInto = await server.createDatabase();
    for (const [name, config] of [
      ["duckdb", { file: "many" }],
      ["postgres-destination", settingsOf(manyInto)],
    ] as const) {
      const run = await runProgram("./sync-run.ts", [
        JSON.stringify({ source: settingsOf(many), destination: { name, config, folder } }),
      ]);
      yield {
        name: `6,000 tables, PostgreSQL → ${name}: time and peak memory of the host`,
        ours: `${run.seconds.toFixed(1)} s, ${String(run.report.peakMb)} MB`,
        baseline: `${((run.seconds * 1000) / 6000).toFixed(1)} ms a table`,
        ratio: Number.NaN,
        aim: "bounded",
      };
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Seconds that one program takes to feed another, through a pipe of the shell's. */
async function timed(from: readonly string[], to: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const words = (args: readonly string[]) =>
    args.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn("/bin/sh", ["-c", `${words(from)} | ${words(to)}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  if (code !== 0) throw new Error(`the copy ended with ${code}`);
  return (performance.now() - startedMs) / 1000;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const { name, ours, baseline, ratio, aim } of benchSync(
    Number(process.argv[2] ?? 5_000_000),
  ))
    console.log(`| ${name} | ${ours} | ${baseline} | ${ratio.toFixed(2)} | ${aim} |`);
