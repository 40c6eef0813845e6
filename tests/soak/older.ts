/**
 * Puts the rows of an embedded database into the tables of an earlier version, as if that version
 * had kept them so far: the next start brings the tables up to date around them.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { initParams } from "../../control/store/empty-cluster.ts";
import { migrations } from "../../control/store/migrations/index.ts";
import { createPgliteDialect } from "../../control/store/pglite-dialect.ts";

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * @param folder of a database that is closed
 * @param behind how many migrations it does not have then
 * @returns how many rows it has
 * @throws when rows would be lost: a table that the earlier version did not have has some
 */
export async function makeOlder(folder: string, behind: number): Promise<number> {
  const names = Object.keys(migrations).sort();
  const earlier = new Set(names.slice(0, names.length - behind));
  const [current, draft] = [join(folder, "database"), join(folder, "database.older")];
  await mkdir(draft, { recursive: true });
  const from = await PGlite.create({ dataDir: current });
  const to = await PGlite.create({ dataDir: draft, initDbStartParams: initParams });
  const db = new Kysely<unknown>({ dialect: createPgliteDialect(to) });
  const of = Object.entries(migrations).filter(([name]) => earlier.has(name));
  const provider = { getMigrations: async () => Object.fromEntries(of) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
  // Neither triggers nor references look at rows that were looked at when they were written.
  await to.exec("SET session_replication_role = replica");
  const columns = await columnsOf(to);
  let rowCount = 0;
  for (const table of (await columnsOf(from)).keys()) {
    if (table.startsWith("kysely_")) continue;
    const { rows } = await from.query<{ row: object }>(
      `SELECT to_jsonb(one) AS row FROM ${quote(table)} AS one`,
    );
    const known = columns.get(table);
    if (!known && rows.length > 0) throw new Error(`the earlier version has no table ${table}`);
    if (!known) continue;
    const list = known.map(quote).join(", ");
    // What the migrations themselves have put there is among the rows.
    await to.exec(`DELETE FROM ${quote(table)}`);
    for (let at = 0; at < rows.length; at += 500) {
      const page = JSON.stringify(rows.slice(at, at + 500).map(({ row }) => row));
      await to.query(
        `INSERT INTO ${quote(table)} (${list}) OVERRIDING SYSTEM VALUE
         SELECT ${list} FROM jsonb_populate_recordset(NULL::${quote(table)}, $1::jsonb)`,
        [page],
      );
    }
    rowCount += rows.length;
  }
  await copySequences(from, to);
  await from.close();
  await db.destroy();
  await rm(current, { recursive: true });
  await rename(draft, current);
  return rowCount;
}

/** Those that can be written, by table. */
async function columnsOf(database: PGlite): Promise<Map<string, string[]>> {
  const { rows } = await database.query<{ table: string; columns: string[] }>(
    `SELECT table_name AS table, array_agg(column_name::text ORDER BY ordinal_position) AS columns
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'
     GROUP BY table_name ORDER BY table_name`,
  );
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

async function copySequences(from: PGlite, to: PGlite): Promise<void> {
  const { rows } = await from.query<{ name: string; last: string }>(
    "SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL",
  );
  for (const { name, last } of rows)
    await to.query("SELECT setval(to_regclass($1), $2::bigint)", [quote(name), last]);
}
