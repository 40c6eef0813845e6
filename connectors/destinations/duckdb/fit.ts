/**
 * Values of a column as DuckDB takes them into a column of a type that holds them all. Where their
 * own type is another one, DuckDB casts them, which loses nothing then.
 */
import { type BatchColumn, isValid } from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import { intervalValues } from "./intervals.ts";
import { areOfType } from "./native-types.ts";
import { isFiniteText, numberTexts, plainNumber } from "./number-texts.ts";
import { type NumberNeeds, numbersBeyond, textNeeds } from "./numbers.ts";
import type { StagedBatch } from "./stage.ts";
import { type Texts, textAt } from "./strings.ts";
import { digitsOf } from "./types.ts";

/** Values as they lie in a vector of DuckDB, or texts. */
export interface FittedValues {
  /** The SQL type of the values. */
  readonly type: string;
  /** In whole groups of 64 bits. */
  readonly validity?: Uint8Array | undefined;
  readonly values: Uint8Array | Texts;
  /** Rows whose value no type but text could hold: it is null. */
  readonly nulled?: readonly number[] | undefined;
}

/**
 * The needs of the values beyond the type, as far as they can be seen before a cast; undefined:
 * none.
 */
export function needsBeyond(
  column: BatchColumn,
  rowCount: number,
  type: string,
): NumberNeeds | undefined {
  if (type === "VARCHAR" || type === "JSON") return undefined;
  const isNumeric = type === "DOUBLE" || digitsOf(type) !== undefined || type === "DECIMAL";
  if (isNumeric && column.encoding !== "bool") return numbersBeyond(column, rowCount, type);
  if (column.encoding !== "utf8") return undefined;
  if (type === "BOOLEAN") return textNeeds;
  const isOfType =
    type === "BLOB"
      ? base64Texts(column, rowCount) !== undefined
      : areOfType(column, rowCount, type);
  return isOfType ? undefined : textNeeds;
}

/** The needs of all columns, by property: as {@link needsBeyond}. */
export function batchNeeds(
  batch: StagedBatch,
  columns: readonly Column[],
): ReadonlyMap<string, NumberNeeds> {
  const types = new Map(columns.map(({ property, type }) => [property, type]));
  const needs = new Map<string, NumberNeeds>();
  for (const column of batch.columns) {
    const own = needsBeyond(column, batch.rowCount, types.get(column.name) ?? "VARCHAR");
    if (own) needs.set(column.name, own);
  }
  return needs;
}

/** The values for a column of the type, which holds them. */
export function fitColumn(column: BatchColumn, rowCount: number, type: string): FittedValues {
  const { validity } = column;
  const plain = (own: string, values: FittedValues["values"]) => ({ type: own, validity, values });
  switch (column.encoding) {
    case "bool":
      return plain("BOOLEAN", column.values);
    case "date32":
      return plain("DATE", bytesOf(column.values));
    case "time64":
      return plain("TIME", bytesOf(column.values));
    case "timestamp64":
      return plain(
        column.kind === "timestamp" ? "TIMESTAMP" : "TIMESTAMPTZ",
        bytesOf(column.values),
      );
    case "uuid128":
      return plain("UUID", uuids(column.values));
    case "binary":
      return type === "BLOB" ? plain("BLOB", column) : plain("VARCHAR", toBase64(column, rowCount));
    case "utf8": {
      if (type === "BLOB") return plain("BLOB", base64Texts(column, rowCount) ?? column);
      const intervals = type === "INTERVAL" ? intervalValues(column, rowCount) : undefined;
      return intervals ? plain("INTERVAL", intervals) : plain("VARCHAR", column);
    }
    case "json":
      return type === "JSON"
        ? plain("JSON", withWholeSurrogates(column))
        : plain("VARCHAR", withoutQuotes(column, rowCount));
    default:
      return fitNumbers(column, rowCount, type);
  }
}

function fitNumbers(column: BatchColumn, rowCount: number, type: string): FittedValues {
  const { validity } = column;
  if (column.encoding === "float64" && type === "DOUBLE")
    return { type, validity, values: bytesOf(column.values) };
  if (type === "DOUBLE" && column.encoding !== "int32")
    return { type, validity, values: doubles(column, rowCount) };
  switch (column.encoding) {
    case "int32":
      return { type: "INTEGER", validity, values: bytesOf(column.values) };
    case "int64":
      return { type: "BIGINT", validity, values: bytesOf(column.values) };
    case "decimal64": {
      // Of 10 to 18 digits, a DECIMAL lies in 64 bits too; all values have been seen to fit.
      const isSame = new RegExp(`^DECIMAL\\(1\\d,${column.scale}\\)$`).test(type);
      const own = isSame ? type : `DECIMAL(18,${column.scale})`;
      return { type: own, validity, values: bytesOf(column.values) };
    }
    case "decimal128":
      return { type: `DECIMAL(38,${column.scale})`, validity, values: column.values };
    case "number":
      if (type === "VARCHAR" || isPlain(column.bytes))
        return { type: "VARCHAR", validity, values: column };
  }
  return plainTexts(column, rowCount, type);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Digits, signs and points only. */
function isPlain(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte > 0x39 || byte === 0x2b) return false;
  return true;
}

/** Numbers as texts without exponents; what is no number is null where the type is one. */
function plainTexts(column: BatchColumn, rowCount: number, type: string): FittedValues {
  const textOf = numberTexts(column, rowCount);
  const nulled: number[] = [];
  const texts = buildTexts(rowCount, (row) => {
    const text = textOf(row);
    if (text === undefined) return undefined;
    if (type === "VARCHAR") return Buffer.from(text);
    if (isFiniteText(text)) return Buffer.from(plainNumber(text));
    nulled.push(row);
    return undefined;
  });
  if (nulled.length === 0) return { type: "VARCHAR", validity: column.validity, values: texts };
  const validity = new Uint8Array(Math.ceil(rowCount / 64) * 8).fill(0xff);
  if (column.validity) validity.set(column.validity);
  for (const row of nulled) validity[row >> 3] = (validity[row >> 3] as number) & ~(1 << (row & 7));
  return { type: "VARCHAR", validity, values: texts, nulled };
}

function doubles(column: BatchColumn, rowCount: number): Uint8Array {
  const textOf = numberTexts(column, rowCount);
  const values = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) values[row] = Number(textOf(row) ?? 0);
  return bytesOf(values);
}

/** DuckDB keeps a UUID as a number of 128 bits with its sign turned, so that they are in order. */
function uuids(values: Uint8Array): Uint8Array {
  const turned = new Uint8Array(values.length);
  for (let at = 0; at < values.length; at += 16) {
    for (let byte = 0; byte < 16; byte++) turned[at + byte] = values[at + 15 - byte] as number;
    turned[at + 15] = (turned[at + 15] as number) ^ 0x80;
  }
  return turned;
}

/** A text for each row; undefined: one without length. */
function buildTexts(rowCount: number, textOf: (row: number) => Uint8Array | undefined): Texts {
  const parts: Uint8Array[] = [];
  const offsets = new Uint32Array(rowCount + 1);
  for (let row = 0; row < rowCount; row++) {
    const part = textOf(row);
    if (part) parts.push(part);
    offsets[row + 1] = (offsets[row] as number) + (part?.length ?? 0);
  }
  return { offsets, bytes: Buffer.concat(parts) };
}

type TextColumn = BatchColumn & Texts;

const toBase64 = (column: TextColumn, rowCount: number) =>
  buildTexts(rowCount, (row) => Buffer.from(textAt(column, row).toString("base64")));

/** Undefined when some text is no base64. */
function base64Texts(column: TextColumn, rowCount: number): Texts | undefined {
  let isBase64 = true;
  const texts = buildTexts(rowCount, (row) => {
    const text = textAt(column, row).toString("latin1");
    const value = Buffer.from(text, "base64");
    isBase64 &&= value.toString("base64") === text;
    return value;
  });
  return isBase64 ? texts : undefined;
}

/**
 * JSON may hold half of a surrogate pair as an escape; DuckDB's functions refuse such a value. Both
 * escapes have the same length.
 */
function withWholeSurrogates({ offsets, bytes }: TextColumn): Texts {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!text.includes("\\ud") && !text.includes("\\uD")) return { offsets, bytes };
  const mended = text
    .toString("latin1")
    .replace(
      /\\(?:u(d[89ab][0-9a-f]{2})(\\ud[c-f][0-9a-f]{2})?|u(d[c-f][0-9a-f]{2})|[\s\S])/gi,
      (found, high, low, lone) =>
        lone !== undefined || (high !== undefined && low === undefined) ? "\\ufffd" : found,
    );
  return { offsets, bytes: Buffer.from(mended, "latin1") };
}

const quote = 0x22;

/** JSON as text: a string is what it says. */
const withoutQuotes = (column: TextColumn, rowCount: number) =>
  buildTexts(rowCount, (row) => {
    if (!isValid(column, row)) return undefined;
    const text = textAt(column, row);
    if (text[0] !== quote) return text;
    const inside = text.subarray(1, -1);
    return inside.includes("\\") ? Buffer.from(JSON.parse(text.toString()) as string) : inside;
  });
