/** Changes of tables that are still to be asked for: reading the log for another gave them. */
import type { Relation } from "./pgoutput.ts";

/** Bytes of other tables' changes that are kept. */
const maxKeptBytes = 32 * 1024 * 1024;
/** Bytes that a kept change takes besides its own. */
const keptHeadBytes = 200;

export interface KeptChange {
  readonly payload: Buffer;
  readonly relation: Relation;
  readonly lsn: bigint;
  readonly time: bigint;
}

export interface Store {
  /** Changes before it are not kept, or kept already. */
  from: bigint;
  items: KeptChange[];
  bytes: number;
}

export interface Stores {
  get(table: string): Store | undefined;
  /**
   * From now on the changes of these tables are kept, too, each from its place on.
   * @returns the places of those that were not kept yet
   */
  add(tables: ReadonlyMap<string, bigint>): bigint[];
  /** Nothing of this table is kept any more. */
  remove(table: string): void;
  /** Copies a change. What is too much for all of them together is given up, the largest first. */
  keep(change: KeptChange, table: string): void;
  /** Changes before this place were kept by whoever has read so far. */
  reachedBy(lsn: bigint): void;
}

export function createStores(): Stores {
  const stores = new Map<string, Store>();
  let keptBytes = 0;

  function remove(table: string): void {
    keptBytes -= stores.get(table)?.bytes ?? 0;
    stores.delete(table);
  }

  return {
    get: (table) => stores.get(table),
    add: (tables) =>
      [...tables]
        .filter(([table]) => !stores.has(table))
        .map(([table, from]) => {
          stores.set(table, { from, items: [], bytes: 0 });
          return from;
        }),
    remove,
    keep(change, table) {
      const store = stores.get(table);
      if (!store || change.lsn < store.from) return;
      const bytes = change.payload.length + keptHeadBytes;
      store.items.push({ ...change, payload: Buffer.from(change.payload) });
      store.bytes += bytes;
      keptBytes += bytes;
      while (keptBytes > maxKeptBytes) {
        const [largest] = [...stores].sort(([, one], [, other]) => other.bytes - one.bytes);
        if (!largest) return;
        remove(largest[0]);
      }
    },
    reachedBy(lsn) {
      for (const store of stores.values()) if (store.from < lsn) store.from = lsn;
    },
  };
}
