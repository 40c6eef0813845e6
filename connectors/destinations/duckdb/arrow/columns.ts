/** The Arrow type of a column, and how its values are read from DuckDB's vectors. */
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeBinary,
  Float64,
  Int16,
  Int32,
  Int64,
  IntervalMonthDayNano,
  TimeMicrosecond,
  TimestampMicrosecond,
  Utf8,
} from "apache-arrow";
import { widenedTo } from "../tables.ts";
import { maxDigits } from "../types.ts";
import { bits, type CreateValues, fixed, intervals, signed, texts, uuids } from "./values.ts";

export interface ArrowColumn {
  readonly name: string;
  readonly field: Field;
  /** The expression that is selected. */
  select(column: string): string;
  readonly createValues: CreateValues;
}

interface Form {
  readonly type: DataType;
  readonly createValues: CreateValues;
  /** The canonical extension of Arrow that tells readers more than the type. */
  readonly extension?: string;
}

const forms: Readonly<Record<string, Form>> = {
  BOOLEAN: { type: new Bool(), createValues: bits },
  SMALLINT: { type: new Int16(), createValues: fixed(2) },
  INTEGER: { type: new Int32(), createValues: fixed(4) },
  BIGINT: { type: new Int64(), createValues: fixed(8) },
  DOUBLE: { type: new Float64(), createValues: fixed(8) },
  DATE: { type: new DateDay(), createValues: fixed(4) },
  TIME: { type: new TimeMicrosecond(), createValues: fixed(8) },
  TIMESTAMP: { type: new TimestampMicrosecond(), createValues: fixed(8) },
  "TIMESTAMP WITH TIME ZONE": {
    type: new TimestampMicrosecond("UTC"),
    createValues: fixed(8),
  },
  UUID: { type: new FixedSizeBinary(16), createValues: uuids, extension: "arrow.uuid" },
  BLOB: { type: new Binary(), createValues: texts },
  VARCHAR: { type: new Utf8(), createValues: texts },
  JSON: { type: new Utf8(), createValues: texts, extension: "arrow.json" },
};

/**
 * @param isShort whether Arrow's usual type has room for all values of the column: 38 digits of
 * integers, 64 bits of nanoseconds in intervals; asked where DuckDB's has more
 */
export async function describeColumn(
  name: string,
  type: string,
  isShort: () => Promise<boolean>,
): Promise<ArrowColumn> {
  const form =
    forms[type] ??
    (type === "INTERVAL" ? await intervalForm(isShort) : await decimalForm(type, isShort));
  const { type: arrowType, createValues, extension } = form ?? (forms.VARCHAR as Form);
  const metadata = new Map<string, string>();
  if (extension !== undefined) {
    metadata.set("ARROW:extension:name", extension);
    metadata.set("ARROW:extension:metadata", "");
  }
  return {
    name,
    field: new Field(name, arrowType, true, metadata),
    // A column without a form here is text.
    select: form ? (column) => column : (column) => widenedTo(column, type, "VARCHAR"),
    createValues,
  };
}

const intervalForm = async (isShort: () => Promise<boolean>): Promise<Form | undefined> =>
  (await isShort()) ? { type: new IntervalMonthDayNano(), createValues: intervals } : undefined;

/** Exact numbers that are no integer of 64 bits. */
async function decimalForm(
  type: string,
  isShort: () => Promise<boolean>,
): Promise<Form | undefined> {
  if (type === "HUGEINT")
    return (await isShort())
      ? { type: new Decimal(0, maxDigits), createValues: fixed(16) }
      : { type: new Decimal(0, maxDigits + 1, 256), createValues: signed(16, 32) };
  const [, digits, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (digits === undefined) return undefined;
  const precision = Number(digits);
  const bytes = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  return { type: new Decimal(Number(scale), precision), createValues: signed(bytes, 16) };
}
