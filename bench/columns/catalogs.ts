/** Many tables: found, read when there is nothing new, and read when they are empty. */
import type { PostgresDatabase } from "../../simulators/postgres-server.ts";
import { type Cost, compare, timed } from "./measure.ts";
import { quoted, type World } from "./world.ts";

async function createTables(
  world: World,
  count: number,
  columns: number,
  rows: number,
): Promise<PostgresDatabase> {
  const database = await world.createDatabase();
  // A transaction each: the server has locks for some thousand tables in one.
  for (let table = 1; table <= count; table += 500)
    await database.query(`DO $$ BEGIN FOR t IN ${table}..${Math.min(count, table + 499)} LOOP
      EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, updated_at timestamptz NOT NULL DEFAULT now(), %s)', t,
        (SELECT string_agg(format('c%s text', c), ', ') FROM generate_series(3, ${columns}) c));
      IF ${rows} > 0 THEN EXECUTE format('INSERT INTO t%s (id) SELECT generate_series(1, ${rows})', t); END IF;
    END LOOP; END $$`);
  return database;
}

const bareCatalog =
  "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND n.nspname = 'public' AND a.attnum > 0 ORDER BY 1, 2, a.attnum";

export async function benchCatalogs(world: World): Promise<void> {
  console.log("| many tables | reached | aim |\n|---|---|---|");
  const wide = await createTables(world, 6_000, 20, 0);
  await timed(await world.svcVerb("discover", wide)); // fills the server's caches
  const [bare, found, empty] = await medians([
    async () => `${world.psql} ${quoted(wide.url)} -c ${quoted(bareCatalog)} >/dev/null`,
    () => world.svcVerb("discover", wide),
    () => world.svc(wide, world.place("empty")),
  ]);
  console.log(`| discover of 6,000 × 20: CPU s | ${found.cpu.toFixed(2)} | ≤ 0.6 |`);
  console.log(
    `| its wall, against the bare query with psql | ${(found.wall / bare.wall).toFixed(1)} × (${found.wall.toFixed(2)} s) | ≤ 2 × |`,
  );
  console.log(
    `| 6,000 empty tables × 20 → JSON lines: ms a table, start included | ${perTable(empty.wall, 6_000)} | ≤ 5 |`,
  );

  const idle = await createTables(world, 200, 6, 5);
  const cursors = Array.from(
    { length: 200 },
    (_, index) => `--cursor public.t${index + 1}=updated_at`,
  ).join(" ");
  const command = await world.svc(idle, `${world.place("idle")}.duckdb`, cursors);
  await timed(command);
  const [again] = await medians([async () => command]);
  console.log(
    `| 200 tables with nothing new → DuckDB: ms a table, start included | ${perTable(again.wall, 200)} | ≤ 8 |`,
  );
  console.log(
    `| its peak memory: host, worker; MB | ${again.hostMb}, ${again.workerMb} | ≤ 250 |\n`,
  );
}

const rounds = 3;

/** The medians of commands that are run by turns. @throws when one fails */
async function medians<const Commands extends readonly (() => Promise<string>)[]>(
  commands: Commands,
): Promise<{ readonly [Index in keyof Commands]: Cost }> {
  const ways = commands.map((command, index) => ({ name: String(index), command }));
  const costs = await compare("many tables", ways, rounds, () => "");
  return ways.map(({ name }) => {
    const cost = costs.get(name);
    if (!cost) throw new Error("a command failed each time");
    return cost;
  }) as never;
}

const perTable = (seconds: number, tables: number) => ((seconds * 1000) / tables).toFixed(1);
