/**
 * Rows that came as JSON lines, as a batch: numbers, dates and the like as the texts that they are.
 */
import { type BatchColumn, isValid, ownColumns } from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import type { StagedBatch } from "./stage.ts";

/** Takes lines apart. They are the host's: each is one object, and valid JSON. */
export type LineReader = (lines: Buffer, rowCount: number) => StagedBatch;

export function createLineReader(columns: readonly Column[]): LineReader {
  const indexes = new Map(columns.map(({ property }, index) => [property, index]));
  const metaIndex = columns.length;
  if (!indexes.has(ownColumns.meta)) indexes.set(ownColumns.meta, metaIndex);
  const byKey = new Map([...indexes].map(([property, index]) => [keyText(property), index]));
  const kinds = [...columns.map(kindOf), "json" as const];
  return (lines, rowCount) => {
    const builders = kinds.map((kind) => new TextBuilder(kind, rowCount));
    let at = 0;
    for (let row = 0; row < rowCount; row++)
      at = readRow(lines, at, (key, start, end) => {
        const index =
          byKey.get(key) ?? (key.includes("\\") ? indexes.get(unescaped(key)) : undefined);
        if (index !== undefined) builders[index]?.put(row, lines, start, end);
      });
    return {
      rowCount,
      columns: columns.map(({ property }, index) =>
        (builders[index] as TextBuilder).column(property, rowCount),
      ),
      meta: builders[metaIndex]?.column(ownColumns.meta, rowCount),
    };
  };
}

const keyText = (property: string) => Buffer.from(JSON.stringify(property)).toString("latin1");
const unescaped = (key: string) => JSON.parse(Buffer.from(key, "latin1").toString()) as string;

type LineKind = "boolean" | "number" | "text" | "json";

const numberTypes = /^(?:DOUBLE|DECIMAL|SMALLINT|INTEGER|BIGINT|HUGEINT)/;

function kindOf({ type }: Column): LineKind {
  if (type === "JSON") return "json";
  if (type === "BOOLEAN") return "boolean";
  return numberTypes.test(type) ? "number" : "text";
}

const [quote, backslash, comma, open, close, openList, closeList] = Buffer.from('"\\,{}[]');
const [newline, space, colon] = Buffer.from("\n :");

/** Behind the string that begins there. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; at++) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at++;
    if (byte === undefined) throw new Error("a line is cut off");
  }
}

/** Behind the value that begins there. */
function valueEnd(bytes: Buffer, start: number): number {
  if (bytes[start] === quote) return stringEnd(bytes, start);
  let depth = 0;
  for (let at = start; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error("a line is cut off");
    if (byte === quote) at = stringEnd(bytes, at) - 1;
    else if (byte === open || byte === openList) depth++;
    else if (depth === 0 && (byte === comma || byte === close || isSpace(byte))) return at;
    else if (byte === close || byte === closeList) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
}

const isSpace = (byte: number | undefined) => byte !== undefined && byte <= (space as number);

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at++;
  return at;
}

/** Tells each property of the row with the place of its value. Gives where the next row begins. */
function readRow(
  bytes: Buffer,
  start: number,
  onValue: (key: string, start: number, end: number) => void,
): number {
  let at = skipSpace(bytes, start) + 1;
  for (;;) {
    at = skipSpace(bytes, at);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
    if (bytes[at] !== quote) break;
    const keyEnd = stringEnd(bytes, at);
    const key = bytes.toString("latin1", at, keyEnd);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] === colon) at = skipSpace(bytes, at + 1);
    const end = valueEnd(bytes, at);
    onValue(key, at, end);
    at = end;
  }
  const end = bytes.indexOf(newline as number, at);
  return end < 0 ? bytes.length : end + 1;
}

/** Values of a property, row by row; rows without one are null. */
class TextBuilder {
  readonly #kind: LineKind;
  readonly #offsets: Uint32Array;
  readonly #validity: Uint8Array;
  #bytes = new Uint8Array(1024);
  #length = 0;
  #nextRow = 0;
  #hasOthers = false;

  constructor(kind: LineKind, rowCount: number) {
    this.#kind = kind;
    this.#offsets = new Uint32Array(rowCount + 1);
    this.#validity = new Uint8Array((rowCount + 7) >> 3);
  }

  /**
   * The JSON text from `start` to `end`. Of a property that a row has twice the last one counts.
   */
  put(row: number, from: Buffer, start: number, end: number): void {
    if (this.#nextRow > row) this.#length = this.#offsets[row] as number;
    this.#endRows(row);
    const first = from[start];
    if (first === nullStart) {
      this.#setNull(row);
      return;
    }
    this.#validity[row >> 3] = (this.#validity[row >> 3] as number) | (1 << (row & 7));
    if (first !== quote || this.#kind === "json") this.#copy(from, start, end);
    else {
      const hasEscape = from.subarray(start, end).includes(backslash as number);
      if (!hasEscape) this.#copy(from, start + 1, end - 1);
      else {
        const text = Buffer.from(JSON.parse(from.toString("utf8", start, end)) as string);
        this.#copy(text, 0, text.length);
      }
    }
    if (this.#kind === "boolean") this.#hasOthers ||= first !== trueStart && first !== falseStart;
    this.#nextRow = row + 1;
    this.#offsets[row + 1] = this.#length;
  }

  column(name: string, rowCount: number): BatchColumn {
    this.#endRows(rowCount);
    const field = { name, kind: "text", isNullable: true, isKey: false } as const;
    const texts = { validity: this.#validity, offsets: this.#offsets };
    if (this.#kind === "boolean" && !this.#hasOthers)
      return {
        ...field,
        encoding: "bool",
        validity: texts.validity,
        values: this.#booleans(rowCount),
      };
    const encodings = { boolean: "utf8", number: "number", text: "utf8", json: "json" } as const;
    return {
      ...field,
      ...texts,
      encoding: encodings[this.#kind],
      bytes: this.#bytes.subarray(0, this.#length),
    };
  }

  #booleans(rowCount: number): Uint8Array {
    const validity = this.#validity;
    return Uint8Array.from({ length: rowCount }, (_, row) =>
      isValid({ validity }, row) && this.#bytes[this.#offsets[row] as number] === trueStart ? 1 : 0,
    );
  }

  #setNull(row: number): void {
    this.#validity[row >> 3] = (this.#validity[row >> 3] as number) & ~(1 << (row & 7));
    this.#nextRow = row + 1;
    this.#offsets[row + 1] = this.#length;
  }

  #endRows(row: number): void {
    for (; this.#nextRow < row; this.#nextRow++) this.#offsets[this.#nextRow + 1] = this.#length;
  }

  #copy(from: Uint8Array, start: number, end: number): void {
    const needed = this.#length + end - start;
    if (this.#bytes.length < needed) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    if (end - start > 48) this.#bytes.set(from.subarray(start, end), this.#length);
    else
      for (let at = start; at < end; at++)
        this.#bytes[this.#length + at - start] = from[at] as number;
    this.#length = needed;
  }
}

const [nullStart, trueStart, falseStart] = Buffer.from("ntf");
