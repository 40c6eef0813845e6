import type { Client } from "pg";
import { quoteName } from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import { commonTypeOfNative, nativeConversion, tableType } from "./native-types.ts";
import { type ColumnType, columnTypes, commonType, conversion } from "./types.ts";

/** A table that rows are written into. */
export interface Table {
  readonly schema: string;
  readonly name: string;
}

export const tableName = ({ schema, name }: Table) => `${quoteName(schema)}.${quoteName(name)}`;

/** Columns of each table behind those of the stream. */
export const ownColumnTypes = {
  _svc_id: "uuid",
  _svc_extracted_at: "timestamp with time zone",
  _svc_job_id: "text",
  _svc_meta: "jsonb",
} as const;

/** The columns of a COPY or INSERT, in the order in which rows are encoded. */
export const columnList = (columns: readonly Column[]) => [
  ...columns.map(({ name }) => quoteName(name)),
  ...Object.keys(ownColumnTypes).map(quoteName),
];

export async function createTable(
  client: Client,
  table: Table,
  columns: readonly Column[],
): Promise<void> {
  const own = Object.entries(ownColumnTypes).map(([name, type]) => `${name} ${type}`);
  const data = columns.map((column) => `${quoteName(column.name)} ${tableType(column)}`);
  await client.query(`CREATE TABLE ${tableName(table)} (${[...data, ...own].join(", ")})`);
}

/** The types that the columns of a table have, by name; undefined when there is no such table. */
export type TableTypes = Map<string, string>;

export async function describeTable(
  client: Client,
  { schema, name }: Table,
): Promise<TableTypes | undefined> {
  const { rows } = await client.query<{ name: string | null; type: string }>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')`,
    [schema, name],
  );
  if (rows.length === 0) return undefined;
  return new Map(
    rows.flatMap(({ name: column, type }) => (column === null ? [] : [[column, type] as const])),
  );
}

export const isOurs = (type: string): type is ColumnType =>
  (columnTypes as readonly string[]).includes(type);

/** Widens the types of the columns to hold what is in the table too. */
export function widenToTable(columns: readonly Column[], types: TableTypes): void {
  for (const column of columns) {
    const type = types.get(column.name);
    if (type === undefined || type === tableType(column)) continue;
    column.native = undefined;
    column.type = commonOf(type, column.type);
  }
}

/** A type that holds the values of a table's column and of a stream's. */
export const commonOf = (there: string, type: ColumnType): ColumnType =>
  isOurs(there) ? commonType(there, type) : commonTypeOfNative(there, type);

/** An expression that turns the column into a wider type. */
export const converted = (column: string, from: string, to: string): string =>
  isOurs(from) && isOurs(to) ? conversion(column, from, to) : nativeConversion(column, from, to);

/**
 * Gives the table the columns that it lacks and the types that have become wider; `types` is
 * brought up to date.
 */
export async function alignTable(
  client: Client,
  table: string,
  columns: readonly Column[],
  types: TableTypes,
): Promise<void> {
  const changes: string[] = [];
  const wanted: (readonly [string, string])[] = [
    ...columns.map((column) => [column.name, tableType(column)] as const),
    ...Object.entries(ownColumnTypes),
  ];
  for (const [name, type] of wanted) {
    const from = types.get(name);
    const quoted = quoteName(name);
    if (from === undefined) changes.push(`ADD COLUMN ${quoted} ${type}`);
    else if (from !== type)
      changes.push(`ALTER COLUMN ${quoted} TYPE ${type} USING ${converted(quoted, from, type)}`);
    types.set(name, type);
  }
  if (changes.length > 0) await client.query(`ALTER TABLE ${table} ${changes.join(", ")}`);
}

/** True when the columns are not yet what the table has. */
export const needsAlignment = (columns: readonly Column[], types: TableTypes) =>
  columns.some((column) => types.get(column.name) !== tableType(column));
