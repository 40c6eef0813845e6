/** Changes of a table as rows of its stream. */
import { type Batch, type BatchField, ConnectorError } from "svc-connectors";
import type { Session } from "../api.ts";
import type { Column, Table } from "../catalog.ts";
import { TextBytes } from "../columns/texts.ts";
import { type FieldSource, planProjection } from "../projection.ts";
import { createRowDecoder } from "../row-decoder.ts";
import { learnTypes, scalarOf, typeOf } from "../type-names.ts";
import { isNull, isUnchanged, type Relation, type Tuple } from "./pgoutput.ts";
import { addedColumns, deletedAtField, lsnField } from "./settings.ts";
import { copied, put32, type ToWire, toJsonOf, toWireOf, writeBigLong } from "./text-values.ts";

export interface ChangeRow {
  readonly tuple: Tuple;
  /** The whole row as it was: it has large values that were left as they were. */
  readonly before?: Tuple | undefined;
  readonly lsn: bigint;
  /** Microseconds since 2000; undefined: the row is there. */
  readonly deletedAt?: bigint | undefined;
}

export interface ChangeRows {
  /** Bytes and rows that wait. */
  readonly bytes: number;
  readonly rowCount: number;
  /** False: a large value that was left as it was is not among what is known. */
  add(row: ChangeRow): boolean;
  /** The batches of all rows; each is valid until the next one. */
  take(): Generator<Batch>;
  /** The texts of the key's values. @throws RECORD_INVALID for a key that is null */
  keyOf(tuple: Tuple): string[];
  /** The values of the key are written alike. */
  isSameKey(one: Tuple, other: Tuple): boolean;
}

/** @throws RECORD_INVALID when a column of the key is another one */
export async function createChangeRows(
  session: Session,
  relation: Relation,
  stream: { readonly fields: readonly BatchField[]; readonly key: readonly string[] },
): Promise<ChangeRows> {
  const table = await toTable(session, relation, stream.key);
  const projection = planProjection(table, stream.fields, []);
  const { decoded, columns } = projection;
  const places = new Map(relation.columns.map(({ name }, index) => [name, index]));
  const keyPlaces = stream.key.map((name) => {
    const place = places.get(name);
    if (place === undefined) throw keyChanged(name);
    return place;
  });
  const sources = projection.sources.map((source) => ({
    name: source.column.name,
    place: places.get(source.column.name) ?? -1,
    isKey: stream.key.includes(source.column.name),
    toWire: wireOf(session, relation, source),
  }));

  let failure: unknown;
  let isFull = false;
  const decoder = createRowDecoder({
    decoded,
    columns,
    maxRows: Number.POSITIVE_INFINITY,
    kept: [],
    onFull: () => (isFull = true),
    onFailure: (error) => (failure = error),
  });
  const out = new TextBytes();
  let rowCount = 0;
  let hasHeader = false;

  const add = ({ tuple, before, lsn, deletedAt }: ChangeRow): boolean => {
    if (tuple.count !== relation.columns.length) throw malformed();
    const begin = out.length;
    out.reserve(7);
    out.length += 7;
    for (const { name, place, isKey, toWire } of sources) {
      if (place < 0) {
        const value = name === lsnField ? lsn : deletedAt;
        if (value === undefined) writeLength(out, isNull);
        else {
          writeLength(out, 8);
          writeBigLong(out, value);
        }
        continue;
      }
      let from = tuple;
      if (from.lengths[place] === isUnchanged) {
        const known = before?.lengths[place] ?? isUnchanged;
        if (before === undefined || known === isUnchanged) {
          out.length = begin;
          return false;
        }
        from = before;
      }
      const length = from.lengths[place] as number;
      if (length === isNull || (deletedAt !== undefined && !isKey)) {
        if (isKey) throw keyChanged(name);
        writeLength(out, isNull);
        continue;
      }
      const start = from.starts[place] as number;
      writeLength(out, 0);
      const at = out.length;
      toWire(out, from.bytes, start, start + length);
      put32(out.bytes, at - 4, out.length - at);
    }
    out.bytes[begin] = 0x64;
    put32(out.bytes, begin + 1, out.length - begin - 1);
    out.bytes.writeInt16BE(sources.length, begin + 5);
    rowCount++;
    return true;
  };

  function* takeAll(): Generator<Batch> {
    for (let at = 0; at < out.length; ) {
      isFull = false;
      at = decoder.take(out.bytes, at, out.length);
      if (failure !== undefined) throw failure;
      if (isFull || at >= out.length) {
        if (decoder.rowCount > 0) yield decoder.batch();
        decoder.clear();
      } else throw malformed();
    }
    out.clear();
    rowCount = 0;
  }

  const isSameAt = (one: Tuple, other: Tuple, place: number): boolean => {
    const length = one.lengths[place] ?? isNull;
    if (length < 0 || length !== other.lengths[place]) return false;
    const [from, to] = [one.starts[place] ?? 0, other.starts[place] ?? 0];
    for (let index = 0; index < length; index++)
      if (one.bytes[from + index] !== other.bytes[to + index]) return false;
    return true;
  };

  return {
    get bytes() {
      return out.length;
    },
    get rowCount() {
      return rowCount;
    },
    add(row) {
      if (!hasHeader) {
        hasHeader = true;
        writeCopyHeader(out);
      }
      try {
        return add(row);
      } catch (error) {
        // An error that is not ours quotes the row.
        throw error instanceof ConnectorError ? error : malformed();
      }
    },
    *take() {
      try {
        yield* takeAll();
      } catch (error) {
        throw withAdvice(error);
      }
    },
    keyOf: (tuple) =>
      keyPlaces.map((place, index) => {
        const length = tuple.lengths[place] ?? isNull;
        if (length < 0) throw keyChanged(stream.key[index] ?? "");
        const start = tuple.starts[place] as number;
        return tuple.bytes.toString("utf8", start, start + length);
      }),
    isSameKey: (one, other) => keyPlaces.every((place) => isSameAt(one, other, place)),
  };
}

export const oversizedAdvice =
  "its change is in the log, and no run gets past it: deselect the large field or shorten it at the source, then read the stream anew (reset); or deselect the stream";

const withAdvice = (error: unknown) =>
  error instanceof ConnectorError && error.code === "RECORD_TOO_LARGE"
    ? new ConnectorError(error.code, { ...error.details, problem: oversizedAdvice })
    : error;

const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "its log has a row that is not of its table",
  });

const keyChanged = (name: string) =>
  new ConnectorError("RECORD_INVALID", {
    problem: `the column ${name}, which is a key, has changed since the table was discovered: discover it again`,
  });

function writeLength(out: TextBytes, length: number): void {
  out.reserve(4);
  put32(out.bytes, out.length, length);
  out.length += 4;
}

/** Writes the header of a COPY: signature, flags, and no extension. */
function writeCopyHeader(out: TextBytes): void {
  const header = Buffer.concat([
    Buffer.from([0x64, 0, 0, 0, 4 + 19]),
    Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"),
    Buffer.alloc(8),
  ]);
  out.copy(header, 0, header.length);
}

function wireOf(session: Session, relation: Relation, { column, form }: FieldSource): ToWire {
  const { type = 0 } = relation.columns.find(({ name }) => name === column.name) ?? {};
  const scalar = scalarOf(session.types, type);
  if (form === "json") return toJsonOf(scalar ?? 0);
  return form === "text" || scalar === undefined ? copied : toWireOf(scalar);
}

/** The table as it was when its changes were made. */
async function toTable(
  session: Session,
  { schema, name, columns }: Relation,
  primaryKey: readonly string[],
): Promise<Table> {
  await learnTypes(
    session,
    columns.map(({ type }) => type),
  );
  const own = columns
    .filter((one) => one.name !== lsnField && one.name !== deletedAtField)
    .map((one): Column => {
      const { schema: typeSchema, type } = typeOf(session.types, one.type, one.modifier);
      return {
        name: one.name,
        type,
        schema: type.nullableSchema,
        typeName: "",
        typeSchema,
        isNullable: true,
        isIndexed: false,
        isNumbered: false,
      };
    });
  return { schema, name, isReadable: true, columns: [...own, ...addedColumns(0n)], primaryKey };
}
