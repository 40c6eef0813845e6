import {
  type ColumnNames,
  type ConfiguredStream,
  mergeKeys,
  type NameRules,
  type StreamColumn,
  streamColumns,
} from "svc-connectors/destination";
import { nativeTypeOf } from "./native-types.ts";
import type { ColumnType } from "./types.ts";

/** A property of a stream and the column that holds it. */
export interface Column {
  readonly property: string;
  readonly name: string;
  /**
   * The type that its values are written as. Widened, while rows are written, by a value that it
   * cannot hold.
   */
  type: ColumnType;
  /** The type that its values have in the table, as long as they are written as text or JSON. */
  native?: string | undefined;
}

/** NAMEDATALEN - 1; and the system columns, which every table has. */
export const columnNameRules: NameRules = {
  maxBytes: 63,
  reserved: new Set(["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]),
};

/** Decimals have no bounds: PostgreSQL would round and refuse by them. */
const sqlTypes: Readonly<Record<StreamColumn["type"]["kind"], ColumnType>> = {
  boolean: "boolean",
  int16: "smallint",
  int32: "integer",
  integer: "bigint",
  big_integer: "numeric",
  decimal: "numeric",
  number: "double precision",
  timestamp: "timestamp without time zone",
  timestamptz: "timestamp with time zone",
  date: "date",
  time: "time without time zone",
  uuid: "uuid",
  binary: "bytea",
  text: "text",
  json: "jsonb",
};

/** The columns of a stream in the order of its schema. `saved`: names that were given before. */
export function columnsOf(configured: ConfiguredStream, saved: ColumnNames): Column[] {
  const { keys, cursor, deletedAt } = mergeKeys(configured);
  // Rows are compared by these, as the source writes them.
  const compared = new Set([...keys, cursor, deletedAt]);
  return streamColumns(configured, saved, columnNameRules).map((column) => ({
    property: column.property,
    name: column.name,
    type: sqlTypes[column.type.kind],
    native: compared.has(column.property) ? undefined : nativeTypeOf(column),
  }));
}
