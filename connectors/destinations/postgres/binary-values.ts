/** Columns of a batch as columns of PostgreSQL's types in the binary form of COPY. */
import { parseExact } from "svc-connectors";
import {
  type BatchColumn,
  endlessDay,
  int128At,
  isValid,
  numberAt,
  textWriter,
} from "svc-connectors/destination";
import {
  type BinaryColumn,
  type Changed,
  fixedColumn,
  type Parts,
  partsColumn,
} from "./binary-columns.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import {
  dayOfText,
  instantOf,
  rareDateText,
  rareInstantOf,
  rareInstantText,
  timeOfText,
} from "./instants.ts";
import { putDecimal, putNumber } from "./numeric.ts";
import { base64Form, type ColumnType, cleanJson, hasEndlessNumber, uuidForm } from "./types.ts";

/** The limits of the server's types. */
export interface ServerTypes {
  /** numeric has infinity since PostgreSQL 14. */
  readonly hasNumericInfinity: boolean;
}

/** The column as a type; undefined when it has to become text. */
export function binaryColumn(
  column: BatchColumn,
  type: ColumnType,
  rowCount: number,
  server: ServerTypes,
): BinaryColumn | undefined {
  const { encoding } = column;
  if (type === "text") return asText(column, rowCount);
  if (type === "numeric") return asNumeric(column, rowCount, server);
  switch (encoding) {
    case "bool":
      return type === "boolean" ? booleans(column) : undefined;
    case "int32":
      return type === "smallint" && !areWithin(column.values, 2 ** 15)
        ? undefined
        : integers(column, type);
    case "int64":
      return type === "bigint" ? longs(column) : shortLongs(column, type, rowCount);
    case "float64":
      return type === "double precision" ? doubles(column) : undefined;
    case "date32":
      return type === "date" ? days(column) : undefined;
    case "time64":
      return type === "time without time zone" ? longs(column) : undefined;
    case "timestamp64":
      return isTimestamp(type) ? instants(column) : undefined;
    case "uuid128":
      return type === "uuid" ? sixteenBytes(column) : undefined;
    case "binary":
      return type === "bytea" ? partsColumn(column) : undefined;
    case "json":
      return type === "jsonb" ? json(column, rowCount) : undefined;
    case "utf8":
      return typedTexts(column, type, rowCount);
    default:
      return undefined;
  }
}

type Of<Encoding extends BatchColumn["encoding"]> = Extract<BatchColumn, { encoding: Encoding }>;

type Texts = Extract<BatchColumn, { offsets: Uint32Array }>;

const isTimestamp = (type: ColumnType) =>
  type === "timestamp with time zone" || type === "timestamp without time zone";

const booleans = ({ validity, values }: Of<"bool">) =>
  fixedColumn(validity, 1, ({ bytes, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++)
      bytes[(next[row] as number) + 4] = values[row] as number;
  });

/** Whether all are from -limit to limit - 1. */
function areWithin(values: Int32Array, limit: number): boolean {
  for (const value of values) if (value >= limit || value < -limit) return false;
  return true;
}

function integers({ validity, values }: Of<"int32">, type: ColumnType): BinaryColumn | undefined {
  switch (type) {
    case "smallint":
      return fixedColumn(validity, 2, ({ view, next, rowCount }) => {
        for (let row = 0; row < rowCount; row++)
          view.setInt16((next[row] as number) + 4, values[row] as number);
      });
    case "integer":
      return fixedColumn(validity, 4, ({ view, next, rowCount }) => {
        for (let row = 0; row < rowCount; row++)
          view.setInt32((next[row] as number) + 4, values[row] as number);
      });
    case "bigint":
      return fixedColumn(validity, 8, ({ view, next, rowCount }) => {
        for (let row = 0; row < rowCount; row++) {
          const value = values[row] as number;
          const at = (next[row] as number) + 4;
          view.setInt32(at, value >> 31);
          view.setInt32(at + 4, value);
        }
      });
    case "double precision":
      return doubles({ validity, values });
    default:
      return undefined;
  }
}

const doubles = ({ validity, values }: Pick<BatchColumn, "validity"> & Doubles) =>
  fixedColumn(validity, 8, ({ view, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++)
      view.setFloat64((next[row] as number) + 4, values[row] as number);
  });
interface Doubles {
  readonly values: Float64Array | Int32Array;
}

/** Days are counted from 2000-01-01. */
const dayOf = (day: number) =>
  day === endlessDay ? endlessDay : day === -endlessDay ? -endlessDay - 1 : day - 10_957;

const days = ({ validity, values }: Of<"date32">) =>
  fixedColumn(validity, 4, ({ view, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++)
      view.setInt32((next[row] as number) + 4, dayOf(values[row] as number));
  });

/** The halves of 64-bit integers, the lower first. */
const halves = (values: BigInt64Array) =>
  new Int32Array(values.buffer, values.byteOffset, values.length * 2);

function longs({ validity, values }: Of<"int64" | "time64">): BinaryColumn {
  const parts = halves(values);
  return fixedColumn(validity, 8, ({ view, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++) {
      const at = (next[row] as number) + 4;
      view.setInt32(at, parts[row * 2 + 1] as number);
      view.setInt32(at + 4, parts[row * 2] as number);
    }
  });
}

/** 64-bit integers in a type of 16 or 32 bits. */
function shortLongs(
  { validity, values }: Of<"int64">,
  type: ColumnType,
  rowCount: number,
): BinaryColumn | undefined {
  if (type !== "integer" && type !== "smallint") return undefined;
  const at = numberAt(values);
  const limit = type === "integer" ? 2 ** 31 : 2 ** 15;
  const short = new Int32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const value = at(row);
    if (value >= limit || value < -limit) return undefined;
    short[row] = value;
  }
  return integers({ validity, values: short } as Of<"int32">, type);
}

/** Microseconds are counted from 2000-01-01. */
const epochUpper = Math.floor(946_684_800_000_000 / 2 ** 32);
const epochLower = 946_684_800_000_000 - epochUpper * 2 ** 32;

function instants({ validity, values }: Of<"timestamp64">): BinaryColumn {
  const parts = halves(values);
  return fixedColumn(validity, 8, ({ view, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++)
      putInstant(
        view,
        (next[row] as number) + 4,
        parts[row * 2 + 1] as number,
        (parts[row * 2] as number) >>> 0,
      );
  });
}

/** Of microseconds since 1970, by halves. */
function putInstant(view: DataView, at: number, upper: number, lower: number): void {
  if (upper === 0x7fffffff && lower === 0xffffffff) {
    view.setInt32(at, upper);
    view.setInt32(at + 4, -1);
  } else if (upper === -0x80000000 && lower === 1) {
    view.setInt32(at, upper);
    view.setInt32(at + 4, 0);
  } else {
    const difference = lower - epochLower;
    view.setInt32(at, upper - epochUpper - (difference < 0 ? 1 : 0));
    view.setInt32(at + 4, difference | 0);
  }
}

const sixteenBytes = ({ validity, values }: Of<"uuid128">): BinaryColumn => {
  const from = new DataView(values.buffer, values.byteOffset, values.byteLength);
  return fixedColumn(validity, 16, ({ view, next, rowCount }) => {
    for (let row = 0; row < rowCount; row++) {
      const at = (next[row] as number) + 4;
      view.setBigInt64(at, from.getBigInt64(row * 16));
      view.setBigInt64(at + 8, from.getBigInt64(row * 16 + 8));
    }
  });
};

/**
 * Values whose length is known only once they are written, one by one.
 * @param bytes that they take, about
 * @param put writes a value that is not null; "NULLED": it has written nothing; "misfit": the
 * column has to become text
 */
function writtenColumn(
  { validity }: Pick<BatchColumn, "validity">,
  rowCount: number,
  bytes: number,
  put: (out: GrowingBytes, row: number) => Changed | "misfit" | undefined,
  version?: number,
): BinaryColumn | undefined {
  const out = new GrowingBytes(bytes);
  const offsets = new Uint32Array(rowCount + 1);
  const changed = new Map<number, Changed>();
  let left = validity;
  for (let row = 0; row < rowCount; row++) {
    if (validity === undefined || isValid({ validity }, row)) {
      const outcome = put(out, row);
      if (outcome === "misfit") return undefined;
      if (outcome !== undefined) changed.set(row, outcome);
      if (outcome === "NULLED") left = without(left, row, rowCount);
    }
    offsets[row + 1] = out.length;
  }
  return partsColumn({ validity: left, offsets, bytes: out.bytes, version, changed });
}

function without(validity: Parts["validity"], row: number, rowCount: number): Uint8Array {
  const bits = validity?.slice() ?? new Uint8Array((rowCount + 7) >> 3).fill(0xff);
  bits[row >> 3] = (bits[row >> 3] as number) & ~(1 << (row & 7));
  return bits;
}

function typedTexts(column: Texts, type: ColumnType, rowCount: number): BinaryColumn | undefined {
  const { bytes, offsets } = column;
  if (isTimestamp(type)) return instantTexts(column, type, rowCount);
  const read = textReaders[type];
  if (read === undefined) return undefined;
  const buffer = asBuffer(bytes);
  return writtenColumn(column, rowCount, rowCount * 16, (out, row) => {
    const value = read(buffer.toString("utf8", offsets[row], offsets[row + 1]));
    if (value === undefined) return "misfit";
    out.append(value);
    return undefined;
  });
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

function instantTexts(column: Texts, type: ColumnType, rowCount: number): BinaryColumn | undefined {
  const { bytes, offsets } = column;
  const isInstant = type === "timestamp with time zone";
  const buffer = asBuffer(bytes);
  return writtenColumn(column, rowCount, rowCount * 8, (out, row) => {
    const from = offsets[row] as number;
    const end = offsets[row + 1] as number;
    const us = instantOf(bytes, from, end, isInstant);
    if (us !== undefined) {
      const upper = Math.floor(us / 2 ** 32);
      out.reserve(8);
      putInstant(out.view, out.length, upper, us - upper * 2 ** 32);
      out.length += 8;
      return undefined;
    }
    const rare = rareInstantOf(buffer.toString("utf8", from, end));
    if (rare === undefined) return "misfit";
    out.append(bigEndian(rare));
    return undefined;
  });
}

const jsonbVersion = 1;

function json(column: Texts, rowCount: number): BinaryColumn | undefined {
  const { bytes, offsets } = column;
  const buffer = asBuffer(bytes);
  if (!mayBeRefused(buffer)) return partsColumn({ ...column, version: jsonbVersion });
  return writtenColumn(
    column,
    rowCount,
    bytes.length,
    (out, row) => {
      const given = buffer.toString("utf8", offsets[row], offsets[row + 1]);
      if (hasEndlessNumber(parseExact(given))) return "misfit";
      const cleaned = cleanJson(given);
      out.append(Buffer.from(cleaned));
      return cleaned === given ? undefined : "REPLACED";
    },
    jsonbVersion,
  );
}

/** Text as a column of jsonb, such as what became of a row's values. */
export const jsonTexts = (parts: Omit<Parts, "version">): BinaryColumn =>
  partsColumn({ ...parts, version: jsonbVersion });

/**
 * Whether jsonb may refuse one of these texts: for an escape of NUL or of half a surrogate pair, or
 * for a number that is too long for numeric.
 */
function mayBeRefused(texts: Buffer): boolean {
  if (texts.includes("\\u") || hasLongNumber(texts)) return true;
  const { buffer, byteOffset, length } = texts;
  // Four at once: most words have no letter of an exponent.
  const words = byteOffset % 4 === 0 ? new Int32Array(buffer, byteOffset, length >> 2) : [];
  for (let at = 0; at < words.length; at++) {
    const word = ((words[at] as number) | 0x20202020) ^ 0x65656565;
    if (((word - 0x01010101) & ~word & 0x80808080) === 0) continue;
    for (let byte = at * 4; byte < at * 4 + 4; byte++) if (isLongPower(texts, byte)) return true;
  }
  for (let at = words.length * 4; at < length; at++) if (isLongPower(texts, at)) return true;
  return false;
}

/** Longer runs of digits may be too long for numeric. */
const longRun = 10_000;

/** A run that is longer covers a multiple of its length. */
function hasLongNumber(texts: Buffer): boolean {
  for (let at = 0; at < texts.length; at += longRun) {
    let start = at;
    let end = at;
    while (isDigit(texts[start - 1])) start--;
    while (isDigit(texts[end])) end++;
    if (end - start > longRun) return true;
  }
  return false;
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Whether an exponent of four digits or more begins there. */
function isLongPower(texts: Buffer, at: number): boolean {
  if (((texts[at] as number) | 0x20) !== 0x65 || !isDigit(texts[at - 1])) return false;
  const sign = texts[at + 1];
  const from = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
  for (let digit = from; digit < from + 4; digit++) if (!isDigit(texts[digit])) return false;
  return true;
}

/** Bytes that most values of numeric take at most. */
const usualNumericBytes = 16;

function asNumeric(
  column: BatchColumn,
  rowCount: number,
  { hasNumericInfinity }: ServerTypes,
): BinaryColumn | undefined {
  const written = (put: (out: GrowingBytes, row: number) => Changed | "misfit" | undefined) =>
    writtenColumn(column, rowCount, rowCount * usualNumericBytes, put);
  switch (column.encoding) {
    case "int32":
      return written((out, row) => {
        putDecimal(out, column.values[row] as number, 0);
        return undefined;
      });
    case "int64":
    case "decimal64": {
      const { values } = column;
      const at = numberAt(values);
      const scale = column.encoding === "decimal64" ? column.scale : 0;
      return written((out, row) => {
        const value = at(row);
        putDecimal(out, Number.isSafeInteger(value) ? value : (values[row] as bigint), scale);
        return undefined;
      });
    }
    case "decimal128":
      return written((out, row) => {
        putDecimal(out, int128At(column.values, row), column.scale);
        return undefined;
      });
    case "float64":
      return written((out, row) => {
        const text = Buffer.from(String(column.values[row]));
        return putNumber(out, text, 0, text.length, hasNumericInfinity) ? undefined : "NULLED";
      });
    case "number": {
      const { bytes, offsets } = column;
      return written((out, row) => {
        const from = offsets[row] as number;
        const end = offsets[row + 1] as number;
        if (putNumber(out, bytes, from, end, hasNumericInfinity)) return undefined;
        return isInfinity(bytes, end) ? "NULLED" : "misfit";
      });
    }
    default:
      return undefined;
  }
}

const isInfinity = (bytes: Uint8Array, end: number) => bytes[end - 1] === 0x79;

/** The text that JSON has for the value, without quotes; of what JSON cannot say, PostgreSQL's. */
function asText(column: BatchColumn, rowCount: number): BinaryColumn | undefined {
  if (column.encoding === "utf8")
    // PostgreSQL keeps no NUL.
    return column.bytes.includes(0) ? cleanedTexts(column, rowCount) : partsColumn(column);
  const write = textWriter(column);
  const bytes = "offsets" in column ? column.bytes.length : rowCount * 24;
  return writtenColumn(column, rowCount, bytes, (out, row) => {
    const text = write(row);
    out.append(text ?? Buffer.from(unsaidText(column, row)));
    return text === undefined && column.encoding === "json" ? "REPLACED" : undefined;
  });
}

const replacement = Buffer.from("\ufffd");

function cleanedTexts(column: Texts, rowCount: number): BinaryColumn | undefined {
  const { bytes, offsets } = column;
  return writtenColumn(column, rowCount, bytes.length, (out, row) => {
    const value = bytes.subarray(offsets[row], offsets[row + 1]);
    let from = 0;
    for (let at = value.indexOf(0); at !== -1; at = value.indexOf(0, from)) {
      out.append(value.subarray(from, at));
      out.append(replacement);
      from = at + 1;
    }
    out.append(value.subarray(from));
    return from === 0 ? undefined : "REPLACED";
  });
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
