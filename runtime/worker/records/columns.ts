/**
 * Columns that are filled row by row. A row is counted when all of its columns have it; what one
 * that failed left behind is taken back by `cut`.
 */
import type { BatchField, Column, ColumnValues, TextValues } from "../../contract/batch.ts";
import { numberText } from "../../wire/exact-json.ts";
import type { TextHeap } from "./text-heap.ts";

/** Characters of texts that wait to be sent. */
export interface Size {
  chars: number;
}

/** A column that is being filled. The generated code of row-code.ts writes into it, too. */
export abstract class ColumnFiller {
  readonly field: BatchField;
  /** A bit for each row; 1 until it is null. */
  protected validity = new Uint8Array(0);
  protected nullCount = 0;

  constructor(field: BatchField) {
    this.field = field;
  }

  /** Makes room for so many rows. */
  reserve(rows: number): void {
    const before = this.validity;
    this.validity = new Uint8Array((rows + 7) >> 3).fill(0xff);
    this.validity.set(before);
  }

  setNull(row: number): void {
    const byte = row >> 3;
    this.validity[byte] = (this.validity[byte] as number) & ~(1 << (row & 7));
    this.nullCount++;
    this.zero(row);
  }

  /** Adds the value of a JSON text, which is one that the column's schema has, or null. */
  addJson(row: number, text: string): void {
    if (text === "null") this.setNull(row);
    else this.addValue(row, text);
  }

  /** Leaves no row. */
  clear(): void {
    if (this.nullCount > 0) this.validity.fill(0xff);
    this.nullCount = 0;
    this.clearValues();
  }

  /** Takes back what was added beyond so many rows. */
  cut(rows: number): void {
    for (let row = rows; row < this.validity.length * 8; row++) {
      const bit = 1 << (row & 7);
      const byte = row >> 3;
      if (((this.validity[byte] as number) & bit) !== 0) continue;
      this.validity[byte] = (this.validity[byte] as number) | bit;
      this.nullCount--;
    }
    this.cutValues(rows);
  }

  /** The column of so many rows, all that were added. Its memory is valid until rows are added. */
  column(rows: number, heap: TextHeap): Column {
    const validity = this.nullCount === 0 ? undefined : this.validity.subarray(0, (rows + 7) >> 3);
    return { ...this.field, validity, ...this.values(rows, heap) };
  }

  /**
   * Bytes that the property takes as JSON, its name and a comma included; one that is null takes
   * none.
   */
  jsonBytes(row: number): number {
    if (!this.isThere(row)) return 0;
    return Buffer.byteLength(JSON.stringify(this.field.name)) + 2 + this.valueBytes(row);
  }

  protected isThere(row: number): boolean {
    return ((this.validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
  }

  protected abstract zero(row: number): void;
  protected abstract addValue(row: number, text: string): void;
  protected abstract clearValues(): void;
  protected abstract cutValues(rows: number): void;
  protected abstract values(rows: number, heap: TextHeap): ColumnValues;
  protected abstract valueBytes(row: number): number;
}

/** Texts, gathered in one. */
export class TextFiller extends ColumnFiller {
  text = "";
  /** Where the text of a row ends, in characters. */
  offsets = new Uint32Array(1);
  protected readonly size: Size;

  constructor(field: BatchField, size: Size) {
    super(field);
    this.size = size;
  }

  override reserve(rows: number): void {
    super.reserve(rows);
    const before = this.offsets;
    this.offsets = new Uint32Array(rows + 1);
    this.offsets.set(before);
  }

  protected zero(): void {}

  protected addValue(_row: number, json: string): void {
    const value = JSON.parse(json) as string;
    this.size.chars += value.length;
    this.text += value;
  }

  protected clearValues(): void {
    this.text = "";
  }

  protected cutValues(rows: number): void {
    const end = this.offsets[rows] as number;
    this.size.chars -= this.text.length - end;
    this.text = this.text.slice(0, end);
  }

  protected values(rows: number, heap: TextHeap): TextValues {
    return { encoding: "utf8", ...heap.write(this.text, this.offsets, rows) };
  }

  protected valueBytes(row: number): number {
    return Buffer.byteLength(JSON.stringify(this.textAt(row)));
  }

  protected textAt(row: number): string {
    return this.text.slice(this.offsets[row], this.offsets[row + 1]);
  }
}

/** JSON texts. */
export class JsonFiller extends TextFiller {
  protected override addValue(_row: number, json: string): void {
    this.size.chars += json.length;
    this.text += json;
  }

  protected override values(rows: number, heap: TextHeap): TextValues {
    return { ...super.values(rows, heap), encoding: "json" };
  }

  protected override valueBytes(row: number): number {
    return Buffer.byteLength(this.textAt(row));
  }
}

export class BooleanFiller extends ColumnFiller {
  data = new Uint8Array(0);

  override reserve(rows: number): void {
    super.reserve(rows);
    const before = this.data;
    this.data = new Uint8Array(rows);
    this.data.set(before);
  }

  protected zero(row: number): void {
    this.data[row] = 0;
  }

  protected addValue(row: number, json: string): void {
    this.data[row] = json === "true" ? 1 : 0;
  }

  protected clearValues(): void {}
  protected cutValues(): void {}

  protected values(rows: number): ColumnValues {
    return { encoding: "bool", values: this.data.subarray(0, rows) };
  }

  protected valueBytes(): number {
    return "false".length;
  }
}

/** Numbers, and the texts of those that their array cannot hold exactly. */
abstract class NumericFiller extends ColumnFiller {
  protected texts: Map<number, string> | undefined;

  protected keepText(row: number, text: string): void {
    this.texts ??= new Map();
    this.texts.set(row, text);
    this.zero(row);
  }

  protected clearValues(): void {
    this.texts = undefined;
  }

  protected cutValues(rows: number): void {
    if (!this.texts) return;
    for (const row of this.texts.keys()) if (row >= rows) this.texts.delete(row);
    if (this.texts.size === 0) this.texts = undefined;
  }

  protected values(rows: number, heap: TextHeap): ColumnValues {
    if (!this.texts) return this.numbers(rows);
    const texts: string[] = [];
    const ends = new Uint32Array(rows + 1);
    for (let row = 0; row < rows; row++) {
      const text = this.isThere(row) ? this.textOf(row) : "";
      texts.push(text);
      ends[row + 1] = (ends[row] as number) + text.length;
    }
    return { encoding: "number", ...heap.write(texts.join(""), ends, rows) };
  }

  protected valueBytes(row: number): number {
    return this.textOf(row).length;
  }

  private textOf(row: number): string {
    return this.texts?.get(row) ?? this.numberTextAt(row);
  }

  protected abstract numbers(rows: number): ColumnValues;
  protected abstract numberTextAt(row: number): string;
}

const smallestLong = -(2n ** 63n);
const largestLong = 2n ** 63n - 1n;
const wholeNumber = /^(?:0|-?[1-9]\d{0,18})$/;

export class IntegerFiller extends NumericFiller {
  private data = new BigInt64Array(0);
  private halves = new Int32Array(0);

  override reserve(rows: number): void {
    super.reserve(rows);
    const before = this.data;
    this.data = new BigInt64Array(rows);
    this.data.set(before);
    this.halves = new Int32Array(this.data.buffer);
  }

  /** Adds a number without a fraction; not -0. */
  add(row: number, value: number): void {
    const lower = value | 0;
    if (lower === value) {
      this.halves[row * 2] = lower;
      this.halves[row * 2 + 1] = lower >> 31;
    } else if (Number.isSafeInteger(value)) {
      this.halves[row * 2] = lower;
      this.halves[row * 2 + 1] = Math.floor(value / 2 ** 32);
    } else this.addValue(row, String(value));
  }

  protected zero(row: number): void {
    this.data[row] = 0n;
  }

  protected addValue(row: number, text: string): void {
    const value = wholeNumber.test(text) ? BigInt(text) : undefined;
    if (value === undefined || value < smallestLong || value > largestLong)
      this.keepText(row, text);
    else this.data[row] = value;
  }

  protected numbers(rows: number): ColumnValues {
    return { encoding: "int64", values: this.data.subarray(0, rows) };
  }

  protected numberTextAt(row: number): string {
    return String(this.data[row]);
  }
}

export class NumberFiller extends NumericFiller {
  data = new Float64Array(0);

  override reserve(rows: number): void {
    super.reserve(rows);
    const before = this.data;
    this.data = new Float64Array(rows);
    this.data.set(before);
  }

  protected zero(row: number): void {
    this.data[row] = 0;
  }

  protected addValue(row: number, text: string): void {
    const value = Number(text);
    if (numberText(value) === text) this.data[row] = value;
    else this.keepText(row, text);
  }

  protected numbers(rows: number): ColumnValues {
    return { encoding: "float64", values: this.data.subarray(0, rows) };
  }

  protected numberTextAt(row: number): string {
    return numberText(this.data[row] as number) ?? "0";
  }
}

/** The filler for a column, by its kind. Times and the like stay the texts that an author gives. */
export function createFiller(field: BatchField, size: Size): ColumnFiller {
  switch (field.kind) {
    case "boolean":
      return new BooleanFiller(field);
    case "integer":
      return new IntegerFiller(field);
    case "number":
      return new NumberFiller(field);
    case "json":
      return new JsonFiller(field, size);
    default:
      return new TextFiller(field, size);
  }
}
