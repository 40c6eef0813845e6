/** The SQL that rules need of a database that logs its changes. */
import type { DatabaseCopy } from "./database.ts";

export interface DatabaseLog {
  /** Makes {@link publication} of all tables; the role may read the log of the server. */
  prepare(role: string): string;
  /** Two tables of the kit's own, with the same columns and rows. */
  readonly tables: readonly [string, string];
  /** Makes them anew. */
  readonly makeTables: string;
  /** Writes every row of every table with a key again, with the values that it has. */
  readonly touchAll: string;
  /** Events after which changes are missing from a slot, while nobody reads it. */
  losses(slot: string): readonly SlotLoss[];
  /** Waits until nobody reads the log of this database. */
  settle(copy: DatabaseCopy): Promise<void>;
  /** Nobody reads the log of this database, and it is kept for nobody, either. */
  release(copy: DatabaseCopy): Promise<void>;
}

export interface SlotLoss {
  /** "is gone". */
  readonly name: string;
  /** Each in a session of its own. */
  readonly statements: readonly string[];
}
