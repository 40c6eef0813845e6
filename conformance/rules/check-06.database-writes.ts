/**
 * Notices runs that write: a database gives a transaction number to whoever does, and to nobody
 * else.
 */
import type { Lab } from "../contract/lab.ts";
import type { Command, Observation } from "../contract/observation.ts";
import { copyOnce } from "../derive/database/copies.ts";
import { identifier } from "../target/database.ts";

export interface WatchedRun {
  readonly observation: Observation;
  /** Transactions of the run that wrote something, also where it was rolled back. */
  readonly writeCount: number;
}

/** The run on a copy on which the connector's role may do everything. */
export async function runWatchingWrites(lab: Lab, command: Command): Promise<WatchedRun> {
  const role = identifier(lab.database?.role ?? "");
  const copy = await copyOnce(lab, "open to writing", openToWriting(role));
  const next = async () => BigInt(String((await copy.rows(nextTransaction))[0]?.next));
  const before = await next();
  const observation = await lab.run(command, { database: { on: copy } });
  return { observation, writeCount: Number((await next()) - before) };
}

const nextTransaction =
  "SELECT pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())::text AS next";

const openToWriting = (role: string) => `
  SELECT pg_catalog.format('GRANT ALL ON SCHEMA %1$I TO ${role.replaceAll("'", "''")}; GRANT ALL ON ALL TABLES IN SCHEMA %1$I TO ${role.replaceAll("'", "''")}', nspname)
  FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' \\gexec
  GRANT ALL ON DATABASE :"DBNAME" TO ${role};`;
