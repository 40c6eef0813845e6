/** Measures which costs grow with rows and with streams, and which must not. */
import { rm } from "node:fs/promises";
import { timed } from "./measure.ts";
import { createMixed } from "./movers.ts";
import type { World } from "./world.ts";

/** @param isLarge also 50 million rows, for which the disk needs some tens of gigabytes */
export async function benchGrowth(world: World, isLarge: boolean): Promise<void> {
  console.log(
    "| rows of 10 mixed columns | → | CPU µs a row | wall s | host MB | worker MB |\n|---|---|---|---|---|---|",
  );
  for (const rows of [100_000, 1_000_000, 10_000_000, ...(isLarge ? [50_000_000] : [])]) {
    const database = await createMixed(world, rows);
    for (const [name, ending] of [
      ["DuckDB", ".duckdb"],
      ["JSON lines", ""],
    ] as const) {
      const place = `${world.place(name)}${ending}`;
      const cost = await timed(await world.svc(database, place));
      console.log(
        `| ${rows.toLocaleString("en")} | ${name} | ${((cost.cpu * 1e6) / rows).toFixed(2)} | ${cost.wall.toFixed(1)} | ${cost.hostMb} | ${cost.workerMb} |`,
      );
      await rm(place, { recursive: true, force: true });
    }
    await database.query("DROP TABLE mixed");
  }
  console.log(
    "\n| streams of 10 rows | → | CPU ms a stream | wall s | host MB | worker MB |\n|---|---|---|---|---|---|",
  );
  const database = await world.createDatabase();
  let made = 0;
  for (const streams of [10, 100, 1_000, 6_000]) {
    for (; made < streams; made += 10)
      await database.query(`DO $$ BEGIN FOR t IN ${made + 1}..${made + 10} LOOP
        EXECUTE format('CREATE TABLE s%s AS SELECT g AS id, ''text '' || g AS t FROM generate_series(1, 10) g', t);
      END LOOP; END $$`);
    for (const [name, ending] of [
      ["DuckDB", ".duckdb"],
      ["JSON lines", ""],
    ] as const) {
      const cost = await timed(await world.svc(database, `${world.place(name)}${ending}`));
      console.log(
        `| ${streams.toLocaleString("en")} | ${name} | ${((cost.cpu * 1e3) / streams).toFixed(1)} | ${cost.wall.toFixed(1)} | ${cost.hostMb} | ${cost.workerMb} |`,
      );
    }
  }
  console.log();
}
