/**
 * The types of a result's columns, which have numbers in the protocol.
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html (read 2026-11)
 */
import type { ResultColumn } from "./client.ts";
import type { ColumnType } from "./types.ts";

const names: Readonly<Record<number, string>> = {
  0: "decimal",
  1: "tinyint",
  2: "smallint",
  3: "int",
  4: "float",
  5: "double",
  7: "timestamp",
  8: "bigint",
  9: "mediumint",
  10: "date",
  11: "time",
  12: "datetime",
  13: "year",
  14: "date",
  16: "bit",
  17: "timestamp",
  18: "datetime",
  19: "time",
  242: "vector",
  245: "json",
  246: "decimal",
  247: "enum",
  248: "set",
  255: "geometry",
};

const flags = { unsigned: 0x20, enum: 0x100, set: 0x800 } as const;
/** Bytes without a charset. */
const binaryCharset = 63;

export function resultType(column: ResultColumn): ColumnType {
  const isUnsigned = (column.flags & flags.unsigned) !== 0;
  const name = nameOf(column);
  const { decimals: scale, length } = column;
  // The length of a number is that of its text, with a sign and a point.
  const precision = length - (isUnsigned ? 0 : 1) - (scale > 0 ? 1 : 0);
  return { name, isUnsigned, precision, scale, isJson: false };
}

function nameOf({ type, flags: set, charset }: ResultColumn): string {
  if ((set & flags.enum) !== 0) return "enum";
  if ((set & flags.set) !== 0) return "set";
  return names[type] ?? (charset === binaryCharset ? "varbinary" : "varchar");
}
