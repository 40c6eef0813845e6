/**
 * Messages of `pgoutput`, version 1: what a logical slot says of committed transactions, as text.
 * @see https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html (read
 * 2026-11)
 */
import { ConnectorError } from "svc-connectors";

/** Values of a row as they lie in a message. Valid until the decoder takes the next one. */
export interface Tuple {
  readonly bytes: Buffer;
  readonly count: number;
  /** Where each value begins. */
  readonly starts: Int32Array;
  /** Bytes of each value, or {@link isNull}, or {@link isUnchanged}. */
  readonly lengths: Int32Array;
}

export const isNull = -1;
/** A large value that is stored beside its row, and that the change has left as it was. */
export const isUnchanged = -2;

/** A table as it was when the changes that follow were made. */
export interface Relation {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** d: the primary key · f: the whole row · i: an index · n: nothing. */
  readonly identity: string;
  readonly columns: readonly RelationColumn[];
}

export interface RelationColumn {
  readonly name: string;
  readonly isKey: boolean;
  readonly type: number;
  readonly modifier: number;
}

/** The memory of tuples is that of the message. */
export type Change =
  /** `lsn`: where the transaction was committed; `time`: microseconds since 2000. */
  | {
      readonly kind: "begin";
      readonly lsn: bigint;
      readonly time: bigint;
      /** The lower half of the transaction's number. */
      readonly xid: number;
    }
  /** `end`: where the next one may begin. */
  | { readonly kind: "commit"; readonly end: bigint }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "insert"; readonly oid: number; readonly row: Tuple }
  | {
      readonly kind: "update";
      readonly oid: number;
      readonly row: Tuple;
      /** Set where the key has changed, or the identity is the whole row. */
      readonly old: Tuple | undefined;
    }
  | { readonly kind: "delete"; readonly oid: number; readonly old: Tuple }
  | { readonly kind: "truncate"; readonly oids: readonly number[] }
  /** A change of a row that was too large to be taken. */
  | { readonly kind: "oversized"; readonly oid: number }
  | { readonly kind: "other" };

/** Columns that a table can have. */
const maxColumns = 1_664;
const kinds = { null: 0x6e, unchanged: 0x75, text: 0x74 };

/** The first bytes of messages, and of the rows in them. */
export const tags = {
  begin: 0x42,
  commit: 0x43,
  insert: 0x49,
  update: 0x55,
  delete: 0x44,
  truncate: 0x54,
  relation: 0x52,
  /** Ours: in the place of a change that was passed over. */
  oversized: 0x00,
  /** Where a transaction came from. */
  origin: 0x4f,
  /** A type of the user's. */
  type: 0x59,
  /** A message of an application. */
  message: 0x4d,
  new: 0x4e,
  key: 0x4b,
  whole: 0x4f,
} as const;

const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "its log of changes has not the form of PostgreSQL's",
  });

/**
 * Decodes the message that lies between two places.
 * @throws DATABASE_UNUSABLE when it is no such message
 */
export type ChangeDecoder = (bytes: Buffer, start?: number, end?: number) => Change;

/** Its memory serves one message after another. */
export function createChangeDecoder(): ChangeDecoder {
  const reader = createReader();
  return (bytes, start = 0, end = bytes.length) => {
    reader.begin(bytes, start, end);
    const change = readChange(reader);
    if (change.kind !== "other") reader.end();
    return change;
  };
}

function readChange(reader: Reader): Change {
  switch (reader.u8()) {
    case tags.insert: {
      const oid = reader.u32();
      reader.expect(tags.new);
      return { kind: "insert", oid, row: reader.row() };
    }
    case tags.update: {
      const oid = reader.u32();
      const old = reader.isOld() ? reader.old() : undefined;
      reader.expect(tags.new);
      return { kind: "update", oid, old, row: reader.row() };
    }
    case tags.delete: {
      const oid = reader.u32();
      if (!reader.isOld()) throw malformed();
      return { kind: "delete", oid, old: reader.old() };
    }
    case tags.begin: {
      const lsn = reader.u64();
      const time = reader.i64();
      return { kind: "begin", lsn, time, xid: reader.u32() };
    }
    case tags.commit: {
      reader.u8();
      reader.u64();
      const end = reader.u64();
      reader.i64();
      return { kind: "commit", end };
    }
    case tags.relation:
      return { kind: "relation", relation: readRelation(reader) };
    case tags.truncate: {
      const count = reader.u32();
      reader.u8();
      if (count > reader.left() / 4) throw malformed();
      return { kind: "truncate", oids: Array.from({ length: count }, () => reader.u32()) };
    }
    case tags.oversized:
      return { kind: "oversized", oid: reader.u32() };
    case tags.origin:
    case tags.type:
    case tags.message:
      return { kind: "other" };
    default:
      throw malformed();
  }
}

function readRelation(reader: Reader): Relation {
  const oid = reader.u32();
  const schema = reader.text() || "pg_catalog";
  const name = reader.text();
  const identity = String.fromCharCode(reader.u8());
  const count = reader.u16();
  if (count > maxColumns) throw malformed();
  const columns = Array.from({ length: count }, (): RelationColumn => {
    const isKey = (reader.u8() & 1) === 1;
    return { isKey, name: reader.text(), type: reader.u32(), modifier: reader.i32() };
  });
  return { oid, schema, name, identity, columns };
}

type Reader = ReturnType<typeof createReader>;

function createReader() {
  let bytes: Buffer = Buffer.alloc(0);
  let view = new DataView(bytes.buffer, bytes.byteOffset, 0);
  let at = 0;
  let limit = 0;
  /** Gives where so many bytes begin, behind which reading goes on. */
  const skip = (count: number): number => {
    if (count > limit - at) throw malformed();
    const start = at;
    at += count;
    return start;
  };
  const u8 = () => view.getUint8(skip(1));
  const u16 = () => view.getUint16(skip(2));
  const u32 = () => view.getUint32(skip(4));

  /** Reads tuples, one into the memory of the one before. */
  const createTuple = () => {
    let starts = new Int32Array(0);
    let lengths = starts;
    return (): Tuple => {
      const count = u16();
      if (count > maxColumns) throw malformed();
      if (count !== starts.length) {
        starts = new Int32Array(count);
        lengths = new Int32Array(count);
      }
      for (let index = 0; index < count; index++) {
        const kind = u8();
        if (kind === kinds.text) {
          const length = u32();
          starts[index] = skip(length);
          lengths[index] = length;
        } else if (kind === kinds.null) lengths[index] = isNull;
        else if (kind === kinds.unchanged) lengths[index] = isUnchanged;
        else throw malformed();
      }
      return { bytes, count, starts, lengths };
    };
  };

  return {
    begin(all: Buffer, start: number, end: number): void {
      if (all !== bytes) {
        bytes = all;
        view = new DataView(all.buffer, all.byteOffset, all.length);
      }
      at = start;
      limit = end;
    },
    row: createTuple(),
    old: createTuple(),
    u8,
    u16,
    u32,
    i32: () => view.getInt32(skip(4)),
    u64: () => view.getBigUint64(skip(8)),
    i64: () => view.getBigInt64(skip(8)),
    text(): string {
      const end = bytes.indexOf(0, at);
      if (end < 0 || end >= limit) throw malformed();
      const text = bytes.toString("utf8", at, end);
      at = end + 1;
      return text;
    },
    expect(tag: number): void {
      if (u8() !== tag) throw malformed();
    },
    /** Passes what says that a row follows as it was before: its key, or all of it. */
    isOld(): boolean {
      if (at >= limit || (bytes[at] !== tags.key && bytes[at] !== tags.whole)) return false;
      at++;
      return true;
    },
    left: () => limit - at,
    end(): void {
      if (at !== limit) throw malformed();
    },
  };
}
