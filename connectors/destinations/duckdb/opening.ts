import type { DuckDBConnection } from "@duckdb/node-api";
import { descriptorOf, streamKey, type WriteCommand } from "svc-connectors/destination";
import type { Database } from "./database.ts";
import { createStateTables, noteFence, readSavedTables, type SavedTable } from "./state.ts";
import { chooseTable, nextTable, readTableKeys, tableConflict, tableKey } from "./tables.ts";

export interface OpenTables {
  readonly connection: DuckDBConnection;
  /** @throws OUTPUT_FENCED */
  readonly checkFence: () => Promise<void>;
  /** Saved tables by stream. */
  readonly tables: ReadonlyMap<string, SavedTable>;
}

/**
 * Notes the fence, and finds or chooses the table of each stream. Nothing is made but the
 * destination's own tables.
 * @throws OUTPUT_FENCED · TABLE_CONFLICT when a table is there that is not the owner's
 */
export async function openTables(
  database: Database,
  { owner, fence, streams }: Pick<WriteCommand, "owner" | "fence" | "streams">,
  defaultSchema: string,
): Promise<OpenTables> {
  const connection = await database.connect();
  try {
    const opened = await database.transaction(connection, async () => {
      await createStateTables(connection, database.name);
      const checkFence = await noteFence(connection, database.name, owner, fence);
      const saved = await readSavedTables(connection, database.name, owner);
      const existing = await readTableKeys(connection);
      const own = new Set(
        saved.flatMap(({ table }) => [tableKey(table), tableKey(nextTable(table))]),
      );
      const byRequest = new Map(
        saved.map((one) => [JSON.stringify([streamKey(one.stream), one.requested]), one]),
      );
      const chosen = new Map<string, SavedTable>();
      for (const ordered of streams) {
        const stream = descriptorOf(ordered.configured);
        const requested = { schema: ordered.schema ?? defaultSchema, name: ordered.table };
        const known = byRequest.get(JSON.stringify([streamKey(stream), requested]));
        const table = known?.table ?? chooseTable(database.name, requested, own);
        for (const [one, isOurs] of [
          [table, known?.generations.current],
          [nextTable(table), known?.generations.next],
        ] as const)
          if (existing.has(tableKey(one)) && !isOurs) throw tableConflict(one);
        own.add(tableKey(table));
        chosen.set(
          streamKey(stream),
          known ?? { stream, requested, table, generations: {}, columns: {} },
        );
      }
      return { checkFence, tables: chosen };
    });
    return { connection, ...opened };
  } catch (error) {
    connection.closeSync();
    throw error;
  }
}
