/**
 * Circumstances that rules make of a provider's rows, for recordings and for databases alike; and
 * databases for runs of their own.
 */
import type { DatabaseCopy } from "../../contract/database.ts";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import { literal } from "../../target/database.ts";
import { quoted } from "./rows.ts";

/** A provider without any row. */
export async function emptyProvider(lab: Lab): Promise<RunOptions> {
  if (!lab.database) return { provider: lab.learned.provider({ rows: () => [] }) };
  return { database: { on: await copyOnce(lab, "without rows", emptyAll) } };
}

/** A copy that several rules run on and none changes; it goes with the server. */
export const copyOnce = (lab: Lab, name: string, sql: string): Promise<DatabaseCopy> =>
  lab.once(`database ${name}`, async () => {
    if (!lab.database) throw new Error("there is no database");
    return await lab.database.copy(sql);
  });

const emptyAll = `
  SELECT pg_catalog.format('TRUNCATE %I.%I CASCADE', n.nspname, c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \\gexec
  SELECT pg_catalog.format('REFRESH MATERIALIZED VIEW %I.%I', n.nspname, c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' \\gexec`;

/** The connector's role may not read this one any more. */
export const revoke = (lab: Lab, stream: StreamFacts) =>
  `REVOKE ALL ON ${quoted(stream)} FROM PUBLIC, "${lab.database?.role.replaceAll('"', '""')}";`;

/** Streams that are tables and not views: their rows can be changed. */
export async function tableStreams(lab: Lab): Promise<readonly StreamFacts[]> {
  const { database } = lab;
  if (!database) return [];
  const names = lab.streams.map((stream) => literal(quoted(stream)));
  if (names.length === 0) return [];
  const found = await database.rows(
    `SELECT n AS name FROM pg_catalog.unnest(ARRAY[${names}]) n
     JOIN pg_catalog.pg_class c ON c.oid = n::pg_catalog.regclass WHERE c.relkind IN ('r', 'p')`,
  );
  const tables = new Set(found.map(({ name }) => name));
  return lab.streams.filter((stream) => tables.has(quoted(stream)));
}

/** Triggers and foreign keys are not looked at while the kit moves rows about. */
export const unchecked = "SET session_replication_role = replica;";
