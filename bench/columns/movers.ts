/** Ten mixed columns into DuckDB, PostgreSQL, JSON lines and Parquet, beside the field's movers. */
import { readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { PostgresDatabase } from "../../simulators/postgres-server.ts";
import { compare, printComparison, type Way } from "./measure.ts";
import { here, node, ofPeers, peer, python, quoted, type World } from "./world.ts";

const types =
  "id bigint PRIMARY KEY, n integer, t text, amount numeric(12, 2), at timestamptz, ok boolean, uid uuid, j jsonb, d double precision, day date";

/** A database with a table of ten mixed columns. */
export async function createMixed(world: World, rowCount: number): Promise<PostgresDatabase> {
  const source = await world.createDatabase();
  await source.query(`CREATE TABLE mixed (${types})`);
  await source.query(`INSERT INTO mixed
    SELECT i, i % 100000, 'a text of some length about row ' || i, i / 100.0,
           timestamptz '2026-01-01' + i * interval '1.234567 seconds', i % 3 = 0,
           md5(i::text)::uuid, jsonb_build_object('a', i, 'b', jsonb_build_array('x', 'y')),
           i / 7.0, date '2020-01-01' + i % 3000
      FROM generate_series(1, ${rowCount}) i`);
  await source.query("ANALYZE mixed");
  return source;
}

export async function benchMovers(world: World, rowCount: number, rounds: number): Promise<void> {
  const source = await createMixed(world, rowCount);
  const svc = (ending: string) => (place: string) => world.svc(source, `${place}${ending}`);
  const ofPython = (name: string) => python(name, source, "mixed");
  const sling = (target: string, object: string) =>
    `SLING_HOME_DIR=${quoted(world.folder)} BENCH_SOURCE=${quoted(`${source.url}?sslmode=disable`)} ${target} ${peer("bin/sling")} run --src-conn BENCH_SOURCE --src-stream public.mixed ${object} --mode full-refresh >/dev/null 2>&1`;

  // A build has no types: stripping the driver's at each start is no work of svc's.
  const driver = here("../dist/bench-sync-run.mjs");
  await writeFile(driver, stripTypeScriptTypes(await readFile(here("sync-run.ts"), "utf8")));
  const intoPostgres = async () => {
    const target = await world.createDatabase();
    const request = {
      source: world.settingsOf(source),
      destination: { name: "postgres-destination", config: world.settingsOf(target) },
    };
    const file = join(world.folder, `${target.name}.json`);
    await writeFile(file, JSON.stringify(request));
    return `${node} ${quoted(driver)} "$(cat ${quoted(file)})" >/dev/null`;
  };
  const psqlIntoPostgres = async () => {
    const target = await world.createDatabase();
    await target.query(`CREATE TABLE mixed (${types.replace(" PRIMARY KEY", "")})`);
    return `${world.psql} ${quoted(source.url)} -c '\\copy mixed TO STDOUT' | ${world.psql} ${quoted(target.url)} -c '\\copy mixed FROM STDIN' >/dev/null`;
  };
  const slingIntoPostgres = async () => {
    const target = await world.createDatabase();
    return sling(
      `BENCH_TARGET=${quoted(`${target.url}?sslmode=disable`)}`,
      "--tgt-conn BENCH_TARGET --tgt-object public.mixed",
    );
  };

  const tables: Readonly<Record<string, readonly Way[]>> = {
    "→ DuckDB": [
      { name: "svc", command: svc(".duckdb") },
      ...ofPeers([
        { name: "adbc", aim: 1, command: ofPython("adbc") },
        { name: "connectorx", aim: 0.8, command: ofPython("connectorx") },
        { name: "dlt", aim: 0.2, command: ofPython("dlt") },
      ]),
    ],
    "→ PostgreSQL": [
      { name: "svc", command: intoPostgres },
      { name: "psql, text", wallAim: 1.3, command: psqlIntoPostgres },
      ...ofPeers([{ name: "sling", aim: 0.3, command: slingIntoPostgres }]),
    ],
    "→ JSON lines": [
      { name: "svc", command: svc("") },
      ...ofPeers([
        {
          name: "sling",
          aim: 0.3,
          command: (place) => sling("", `--tgt-object file://${place}.jsonl`),
        },
      ]),
    ],
    "→ Parquet": [
      { name: "svc", command: svc(".parquet") },
      { name: "svc → DuckDB", aim: 1.2, command: svc(".duckdb") },
    ],
  };
  console.log(`## ${rowCount.toLocaleString("en")} rows of 10 mixed columns, ${rounds} rounds\n`);
  for (const [title, ways] of Object.entries(tables))
    printComparison(title, ways, await compare(title, ways, rounds, world.place));
}
