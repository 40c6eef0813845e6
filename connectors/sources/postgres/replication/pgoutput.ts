/**
 * Messages of `pgoutput`, version 1: what a logical slot says of committed transactions, as text.
 * @see https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html (read 2026-11)
 */
import { ConnectorError } from "svc-connectors";

/** Values of a row as they lie in a message. */
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
  | { readonly kind: "other" };

/** Columns that a table can have. */
const maxColumns = 1_664;
const kinds = { null: 0x6e, unchanged: 0x75, text: 0x74 };

const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "its log of changes has not the form of PostgreSQL's",
  });

/** @throws DATABASE_UNUSABLE when it is no such message */
export function decodeChange(bytes: Buffer): Change {
  const reader = createReader(bytes);
  const change = readChange(reader);
  if (change.kind !== "other") reader.end();
  return change;
}

function readChange(reader: Reader): Change {
  switch (String.fromCharCode(reader.u8())) {
    case "B": {
      const lsn = reader.u64();
      const time = reader.i64();
      return { kind: "begin", lsn, time, xid: reader.u32() };
    }
    case "C": {
      reader.u8();
      reader.u64();
      const end = reader.u64();
      reader.i64();
      return { kind: "commit", end };
    }
    case "R":
      return { kind: "relation", relation: readRelation(reader) };
    case "I": {
      const oid = reader.u32();
      reader.expect("N");
      return { kind: "insert", oid, row: readTuple(reader) };
    }
    case "U": {
      const oid = reader.u32();
      const hasOld = reader.isNext("K") || reader.isNext("O");
      if (hasOld) reader.u8();
      const old = hasOld ? readTuple(reader) : undefined;
      reader.expect("N");
      return { kind: "update", oid, old, row: readTuple(reader) };
    }
    case "D": {
      const oid = reader.u32();
      if (!reader.isNext("K") && !reader.isNext("O")) throw malformed();
      reader.u8();
      return { kind: "delete", oid, old: readTuple(reader) };
    }
    case "T": {
      const count = reader.u32();
      reader.u8();
      if (count > reader.left() / 4) throw malformed();
      return { kind: "truncate", oids: Array.from({ length: count }, () => reader.u32()) };
    }
    case "O": // where a transaction came from
    case "Y": // a type of the user's
    case "M": // a message of an application
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

function readTuple(reader: Reader): Tuple {
  const count = reader.u16();
  if (count > maxColumns) throw malformed();
  const starts = new Int32Array(count);
  const lengths = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    const kind = reader.u8();
    if (kind === kinds.null) lengths[index] = isNull;
    else if (kind === kinds.unchanged) lengths[index] = isUnchanged;
    else if (kind === kinds.text) {
      const length = reader.u32();
      starts[index] = reader.skip(length);
      lengths[index] = length;
    } else throw malformed();
  }
  return { bytes: reader.bytes, count, starts, lengths };
}

type Reader = ReturnType<typeof createReader>;

function createReader(bytes: Buffer) {
  let at = 0;
  /** Gives where so many bytes begin, behind which reading goes on. */
  const skip = (count: number): number => {
    if (count > bytes.length - at) throw malformed();
    const start = at;
    at += count;
    return start;
  };
  const u8 = () => bytes[skip(1)] as number;
  return {
    bytes,
    skip,
    u8,
    u16: () => bytes.readUInt16BE(skip(2)),
    u32: () => bytes.readUInt32BE(skip(4)),
    i32: () => bytes.readInt32BE(skip(4)),
    u64: () => bytes.readBigUInt64BE(skip(8)),
    i64: () => bytes.readBigInt64BE(skip(8)),
    text(): string {
      const end = bytes.indexOf(0, at);
      if (end < 0) throw malformed();
      const text = bytes.toString("utf8", at, end);
      at = end + 1;
      return text;
    },
    isNext: (type: string) => bytes[at] === type.charCodeAt(0),
    expect(type: string): void {
      if (u8() !== type.charCodeAt(0)) throw malformed();
    },
    left: () => bytes.length - at,
    end(): void {
      if (at !== bytes.length) throw malformed();
    },
  };
}
