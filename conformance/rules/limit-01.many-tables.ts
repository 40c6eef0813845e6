/** A database with as many tables as svc takes, and with one more. */
import type { DatabaseCopy } from "../contract/database.ts";
import type { Lab } from "../contract/lab.ts";

/** Tables that are made by one statement: each of them takes locks until its end. */
const batchSize = 500;

/** How the names of made-up tables begin. */
export const madeUpTable = "table_";

export interface ManyTables extends AsyncDisposable {
  readonly copy: DatabaseCopy;
  /** Makes tables until discover finds so many. */
  grow(count: number): Promise<void>;
}

export async function openManyTables(lab: Lab): Promise<ManyTables> {
  if (!lab.database) throw new Error("there is no database");
  const { role, sql } = lab.database;
  const { grantLater, makeTables } = sql.statements;
  const copy = await lab.database.copy(grantLater(role));
  let madeCount = 0;
  return {
    copy,
    async grow(count) {
      const last = count - lab.streams.length;
      const batches: string[] = [];
      for (let first = madeCount + 1; first <= last; first += batchSize)
        batches.push(makeTables(madeUpTable, first, Math.min(last, first + batchSize - 1)));
      await copy.execute(batches.join("\n"));
      madeCount = last;
    },
    [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
  };
}
