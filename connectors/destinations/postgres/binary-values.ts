/** Values of columns in the binary form that PostgreSQL's types have, each with its length before. */
import {
  type BatchColumn,
  endlessDay,
  int128At,
  numberAt,
  textWriter,
} from "svc-connectors/destination";
import type { BinaryRows } from "./binary-rows.ts";
import { instantOf } from "./instants.ts";
import { maxDecimalBytes, maxNumberBytes, putDecimal, putNumber } from "./numeric.ts";
import type { ColumnType } from "./types.ts";

/**
 * Writes the value of a row, which is not null.
 * @returns "null" when the type has no such value, "misfit" when another type has to be found
 */
export type BinaryValue = (out: BinaryRows, row: number) => undefined | "null" | "misfit";

export interface BinaryColumn {
  readonly put: BinaryValue;
  /** Bytes that all values take at most, their lengths included. */
  readonly maxBytes: number;
}

/** What the server can hold. */
export interface ServerTypes {
  /** numeric has infinity since PostgreSQL 14. */
  readonly hasNumericInfinity: boolean;
}

/** How a column of a batch is written as a type; undefined when it has to go as text. */
export function binaryColumn(
  column: BatchColumn,
  type: ColumnType,
  rowCount: number,
  server: ServerTypes,
): BinaryColumn | undefined {
  const put = binaryValue(column, type, server);
  return put && { put, maxBytes: maxBytesOf(column, type, rowCount) };
}

function maxBytesOf(column: BatchColumn, type: ColumnType, rowCount: number): number {
  if (!("offsets" in column))
    return rowCount * (type === "text" ? 64 : Math.max(maxDecimalBytes, maxNumberBytesOf(type)));
  if (type === "text" && column.encoding === "binary")
    return rowCount * 8 + column.bytes.length * 2;
  if (column.encoding !== "number" || type === "text") return rowCount * 24 + column.bytes.length;
  let bytes = 0;
  for (let row = 0; row < rowCount; row++)
    bytes += maxNumberBytes((column.offsets[row + 1] as number) - (column.offsets[row] as number));
  return bytes;
}

/** Doubles in a numeric: up to 309 digits before the point, or 324 after it. */
const maxNumberBytesOf = (type: ColumnType) => (type === "numeric" ? 12 + 2 * 90 : 0);

const always =
  (put: (out: BinaryRows, row: number) => void): BinaryValue =>
  (out, row) => {
    put(out, row);
    return undefined;
  };

function binaryValue(
  column: BatchColumn,
  type: ColumnType,
  server: ServerTypes,
): BinaryValue | undefined {
  const { encoding } = column;
  if (type === "text") return asText(column);
  if (type === "numeric") return asNumeric(column, server);
  switch (encoding) {
    case "bool":
      return type === "boolean"
        ? always((out, row) => {
            out.int32(1);
            out.byte(column.values[row] as number);
          })
        : undefined;
    case "int32":
    case "int64":
      return asInteger(column, type);
    case "float64":
      return type === "double precision"
        ? always((out, row) => {
            out.int32(8);
            out.float64(column.values[row] as number);
          })
        : undefined;
    case "date32":
      return type === "date"
        ? always((out, row) => {
            out.int32(4);
            out.int32(dayOf(column.values[row] as number));
          })
        : undefined;
    case "time64":
      return type === "time without time zone" ? long(column.values) : undefined;
    case "timestamp64":
      return type === "timestamp with time zone" || type === "timestamp without time zone"
        ? instant(column.values)
        : undefined;
    case "uuid128":
      return type === "uuid"
        ? always((out, row) => {
            out.int32(16);
            out.copy(column.values, row * 16, row * 16 + 16);
          })
        : undefined;
    case "binary":
      return type === "bytea" ? bytes(column.bytes, column.offsets) : undefined;
    case "json":
      return type === "jsonb" ? json(column.bytes, column.offsets) : undefined;
    case "utf8":
      return type === "timestamp with time zone" || type === "timestamp without time zone"
        ? instantText(column.bytes, column.offsets, type)
        : undefined;
    default:
      return undefined;
  }
}

/** Days are counted from 2000-01-01. */
const dayOf = (day: number) =>
  day === endlessDay ? endlessDay : day === -endlessDay ? -endlessDay - 1 : day - 10_957;

function asInteger(
  column: Extract<BatchColumn, { encoding: "int32" | "int64" }>,
  type: ColumnType,
): BinaryValue | undefined {
  if (column.encoding === "int32") {
    const { values } = column;
    if (type === "bigint")
      return always((out, row) => {
        const value = values[row] as number;
        out.int32(8);
        out.int32(value >> 31);
        out.int32(value);
      });
    if (type === "integer")
      return always((out, row) => {
        out.int32(4);
        out.int32(values[row] as number);
      });
    if (type !== "smallint") return undefined;
    return (out, row) => {
      const value = values[row] as number;
      if (value !== (value << 16) >> 16) return "misfit";
      out.int32(2);
      out.int16(value);
      return undefined;
    };
  }
  if (type === "bigint") return long(column.values);
  if (type !== "integer" && type !== "smallint") return undefined;
  const at = numberAt(column.values);
  const limit = type === "integer" ? 2 ** 31 : 2 ** 15;
  return (out, row) => {
    const value = at(row);
    if (value >= limit || value < -limit) return "misfit";
    out.int32(type === "integer" ? 4 : 2);
    if (type === "integer") out.int32(value);
    else out.int16(value);
    return undefined;
  };
}

/** The halves of 64-bit integers, the lower first. */
const halves = (values: BigInt64Array) =>
  new Int32Array(values.buffer, values.byteOffset, values.length * 2);

function long(values: BigInt64Array): BinaryValue {
  const parts = halves(values);
  return always((out, row) => {
    out.int32(8);
    out.int32(parts[row * 2 + 1] as number);
    out.int32(parts[row * 2] as number);
  });
}

/** Microseconds from 1970 to 2000, in halves: instants are counted from 2000-01-01. */
const epochUpper = Math.floor(946_684_800_000_000 / 2 ** 32);
const epochLower = 946_684_800_000_000 - epochUpper * 2 ** 32;

function instant(values: BigInt64Array): BinaryValue {
  const parts = halves(values);
  return always((out, row) => {
    const upper = parts[row * 2 + 1] as number;
    const lower = (parts[row * 2] as number) >>> 0;
    out.int32(8);
    if (upper === 0x7fffffff && lower === 0xffffffff) {
      out.int32(upper);
      out.int32(-1);
    } else if (upper === -0x80000000 && lower === 1) {
      out.int32(upper);
      out.int32(0);
    } else putInstant(out, upper, lower);
  });
}

function putInstant(out: BinaryRows, upper: number, lower: number): void {
  const difference = lower - epochLower;
  out.int32(upper - epochUpper - (difference < 0 ? 1 : 0));
  out.int32(difference | 0);
}

function instantText(bytes: Uint8Array, offsets: Uint32Array, type: ColumnType): BinaryValue {
  const isInstant = type === "timestamp with time zone";
  return (out, row) => {
    const us = instantOf(bytes, offsets[row] as number, offsets[row + 1] as number, isInstant);
    if (us === undefined) return "misfit";
    out.int32(8);
    const upper = Math.floor(us / 2 ** 32);
    putInstant(out, upper, us - upper * 2 ** 32);
    return undefined;
  };
}

function bytes(from: Uint8Array, offsets: Uint32Array): BinaryValue {
  return always((out, row) => {
    const start = offsets[row] as number;
    const end = offsets[row + 1] as number;
    out.int32(end - start);
    out.copy(from, start, end);
  });
}

/** A version, and the text. What jsonb refuses has to go as text. */
function json(from: Uint8Array, offsets: Uint32Array): BinaryValue | undefined {
  if (mayBeRefused(from)) return undefined;
  return always((out, row) => {
    const start = offsets[row] as number;
    const end = offsets[row + 1] as number;
    out.int32(1 + end - start);
    out.byte(1);
    out.copy(from, start, end);
  });
}

/**
 * Whether jsonb may refuse one of these texts: for an escape of NUL or of half a surrogate pair, or
 * for a number that is too long for numeric.
 */
function mayBeRefused(texts: Uint8Array): boolean {
  const buffer = Buffer.from(texts.buffer, texts.byteOffset, texts.length);
  if (buffer.includes("\\u")) return true;
  let digits = 0;
  for (let at = 0; at < texts.length; at++) {
    const byte = texts[at] as number;
    if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > 10_000) return true;
    } else {
      if (digits > 0 && (byte | 0x20) === 0x65 && hasLongPower(buffer, at + 1)) return true;
      digits = 0;
    }
  }
  return false;
}

const hasLongPower = (texts: Buffer, at: number) =>
  /^[+-]?\d{4}/.test(texts.toString("latin1", at, at + 5));

function asNumeric(
  column: BatchColumn,
  { hasNumericInfinity }: ServerTypes,
): BinaryValue | undefined {
  switch (column.encoding) {
    case "int32":
      return always((out, row) => putDecimal(out, column.values[row] as number, 0));
    case "int64":
    case "decimal64": {
      const { values } = column;
      const at = numberAt(values);
      const scale = column.encoding === "decimal64" ? column.scale : 0;
      return always((out, row) => {
        const value = at(row);
        putDecimal(out, Number.isSafeInteger(value) ? value : (values[row] as bigint), scale);
      });
    }
    case "decimal128":
      return always((out, row) => putDecimal(out, int128At(column.values, row), column.scale));
    case "float64":
      return (out, row) => {
        const value = column.values[row] as number;
        return putNumber(out, String(value), hasNumericInfinity) ? undefined : "null";
      };
    case "number": {
      const { bytes: texts, offsets } = column;
      const buffer = Buffer.from(texts.buffer, texts.byteOffset, texts.length);
      return (out, row) => {
        const text = buffer.toString("latin1", offsets[row], offsets[row + 1]);
        if (putNumber(out, text, hasNumericInfinity)) return undefined;
        return text.endsWith("Infinity") ? "null" : "misfit";
      };
    }
    default:
      return undefined;
  }
}

/** The text that JSON has for the value, without quotes. */
function asText(column: BatchColumn): BinaryValue | undefined {
  if (column.encoding === "utf8") {
    // PostgreSQL keeps no NUL.
    return column.bytes.includes(0) ? undefined : bytes(column.bytes, column.offsets);
  }
  const write = textWriter(column);
  return (out, row) => {
    const text = write(row);
    if (text === undefined) return "misfit";
    out.int32(text.length);
    out.copy(text, 0, text.length);
    return undefined;
  };
}
