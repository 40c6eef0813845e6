/**
 * A whole sync of PostgreSQL into DuckDB and into PostgreSQL, sandbox, filter and state included,
 * against programs that only copy: `psql` into `psql`, and `psql` into DuckDB's own CSV reader.
 * Also many small tables. CPU seconds are of the clients' whole process trees, from the source.
 *
 *     node --conditions=svc-source bench/sync.ts [rows] [tables]
 */
import type { PostgresDatabase } from "../simulators/postgres-server.ts";
import { timed } from "./columns/measure.ts";
import { createWorld, here, node, quoted } from "./columns/world.ts";

const columns = "id, email, name, active, score, amount, created_at, city, note, visits";
const types = `id bigint PRIMARY KEY, email text, name text, active boolean, score double precision, amount numeric(12, 2),
  created_at timestamptz, city text, note text, visits bigint`;

const [rowCount = 5_000_000, tableCount = 6_000] = process.argv.slice(2).map(Number);

await using world = await createWorld();
const { psql, settingsOf } = world;
const sync = (source: PostgresDatabase, name: string, config: object) => {
  const destination = { name, config, folder: world.folder };
  const request = JSON.stringify({ source: settingsOf(source), destination });
  return `${node} --conditions=svc-source ${quoted(here("sync-run.ts"))} ${quoted(request)} 2>/dev/null`;
};

const source = await world.createDatabase();
await source.query(`CREATE TABLE people (${types})`);
await source.query(`INSERT INTO people SELECT i, 'person' || i || '@example.org', 'Person Number ' || i, i % 3 = 0, i / 8.0, i / 100.0,
  timestamptz '2026-01-01' + i * interval '1 second', 'Berlin', 'a note of some length about ' || i, i % 1000
  FROM generate_series(1, ${rowCount}) i`);
const target = await world.createDatabase();
await target.query(`CREATE TABLE people (${types.replace(" PRIMARY KEY", "")})`);
const copyOut = (format: string) =>
  `${psql} ${quoted(source.url)} -c '\\copy people (${columns}) TO STDOUT ${format}'`;
const into = await world.createDatabase();

console.log(
  `| ${rowCount.toLocaleString("en")} rows of 10 columns | CPU s | wall s | host MB | of a copy: CPU s | × |\n|---|---|---|---|---|---|`,
);
const ways = [
  {
    name: "PostgreSQL → PostgreSQL, against psql",
    ours: sync(source, "postgres-destination", settingsOf(into)),
    copy: `${copyOut("")} | ${psql} ${quoted(target.url)} -c '\\copy people FROM STDIN' >/dev/null`,
  },
  {
    name: "PostgreSQL → DuckDB, against psql and read_csv",
    ours: sync(source, "duckdb", { file: "bench" }),
    copy: `${copyOut("CSV")} | ${node} ${quoted(here("duckdb-csv.ts"))} ${quoted(world.place("plain"))} >/dev/null`,
  },
];
for (const { name, ours, copy } of ways) {
  const [cost, copied] = [await timed(ours), await timed(copy)];
  console.log(
    `| ${name} | ${cost.cpu.toFixed(1)} | ${cost.wall.toFixed(1)} | ${cost.hostMb} | ${copied.cpu.toFixed(1)} | ${(cost.cpu / copied.cpu).toFixed(1)} |`,
  );
}

const many = await world.createDatabase();
// A transaction each: the server has locks for some thousand tables in one.
for (let table = 1; table <= tableCount; table += 500)
  await many.query(`DO $$ BEGIN FOR t IN ${table}..${Math.min(tableCount, table + 499)} LOOP
    EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, a text, b numeric, c timestamptz)', t);
    EXECUTE format('INSERT INTO t%s SELECT i, ''row '' || i, i / 7.0, now() FROM generate_series(1, 3) i', t);
  END LOOP; END $$`);
const manyInto = await world.createDatabase();
console.log(
  `\n| ${tableCount.toLocaleString("en")} tables of 3 rows | CPU s | CPU ms a table | wall s | host MB |\n|---|---|---|---|---|`,
);
for (const [name, config] of [
  ["duckdb", { file: "many" }],
  ["postgres-destination", settingsOf(manyInto)],
] as const) {
  const { cpu, wall, hostMb } = await timed(sync(many, name, config));
  console.log(
    `| PostgreSQL → ${name} | ${cpu.toFixed(1)} | ${((cpu * 1000) / tableCount).toFixed(1)} | ${wall.toFixed(1)} | ${hostMb} |`,
  );
}
