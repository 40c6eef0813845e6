import {
  type ColumnNames,
  type ConfiguredStream,
  type NameRules,
  type StreamColumn,
  streamColumns,
} from "svc-connectors/destination";
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
  return streamColumns(configured, saved, columnNameRules).map(({ property, name, type }) => ({
    property,
    name,
    type: sqlTypes[type.kind],
  }));
}
