import type { DuckDBConnection } from "@duckdb/node-api";
import type { Clock } from "svc-connectors";
import type { createCommitPace, NulledCounts, WriteCommand } from "svc-connectors/destination";
import type { Database } from "./database.ts";
import { type SavedTable, saveTable } from "./state.ts";

/** An open writer, as its parts share it. */
export interface Writing {
  readonly database: Database;
  readonly connection: DuckDBConnection;
  /** @throws OUTPUT_FENCED */
  readonly checkFence: () => Promise<void>;
  /** By stream. */
  readonly tables: ReadonlyMap<string, SavedTable>;
  readonly command: WriteCommand;
  readonly clock: Clock;
  readonly pace: ReturnType<typeof createCommitPace>;
  /** Columns of tables that were written since the last checkpoint of the file. */
  readonly unwritten: { columnCount: number };
  /** Bytes of rows that were written since DuckDB was told to forget them. */
  readonly remembered: { byteCount: number };
  /** Values of rows that are committed. */
  readonly nulled: NulledCounts;
}

export const nowText = ({ clock }: Writing): string => new Date(clock.now()).toISOString();

/**
 * Does the work in one transaction that a writer with a higher fence ends.
 * @throws OUTPUT_FENCED
 */
export const inFencedTransaction = (
  { database, connection, checkFence }: Pick<Writing, "database" | "connection" | "checkFence">,
  work: () => Promise<void>,
): Promise<void> =>
  database.transaction(connection, async () => {
    await checkFence();
    await work();
  });

/** Notes what is known of a table's copies. */
export const saveGenerations = (
  writing: Writing,
  saved: SavedTable,
  generations: SavedTable["generations"],
): Promise<void> =>
  saveTable(writing.connection, writing.command.owner, saved, generations, nowText(writing));
