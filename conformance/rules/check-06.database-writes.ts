/**
 * Notices runs that write: the database counts what is written, also where it is rolled back.
 */
import type { Database } from "../contract/database.ts";
import type { Lab } from "../contract/lab.ts";
import type { Command, Observation } from "../contract/observation.ts";
import { copyOnce } from "../derive/database/copies.ts";

export interface WatchedRun {
  readonly observation: Observation;
  /** Transactions of the run that wrote something, also where it was rolled back. */
  readonly writeCount: number;
}

/** The run on a copy on which the connector's role may do everything. */
export async function runWatchingWrites(
  lab: Lab,
  database: Database,
  command: Command,
): Promise<WatchedRun> {
  const { role, sql } = database;
  const copy = await copyOnce(lab, "open to writing", sql.statements.grantAll(role));
  const before = await sql.countWrites(copy);
  const observation = await lab.run(command, { database: { on: copy } });
  return { observation, writeCount: Number((await sql.countWrites(copy)) - before) };
}
