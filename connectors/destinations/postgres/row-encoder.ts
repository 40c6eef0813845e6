/**
 * JSON lines as the text format of COPY, checked so that PostgreSQL refuses none: where every CPU
 * second of a large sync goes.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (text format)
 */
import { parseExact } from "svc-connectors";
import type { Column } from "./columns.ts";
import { type ColumnType, cleanJson, type ValueWriter, valueWriters, widerType } from "./types.ts";

export interface RowEncoder {
  /**
   * The lines as rows of COPY. A value that its column cannot hold widens `column.type` on the
   * spot: rows that were encoded before are texts of the wider type too.
   */
  encode(lines: Buffer, extractedAt: string): Buffer;
}

export interface RowEncoderOptions {
  /** In the order of the COPY, before the four own columns. */
  readonly columns: readonly Column[];
  readonly jobId: string;
  /** Text of the next row's `_svc_id`. */
  nextId(): string;
}

type Row = { readonly [property: string]: unknown };

/** Where the output filter notes what a row had to lose. */
const metaProperty = "_svc_meta";
const backslash = 0x5c;

export function createRowEncoder({ columns, jobId, nextId }: RowEncoderOptions): RowEncoder {
  const properties = columns.map(({ property }) => property);
  const inherited = columns.map(({ property }) => property in Object.prototype);
  const count = columns.length;
  const job = escapeText(clean(jobId));
  let types: ColumnType[] = [];
  let writers: ValueWriter[] = [];
  let isWithoutEscapes = false;
  let changed: string[] = [];

  const setTypes = () => {
    types = columns.map(({ type }) => type);
    writers = types.map((type) => valueWriters[type]);
  };
  setTypes();

  function widen(index: number, value: unknown): string {
    const column = columns[index] as Column;
    for (;;) {
      column.type = widerType(column.type, value);
      const text = valueWriters[column.type](value);
      setTypes();
      if (text !== undefined) return text;
    }
  }

  /**
   * A string of JSON without any backslash holds neither control characters nor half a surrogate
   * pair.
   */
  function escaped(text: string, index: number): string {
    const isJson = types[index] === "jsonb";
    const cleaned = isJson ? cleanJson(text) : clean(text);
    if (cleaned !== text) changed.push(properties[index] as string);
    return escapeText(cleaned);
  }

  function meta(row: Row): string {
    const noted = row[metaProperty];
    if (noted === undefined && changed.length === 0) return "\\N";
    const object = (typeof noted === "object" && noted !== null ? noted : {}) as {
      readonly changes?: unknown;
    };
    const own = changed.map((field) => ({
      field,
      change: "REPLACED",
      reason: "DESTINATION_SERIALIZATION_ERROR",
    }));
    const changes = [...(Array.isArray(object.changes) ? object.changes : []), ...own];
    return escapeText(cleanJson(JSON.stringify({ ...object, changes })));
  }

  return {
    encode(lines, extractedAt) {
      const rows = parseLines(lines);
      isWithoutEscapes = lines.indexOf(backslash) === -1;
      let out: Buffer = Buffer.allocUnsafeSlow(lines.length + rows.length * (120 + 3 * count));
      let length = 0;
      const ending = `\t${extractedAt}\t${job}\t`;
      for (const row of rows) {
        let text = "";
        for (let index = 0; index < count; index++) {
          const property = properties[index] as string;
          const value = inherited[index] && !Object.hasOwn(row, property) ? null : row[property];
          if (value === null || value === undefined) {
            text += "\\N\t";
            continue;
          }
          const written = (writers[index] as ValueWriter)(value) ?? widen(index, value);
          const isReady = isWithoutEscapes || typeof value === "number" || types[index] === "bytea";
          text += isReady ? written : escaped(written, index);
          text += "\t";
        }
        text += nextId();
        text += ending;
        text +=
          row[metaProperty] === undefined && changed.length === 0 ? "\\N\n" : `${meta(row)}\n`;
        if (changed.length > 0) changed = [];
        // A UTF-16 unit takes three bytes at most.
        if (out.length - length < text.length * 3) out = grow(out, length, text.length * 3);
        length += out.write(text, length, "utf8");
      }
      return out.subarray(0, length);
    },
  };
}

function grow(out: Buffer, length: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(out.length * 2 + needed);
  out.copy(larger, 0, 0, length);
  return larger;
}

/**
 * One JSON.parse for all lines is faster than one for each; it is right unless a number has more
 * than 15 digits.
 */
function parseLines(lines: Buffer): Row[] {
  const text = lines.toString("utf8", 0, lines.length - 1);
  if (hasLongNumber(lines) || exponent.test(text))
    return text.split("\n").map((line) => parseExact(line) as Row);
  return JSON.parse(`[${text.replaceAll("\n", ",")}]`) as Row[];
}

const exponent = /\d[eE][+-]?\d\d\d/;
const longRun = 16;

/**
 * True for a run of digits and points of 16 characters or more: every run covers a multiple of 16.
 */
function hasLongNumber(lines: Buffer): boolean {
  for (let at = longRun - 1; at < lines.length; at += longRun) {
    if (!isDigitOrPoint(lines[at] as number)) continue;
    let start = at;
    let end = at + 1;
    while (start > 0 && isDigitOrPoint(lines[start - 1] as number)) start--;
    while (end < lines.length && isDigitOrPoint(lines[end] as number)) end++;
    if (end - start >= longRun) return true;
    at = end - 1;
  }
  return false;
}

const isDigitOrPoint = (code: number) => (code >= 48 && code <= 57) || code === 46;

/** PostgreSQL keeps no NUL, and no half of a surrogate pair. */
function clean(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\ufffd") : whole;
}

const special = /[\\\n\r\t]/;

function escapeText(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
}
