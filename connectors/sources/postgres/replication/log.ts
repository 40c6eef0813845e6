/** The changes of tables up to moments of the log, one table after another. */
import { ConnectorError } from "svc-connectors";
import type { PostgresContext } from "../spec.ts";
import { createStores, type Store } from "./kept-changes.ts";
import type { Moment } from "./moment.ts";
import { type Change, type ChangeDecoder, createChangeDecoder, type Relation } from "./pgoutput.ts";
import { tableKey } from "./server.ts";
import { followSlot, openReplication, type SlotPiece } from "./session.ts";
import type { Replication } from "./settings.ts";
import type { StandbyWatch } from "./standby.ts";

/** A change of a row, or of all of them. */
export type RowChange = Extract<
  Change,
  { kind: "insert" | "update" | "delete" | "truncate" | "oversized" }
>;

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
  /** By it the table is known under whatever name it had. */
  readonly oid: number;
  readonly from: bigint;
}

export interface LogOptions {
  readonly settings: Replication;
  readonly standbys: StandbyWatch;
  /** The position before which the server may forget. */
  readonly confirmed: bigint;
  /** The tables that are read in this run, in any order. */
  readonly parts: readonly LogPart[];
  /** The slot's messages from the first of the parts on, for the first who asks. */
  readonly begun?: AsyncGenerator<SlotPiece> | undefined;
}

/** Only transactions that were committed before it, and that it sees, are read. */
export type LogEnd = Pick<Moment, "lsn" | "canSee">;

export interface ChangeLog {
  /** Where the last table ended, once its changes have come; with the same end, each ends there. */
  readonly border: bigint;
  /** The transaction that cannot be seen, before which it has ended. */
  readonly unseen: number | undefined;
  /**
   * The changes of a table from a place on, as they come; each is valid until the next one. Reading
   * the log for one table keeps those of others, as far as they are few: mostly the server is asked
   * once for all. Reading ends before the first transaction that cannot be seen at its end.
   */
  changesOf(table: string, from: bigint, end: LogEnd): AsyncGenerator<Iterable<LogItem>>;
}

/** A slot that is read, and how far. */
interface Reader {
  readonly pieces: AsyncGenerator<SlotPiece>;
  readonly relations: Map<number, { relation: Relation; key: string }>;
  /** The last piece, and the place of the first of its messages that nobody has looked at. */
  piece: SlotPiece | undefined;
  at: number;
  /** The transaction that is being read. */
  lsn: bigint;
  time: bigint;
  /** All transactions that were committed before it have come. */
  reached: bigint;
}

export function createChangeLog(ctx: PostgresContext, options: LogOptions): ChangeLog {
  const waiting = new Map(options.parts.map(({ table, from }) => [table, from]));
  const byOid = new Map(options.parts.map(({ table, oid }) => [oid, table]));
  let { begun } = options;
  let border = 0n;
  let unseen: number | undefined;
  let reader: Reader | undefined;
  let failure: unknown;
  const stores = createStores();
  const decode = createChangeDecoder();

  return {
    get border() {
      return border;
    },
    get unseen() {
      return unseen;
    },
    async *changesOf(table, from, end) {
      border = end.lsn;
      unseen = undefined;
      waiting.delete(table);
      const store = stores.get(table);
      stores.remove(table);
      try {
        if (store) yield replay(store, decode);
        if (from < border) yield* readOn(table, from, end, store !== undefined);
      } finally {
        if (waiting.size === 0) await close();
      }
    },
  };

  async function close(): Promise<void> {
    options.standbys.rest();
    // One that is still waited for cannot be closed.
    if (failure !== undefined) return;
    const closing = reader;
    reader = undefined;
    await closing?.pieces.return(undefined);
  }

  /** Reads from a place on, and from where tables need it of which nothing is kept. */
  async function open(from: bigint): Promise<Reader> {
    if (reader) stores.reachedBy(reader.reached);
    await close();
    const begin = stores.add(waiting).reduce((one, other) => (other < one ? other : one), from);
    const { settings, confirmed } = options;
    const pieces =
      begun ?? followSlot(await openReplication(ctx), { ...settings, from: begin, confirmed });
    begun = undefined;
    const relations: Reader["relations"] = new Map();
    return { pieces, relations, piece: undefined, at: 0, lsn: 0n, time: 0n, reached: 0n };
  }

  /** Who gives up waiting leaves the slot as it is: it ends with the run. */
  async function nextOf({ pieces }: Reader): Promise<IteratorResult<SlotPiece>> {
    if (failure !== undefined) throw failure;
    const asked = pieces.next();
    try {
      return await options.standbys.until(asked);
    } catch (error) {
      asked.catch(() => undefined);
      options.standbys.rest();
      failure = error;
      throw error;
    }
  }

  async function* readOn(
    table: string,
    from: bigint,
    { canSee }: LogEnd,
    hasKept: boolean,
  ): AsyncGenerator<Iterable<LogItem>> {
    if (!reader || (!hasKept && from <= reader.lsn)) reader = await open(from);
    const one = reader;
    let isOver = false;
    const known = (oid: number) => {
      const found = one.relations.get(oid);
      if (found) return found;
      throw new ConnectorError("DATABASE_UNUSABLE", {
        reason: "its log names a table that it has not described",
      });
    };

    function* itemsOf({ bytes, places }: SlotPiece): Generator<LogItem> {
      while (one.at < places.length) {
        const start = places[one.at] as number;
        const end = places[one.at + 1] as number;
        const change = decode(bytes, start, end);
        if (change.kind === "begin") {
          if (!canSee(change.xid) && change.lsn < border) {
            border = change.lsn;
            unseen = change.xid;
          }
          one.reached = change.lsn;
          isOver = change.lsn >= border;
          if (isOver) return;
          ({ lsn: one.lsn, time: one.time } = change);
        }
        one.at += 2;
        if (change.kind === "relation") {
          const { relation } = change;
          const key = byOid.get(relation.oid) ?? tableKey(relation.schema, relation.name);
          one.relations.set(relation.oid, { relation, key });
        } else if (change.kind === "commit") {
          one.reached = change.end;
          if (change.end > from) yield { kind: "commit", end: change.end };
          isOver = change.end >= border;
          if (isOver) return;
        } else if (change.kind !== "begin" && change.kind !== "other") {
          const { lsn, time } = one;
          const changed = (change.kind === "truncate" ? change.oids : [change.oid]).map(known);
          for (const { relation, key } of changed)
            if (key !== table)
              stores.keep({ payload: bytes.subarray(start, end), relation, lsn, time }, key);
          for (const { relation, key } of changed)
            if (key === table && lsn >= from) yield { kind: "change", change, relation, lsn, time };
        }
      }
    }

    while (!isOver && one.reached < border) {
      if (!one.piece) {
        const step = await nextOf(one);
        if (step.done) return;
        one.piece = step.value;
        one.at = 0;
      }
      if (one.piece.places.length > 0) options.standbys.hasProgress();
      yield itemsOf(one.piece);
      if (one.at < one.piece.places.length) continue;
      const { reached = 0n } = one.piece;
      if (reached > one.reached) {
        one.reached = reached;
        options.standbys.hasProgress();
      }
      one.piece = undefined;
    }
  }
}

function* replay({ items }: Store, decode: ChangeDecoder): Generator<LogItem> {
  let last: bigint | undefined;
  for (const { payload, relation, lsn, time } of items) {
    // Of a transaction the end is known, where it was committed; the next one begins behind that.
    if (last !== undefined && lsn > last) yield { kind: "commit", end: lsn };
    last = lsn;
    yield { kind: "change", change: decode(payload) as RowChange, relation, lsn, time };
  }
}
