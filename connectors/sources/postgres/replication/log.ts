/** The changes of tables up to a place in the log, one table after another. */
import { ConnectorError } from "svc-connectors";
import type { PostgresContext } from "../spec.ts";
import { type Change, type ChangeDecoder, createChangeDecoder, type Relation } from "./pgoutput.ts";
import { tableKey } from "./server.ts";
import { followSlot, openReplication, type SlotPiece } from "./session.ts";
import type { Replication } from "./settings.ts";

/** A change of a row, or of all of them. */
export type RowChange = Extract<Change, { kind: "insert" | "update" | "delete" | "truncate" }>;

export type LogItem =
  | {
      readonly kind: "change";
      readonly change: RowChange;
      readonly relation: Relation;
      /** Where its transaction was committed, and when. */
      readonly lsn: bigint;
      readonly time: bigint;
    }
  /** All changes before this place have come. */
  | { readonly kind: "commit"; readonly end: bigint };

/** A table whose changes are still to be asked for. */
export interface LogPart {
  readonly table: string;
  readonly from: bigint;
}

export interface LogOptions {
  readonly settings: Replication;
  /** Only transactions that were committed before it are read. */
  readonly border: bigint;
  /** Reading ends before the first transaction that cannot be seen yet. */
  canSee(xid: number): boolean;
  /** What the server may forget. */
  readonly confirmed: bigint;
  /** The tables that are read in this run, in any order. */
  readonly parts: readonly LogPart[];
  /** What the slot says from the first of the parts on, for the first who asks. */
  readonly begun?: AsyncGenerator<SlotPiece> | undefined;
}

export interface ChangeLog {
  /** Where all tables end, once the changes of one have come. */
  readonly border: bigint;
  /**
   * The changes of a table from a place on, as they come; each is valid until the next one. Reading
   * the log for one table keeps those of others, as far as they are few: mostly the server is asked
   * once for all.
   */
  changesOf(table: string, from: bigint): AsyncGenerator<Iterable<LogItem>>;
}

/** Bytes of other tables' changes that are kept. */
const maxKeptBytes = 32 * 1024 * 1024;
/** Bytes that a kept change takes besides its own. */
const keptHeadBytes = 200;

interface Kept {
  readonly payload: Buffer;
  readonly relation: Relation;
  readonly lsn: bigint;
  readonly time: bigint;
}

interface Store {
  readonly from: bigint;
  items: Kept[];
  bytes: number;
}

export function createChangeLog(ctx: PostgresContext, options: LogOptions): ChangeLog {
  const waiting = new Map(options.parts.map(({ table, from }) => [table, from]));
  let { begun, border } = options;
  /** Whole, of tables that are still to be asked for. */
  const kept = new Map<string, Store>();
  const decode = createChangeDecoder();

  return {
    get border() {
      return border;
    },
    async *changesOf(table, from) {
      waiting.delete(table);
      const store = kept.get(table);
      kept.delete(table);
      if (store) yield replay(store, decode);
      else if (from < border) yield* readLog(table, from);
    },
  };

  async function* readLog(table: string, from: bigint): AsyncGenerator<Iterable<LogItem>> {
    const stores = new Map<string, Store>();
    for (const [other, otherFrom] of waiting)
      if (!kept.has(other)) stores.set(other, { from: otherFrom, items: [], bytes: 0 });
    const begin = [from, ...[...stores.values()].map((one) => one.from)].reduce((a, b) =>
      a < b ? a : b,
    );
    let keptBytes = [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const keep = (item: Kept, key: string) => {
      const store = stores.get(key);
      if (!store || item.lsn < store.from) return;
      const bytes = item.payload.length + keptHeadBytes;
      store.items.push({ ...item, payload: Buffer.from(item.payload) });
      store.bytes += bytes;
      keptBytes += bytes;
      while (keptBytes > maxKeptBytes && stores.size > 0) {
        const [largest] = [...stores].sort(([, one], [, other]) => other.bytes - one.bytes);
        if (!largest) return;
        stores.delete(largest[0]);
        keptBytes -= largest[1].bytes;
      }
    };

    const relations = new Map<number, { relation: Relation; key: string }>();
    let lsn = 0n;
    let time = 0n;
    let isOver = false;
    const known = (oid: number) => {
      const found = relations.get(oid);
      if (found) return found;
      throw new ConnectorError("DATABASE_UNUSABLE", {
        reason: "its log names a table that it has not described",
      });
    };

    function* itemsOf({ bytes, places }: SlotPiece): Generator<LogItem> {
      for (let at = 0; at < places.length && !isOver; at += 2) {
        const start = places[at] as number;
        const end = places[at + 1] as number;
        const change = decode(bytes, start, end);
        if (change.kind === "begin") {
          if (!options.canSee(change.xid) && change.lsn < border) border = change.lsn;
          isOver = change.lsn >= border;
          ({ lsn, time } = change);
        } else if (change.kind === "relation") {
          const { relation } = change;
          const key = tableKey(relation.schema, relation.name);
          relations.set(relation.oid, { relation, key });
        } else if (change.kind === "commit") {
          isOver = change.end >= border;
          if (change.end > from) yield { kind: "commit", end: change.end };
        } else if (change.kind !== "other") {
          const oids = change.kind === "truncate" ? change.oids : [change.oid];
          for (const { relation, key } of oids.map(known)) {
            if (key !== table)
              keep({ payload: bytes.subarray(start, end), relation, lsn, time }, key);
            else if (lsn >= from) yield { kind: "change", change, relation, lsn, time };
          }
        }
      }
    }

    const { settings, confirmed } = options;
    const given =
      begun ?? followSlot(await openReplication(ctx), { ...settings, from: begin, confirmed });
    begun = undefined;
    for await (const piece of given) {
      yield itemsOf(piece);
      if (isOver || (piece.reached !== undefined && piece.reached >= border)) break;
    }
    for (const [key, store] of stores) kept.set(key, store);
  }
}

function* replay({ items }: Store, decode: ChangeDecoder): Generator<LogItem> {
  let last: bigint | undefined;
  for (const { payload, relation, lsn, time } of items) {
    // What is known of a transaction is where it was committed; the next one begins behind that.
    if (last !== undefined && lsn > last) yield { kind: "commit", end: lsn };
    last = lsn;
    yield { kind: "change", change: decode(payload) as RowChange, relation, lsn, time };
  }
}
