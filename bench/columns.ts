/**
 * Rows as columns: the aims, beside the field's movers of rows that are installed. CPU seconds are
 * of the client's whole process tree; medians of some rounds, by turns.
 *
 *     bash bench/peers/install.sh FOLDER
 *     SVC_PEERS=FOLDER node --conditions=svc-source bench/columns.ts [rows] [rounds] [--all] [--large] [--only PART]
 *
 * Without a flag only the movers; `--all` prints every table, `--large` also those that take tens
 * of minutes and gigabytes, `--only` one part. Peers that are not installed are left out. Needs
 * `npm run build`.
 */
import { parseArgs } from "node:util";
import { benchCatalogs } from "./columns/catalogs.ts";
import { benchGrowth } from "./columns/growth.ts";
import { benchMovers } from "./columns/movers.ts";
import { benchRecords } from "./columns/records.ts";
import { benchShapes } from "./columns/shapes.ts";
import { createWorld } from "./columns/world.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean" }, large: { type: "boolean" }, only: { type: "string" } },
});
const [rowCount = 500_000, rounds = 3] = positionals.map(Number);
const isLarge = values.large === true;

await using world = await createWorld();
const parts: Readonly<Record<string, () => Promise<void>>> = {
  movers: () => benchMovers(world, rowCount, rounds),
  records: () => benchRecords(world, rounds),
  shapes: () => benchShapes(world, rounds, isLarge),
  catalogs: () => benchCatalogs(world),
  growth: () => benchGrowth(world, isLarge),
};
const { only } = values;
if (only !== undefined && !Object.hasOwn(parts, only))
  throw new Error(`--only takes one of ${Object.keys(parts).join(", ")}`);
for (const [name, part] of Object.entries(parts))
  if (only === undefined ? values.all || name === "movers" : name === only) await part();
