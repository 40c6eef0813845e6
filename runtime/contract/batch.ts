/**
 * Rows as columns: how rows travel from a connector to where they are written. The layout is Apache
 * Arrow's (validity bits, offsets, values; little-endian), but for booleans, which have a byte
 * each.
 * @see docs/decisions/0035
 */

/** The kind of a column's values, by the schema of its stream. */
export type ColumnKind =
  | "boolean"
  | "integer"
  | "number"
  | "text"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "uuid"
  | "binary"
  | "json";

/** A property of a stream, as a column of its batches. */
export interface BatchField {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Whether the schema has null among the property's values. */
  readonly isNullable: boolean;
  /**
   * Part of the primary key, or the cursor of an incremental read, unless its schema has null:
   * never null.
   */
  readonly isKey: boolean;
}

/**
 * How values lie in memory. The encodings that a kind may have are in `encodingsOf`
 * (runtime/wire/columns/encodings.ts).
 */
export type Column = BatchField & {
  /** A bit for each row, the lowest first; 0 = null. Undefined: no value is null. */
  readonly validity?: Uint8Array | undefined;
} & ColumnValues;

/** Under a null lies zero, or a text without length. */
export type ColumnValues =
  /** 0 or 1. */
  | { readonly encoding: "bool"; readonly values: Uint8Array }
  | { readonly encoding: "int32"; readonly values: Int32Array }
  | { readonly encoding: "int64"; readonly values: BigInt64Array }
  | { readonly encoding: "float64"; readonly values: Float64Array }
  /** Value × 10^-scale, the scale up to 18. */
  | { readonly encoding: "decimal64"; readonly values: BigInt64Array; readonly scale: number }
  /** 16 bytes each, two's complement, below 10^38; the scale up to 38. */
  | { readonly encoding: "decimal128"; readonly values: Uint8Array; readonly scale: number }
  /** Days since 1970-01-01; {@link endlessDay} and its negative are infinity. */
  | { readonly encoding: "date32"; readonly values: Int32Array }
  /** Microseconds since midnight, 24:00 included. */
  | { readonly encoding: "time64"; readonly values: BigInt64Array }
  /** Microseconds since 1970-01-01; {@link endlessInstant} and its negative are infinity. */
  | { readonly encoding: "timestamp64"; readonly values: BigInt64Array }
  /** 16 bytes each, in the order of the text. */
  | { readonly encoding: "uuid128"; readonly values: Uint8Array }
  | TextValues;

/**
 * One after another in `bytes`: the value of row n from `offsets[n]` to `offsets[n + 1]`. `utf8`:
 * the text · `json`: a JSON text as JSON.stringify writes it · `number`: that of a JSON number, or
 * NaN, Infinity, -Infinity · `binary`: any bytes.
 */
export interface TextValues {
  readonly encoding: "utf8" | "json" | "number" | "binary";
  /** One more than there are rows; the first is 0. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

export type Encoding = ColumnValues["encoding"];

export const endlessDay = 2 ** 31 - 1;
export const endlessInstant = 2n ** 63n - 1n;

/** Values of a row that its columns could not hold: they are null, and named here. */
export interface RowNote {
  readonly row: number;
  /** Such as `total` or `lines.0.price`. */
  readonly fields: readonly string[];
}

/** Rows of a stream; the columns are its properties, in the order of the schema. */
export interface Batch {
  readonly rowCount: number;
  readonly columns: readonly Column[];
  /** In the order of the rows. */
  readonly notes: readonly RowNote[];
}

/** Whether a value is there. */
export const isValid = (
  { validity }: { readonly validity?: Uint8Array | undefined },
  row: number,
) => validity === undefined || ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;

/** Bytes that the values take. */
export const batchBytes = ({ columns }: Batch): number =>
  columns.reduce(
    (sum, column) => sum + ("offsets" in column ? column.bytes : column.values).byteLength,
    0,
  );
