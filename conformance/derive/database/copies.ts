/**
 * Circumstances that rules make of a provider's rows, for recordings and for databases alike; and
 * databases for runs of their own.
 */
import type { Database, DatabaseCopy } from "../../contract/database.ts";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";

/** A provider without any row. */
export async function emptyProvider(lab: Lab): Promise<RunOptions> {
  if (!lab.database) return { provider: lab.learned.provider({ rows: () => [] }) };
  return {
    database: { on: await copyOnce(lab, "without rows", lab.database.sql.statements.empty) },
  };
}

/** A copy that several rules run on and none changes; it goes with the server. */
export const copyOnce = (lab: Lab, name: string, sql: string): Promise<DatabaseCopy> =>
  lab.once(`database ${name}`, async () => {
    if (!lab.database) throw new Error("there is no database");
    return await lab.database.copy(sql);
  });

/** The connector's role may not read this one any more. */
export const revoke = ({ role, sql }: Database, { stream }: StreamFacts): string =>
  sql.statements.revoke(sql.tableName(stream), role);

/** Streams that are tables and not views: their rows can be changed. */
export async function tableStreams({ database, streams }: Lab): Promise<readonly StreamFacts[]> {
  if (!database || streams.length === 0) return [];
  const { sql } = database;
  const tables = await sql.baseTables(database);
  return streams.filter(({ stream }) => tables.has(sql.tableName(stream)));
}
