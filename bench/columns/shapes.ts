/** Tables that are wide, or long and narrow, into DuckDB. */
import type { PostgresDatabase } from "../../simulators/postgres-server.ts";
import { compare, printComparison, type Way } from "./measure.ts";
import { ofPeers, python, type World } from "./world.ts";

const kinds = [
  ["bigint", (i: number) => `g * ${i}`],
  ["text", (i: number) => `'text ${i} of row ' || g`],
  ["numeric(14, 2)", (i: number) => `g / ${i + 3}.0`],
  ["timestamptz", (i: number) => `timestamptz '2026-01-01' + (g + ${i}) * interval '1 second'`],
  ["boolean", (i: number) => `(g + ${i}) % 3 = 0`],
  ["double precision", (i: number) => `g / ${i + 7}.0`],
  ["date", (i: number) => `date '2020-01-01' + (g + ${i}) % 3000`],
  ["integer", (i: number) => `(g + ${i}) % 100000`],
] as const;

async function createWide(world: World, columns: number, rows: number): Promise<PostgresDatabase> {
  const database = await world.createDatabase();
  const own = Array.from({ length: columns - 1 }, (_, index) => {
    const [type, value] = kinds[index % kinds.length] as (typeof kinds)[number];
    return { name: `c${index}`, type, value: value(index) };
  });
  const list = own.map(({ name, type }) => `${name} ${type}`).join(", ");
  await database.query(`CREATE TABLE rows_of (id bigint PRIMARY KEY, ${list})`);
  await database.query(
    `INSERT INTO rows_of SELECT g, ${own.map(({ value }) => value).join(", ")} FROM generate_series(1, ${rows}) g`,
  );
  await database.query("ANALYZE rows_of");
  return database;
}

/** @param isLarge also 20 million rows of two columns, which takes some minutes and gigabytes */
export async function benchShapes(world: World, rounds: number, isLarge: boolean): Promise<void> {
  const shapes = [
    { columns: 200, rows: 100_000, aim: 1.5 },
    ...(isLarge ? [{ columns: 2, rows: 20_000_000, aim: 3 }] : []),
  ];
  for (const { columns, rows, aim } of shapes) {
    const database = await createWide(world, columns, rows);
    const title = `${rows.toLocaleString("en")} rows of ${columns} columns → DuckDB`;
    const ways: readonly Way[] = [
      { name: "svc", command: (place) => world.svc(database, `${place}.duckdb`) },
      ...ofPeers([{ name: "adbc", aim, command: python("adbc", database, "rows_of") }]),
    ];
    const costs = await compare(title, ways, rounds, world.place);
    printComparison(title, ways, costs);
    const ours = costs.get("svc");
    if (ours) console.log(`Peak memory: host ${ours.hostMb} MB, worker ${ours.workerMb} MB.\n`);
  }
}
