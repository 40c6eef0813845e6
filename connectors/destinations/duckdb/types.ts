/** The SQL types of columns, and which type holds the values of two. */
import type { ColumnType } from "svc-connectors/destination";

const sqlTypes = {
  boolean: "BOOLEAN",
  int16: "SMALLINT",
  int32: "INTEGER",
  integer: "BIGINT",
  big_integer: "HUGEINT",
  number: "DOUBLE",
  timestamp: "TIMESTAMP",
  timestamptz: "TIMESTAMPTZ",
  date: "DATE",
  time: "TIME",
  uuid: "UUID",
  binary: "BLOB",
  text: "VARCHAR",
  json: "JSON",
} as const;

/** A decimal whose digits are not known before the first values are there. */
export const openDecimal = "DECIMAL";

/** DuckDB's widest DECIMAL has 38 digits; numbers that may be wider are text. */
export const maxDigits = 38;

export function sqlType(type: ColumnType): string {
  if (type.kind !== "decimal") return sqlTypes[type.kind];
  const { precision, scale } = type;
  if (precision === undefined || scale === undefined) return openDecimal;
  return precision <= maxDigits ? `DECIMAL(${precision},${scale})` : "VARCHAR";
}

/** The precision of an open decimal while no value is there: DuckDB's own default. */
const unseen = { integerDigits: 15, scale: 3 } as const;

/** The type of a table's column. */
export const settled = (type: string) => (type === openDecimal ? decimalType(unseen) : type);

export interface Digits {
  /** Digits before the point. */
  readonly integerDigits: number;
  /** Behind it. */
  readonly scale: number;
}

/** The DECIMAL with room for these digits, else text. The narrow one takes half of the memory. */
export function decimalType({ integerDigits, scale }: Digits): string {
  const digits = integerDigits + scale;
  if (digits > maxDigits) return "VARCHAR";
  return `DECIMAL(${digits <= 18 ? 18 : maxDigits},${scale})`;
}

/** From narrow to wide. */
export const integerTypes: readonly string[] = ["SMALLINT", "INTEGER", "BIGINT", "HUGEINT"];
/** Digits of the largest value that fits: HUGEINT's do not fit a DECIMAL. */
const integerDigitsOf: Readonly<Record<string, number>> = {
  SMALLINT: 5,
  INTEGER: 10,
  BIGINT: 19,
  HUGEINT: 39,
};

/** The digits that a type has room for; undefined when it is no exact number. */
export function digitsOf(type: string): Digits | undefined {
  if (Object.hasOwn(integerDigitsOf, type))
    return { integerDigits: integerDigitsOf[type] as number, scale: 0 };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision === undefined || scale === undefined) return undefined;
  return { integerDigits: Number(precision) - Number(scale), scale: Number(scale) };
}

/** The type that holds the values of a table's column and of a stream's. */
export function commonType(table: string, stream: string): string {
  if (table === stream) return table;
  const [one, other] = [integerTypes.indexOf(table), integerTypes.indexOf(stream)];
  if (one >= 0 && other >= 0) return integerTypes[Math.max(one, other)] as string;
  const digits = digitsOf(table);
  if (!digits) return "VARCHAR";
  if (stream === openDecimal) return one < 0 ? table : decimalType(digits);
  const others = digitsOf(stream);
  if (!others) return "VARCHAR";
  return hasRoom(digits, others) ? table : decimalType(bothDigits(digits, others));
}

export const hasRoom = (digits: Digits, { integerDigits, scale }: Digits) =>
  integerDigits <= digits.integerDigits && scale <= digits.scale;

export const bothDigits = (one: Digits, other: Digits): Digits => ({
  integerDigits: Math.max(one.integerDigits, other.integerDigits),
  scale: Math.max(one.scale, other.scale),
});

/** The type as the catalog of DuckDB writes it, shortened. */
export const shortType = (type: string) =>
  type.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ").replace("TIME WITH TIME ZONE", "TIMETZ");
