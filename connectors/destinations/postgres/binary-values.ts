/** Values of columns in the binary form that PostgreSQL's types have, each with its length before. */
import { parseExact } from "svc-connectors";
import {
  type BatchColumn,
  endlessDay,
  int128At,
  numberAt,
  textWriter,
} from "svc-connectors/destination";
import type { BinaryRows } from "./binary-rows.ts";
import {
  dayOfText,
  instantOf,
  rareDateText,
  rareInstantOf,
  rareInstantText,
  timeOfText,
} from "./instants.ts";
import { maxDecimalBytes, maxNumberBytes, putDecimal, putNumber } from "./numeric.ts";
import { base64Form, type ColumnType, cleanJson, hasEndlessNumber, uuidForm } from "./types.ts";

/**
 * Writes the value of a row, which is not null.
 * @returns "null" when the type has no such value, "replaced" when PostgreSQL keeps some character
 * of it in no type, "misfit" when the column has to become text; only in the second case is
 * something written
 */
export type BinaryValue = (
  out: BinaryRows,
  row: number,
) => undefined | "null" | "replaced" | "misfit";

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

/** How a column of a batch is written as a type; undefined when it has to become text. */
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

/** One that always writes. The function itself: another around it would be called for each value. */
const always = (put: (out: BinaryRows, row: number) => void) => put as BinaryValue;

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
      return typedText(column.bytes, column.offsets, type);
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
    if (type === "double precision")
      return always((out, row) => {
        out.int32(8);
        out.float64(values[row] as number);
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

function typedText(
  bytes: Uint8Array,
  offsets: Uint32Array,
  type: ColumnType,
): BinaryValue | undefined {
  if (type === "timestamp with time zone" || type === "timestamp without time zone")
    return instantText(bytes, offsets, type);
  const read = textReaders[type];
  if (read === undefined) return undefined;
  const buffer = asBuffer(bytes);
  return (out, row) => {
    const value = read(buffer.toString("utf8", offsets[row], offsets[row + 1]));
    if (value === undefined) return "misfit";
    out.int32(value.length);
    out.copy(value, 0, value.length);
    return undefined;
  };
}

const asBuffer = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const bigEndian = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};

/** Texts of providers as the bytes of a type; undefined for a text that is none. */
const textReaders: Partial<Record<ColumnType, (text: string) => Buffer | undefined>> = {
  date(text) {
    const day = dayOfText(text);
    if (day === undefined) return undefined;
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(dayOf(day));
    return bytes;
  },
  "time without time zone"(text) {
    const us = timeOfText(text);
    return us === undefined ? undefined : bigEndian(BigInt(us));
  },
  uuid: (text) => (uuidForm.test(text) ? Buffer.from(text.replaceAll("-", ""), "hex") : undefined),
  bytea: (text) => (base64Form.test(text) ? Buffer.from(text, "base64") : undefined),
};

function instantText(bytes: Uint8Array, offsets: Uint32Array, type: ColumnType): BinaryValue {
  const isInstant = type === "timestamp with time zone";
  const buffer = asBuffer(bytes);
  return (out, row) => {
    const from = offsets[row] as number;
    const end = offsets[row + 1] as number;
    const us = instantOf(bytes, from, end, isInstant);
    if (us !== undefined) {
      out.int32(8);
      const upper = Math.floor(us / 2 ** 32);
      putInstant(out, upper, us - upper * 2 ** 32);
      return undefined;
    }
    const rare = rareInstantOf(buffer.toString("utf8", from, end));
    if (rare === undefined) return "misfit";
    out.int32(8);
    out.copy(bigEndian(rare), 0, 8);
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

/** A version, and the text. */
function json(from: Uint8Array, offsets: Uint32Array): BinaryValue {
  const buffer = asBuffer(from);
  const isCareful = mayBeRefused(buffer);
  if (!isCareful)
    return always((out, row) => {
      const start = offsets[row] as number;
      const end = offsets[row + 1] as number;
      out.int32(1 + end - start);
      out.byte(1);
      out.copy(from, start, end);
    });
  return (out, row) => {
    const given = buffer.toString("utf8", offsets[row], offsets[row + 1]);
    if (hasEndlessNumber(parseExact(given))) return "misfit";
    const cleaned = cleanJson(given);
    const text = Buffer.from(cleaned);
    out.int32(1 + text.length);
    out.byte(1);
    out.copy(text, 0, text.length);
    return cleaned === given ? undefined : "replaced";
  };
}

/**
 * Whether jsonb may refuse one of these texts: for an escape of NUL or of half a surrogate pair, or
 * for a number that is too long for numeric.
 */
function mayBeRefused(texts: Buffer): boolean {
  if (texts.includes("\\u")) return true;
  let digits = 0;
  for (let at = 0; at < texts.length; at++) {
    const byte = texts[at] as number;
    if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > 10_000) return true;
    } else {
      if (digits > 0 && (byte | 0x20) === 0x65 && hasLongPower(texts, at + 1)) return true;
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

/** The text that JSON has for the value, without quotes; of what JSON cannot say, PostgreSQL's. */
function asText(column: BatchColumn): BinaryValue {
  if (column.encoding === "utf8") {
    const { bytes: texts, offsets } = column;
    // PostgreSQL keeps no NUL.
    return texts.includes(0) ? cleanedText(asBuffer(texts), offsets) : bytes(texts, offsets);
  }
  const write = textWriter(column);
  return (out, row) => {
    const text = write(row);
    const value = text ?? Buffer.from(unsaidText(column, row));
    out.int32(value.length);
    out.copy(value, 0, value.length);
    return text === undefined && column.encoding === "json" ? "replaced" : undefined;
  };
}

function cleanedText(texts: Buffer, offsets: Uint32Array): BinaryValue {
  return (out, row) => {
    const given = texts.toString("utf8", offsets[row], offsets[row + 1]);
    const value = Buffer.from(given.replaceAll("\0", "\ufffd"));
    out.int32(value.length);
    out.copy(value, 0, value.length);
    return given.includes("\0") ? "replaced" : undefined;
  };
}

/** NaN and infinity, dates outside of JSON's calendar, and JSON strings with NUL. */
function unsaidText(column: BatchColumn, row: number): string {
  switch (column.encoding) {
    case "float64":
      return String(column.values[row]);
    case "date32":
      return rareDateText(column.values[row] as number);
    case "timestamp64":
      return rareInstantText(column.values[row] as bigint, column.kind === "timestamptz");
    case "number":
    case "json": {
      const text = asBuffer(column.bytes).toString(
        "utf8",
        column.offsets[row],
        column.offsets[row + 1],
      );
      return column.encoding === "number"
        ? text
        : String(JSON.parse(text)).replaceAll("\0", "\ufffd");
    }
    default:
      return "";
  }
}
