import type { DuckDBConnection } from "@duckdb/node-api";
import type { Clock } from "svc-connectors";
import type { createCommitPace, WriteCommand } from "svc-connectors/destination";
import type { Database } from "./database.ts";
import { checkFence, type SavedTable, saveTable } from "./state.ts";

/** An open writer, as its parts share it. */
export interface Writing {
  readonly database: Database;
  readonly connection: DuckDBConnection;
  /** By stream. */
  readonly tables: ReadonlyMap<string, SavedTable>;
  readonly command: WriteCommand;
  readonly clock: Clock;
  readonly pace: ReturnType<typeof createCommitPace>;
}

export const nowText = ({ clock }: Writing): string => new Date(clock.now()).toISOString();

/** Does the work in one transaction that a writer with a higher fence ends. @throws OUTPUT_FENCED */
export const inFencedTransaction = (
  { database, connection, command: { owner, fence } }: Writing,
  work: () => Promise<void>,
): Promise<void> =>
  database.transaction(connection, async () => {
    await checkFence(connection, database.name, owner, fence);
    await work();
  });

/** Notes what is known of a table's copies. */
export const saveGenerations = (
  writing: Writing,
  saved: SavedTable,
  generations: SavedTable["generations"],
): Promise<void> =>
  saveTable(writing.connection, writing.command.owner, saved, generations, nowText(writing));
