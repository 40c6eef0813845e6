import type { DuckDBConnection, DuckDBResultReader } from "@duckdb/node-api";
import { ConnectorError } from "svc-connectors";
import { quoteName, type TypesByName, toSqlName } from "svc-connectors/destination";
import { type Column, columnDefinitions, columnTypes, type TableColumn } from "./columns.ts";
import { isTaken } from "./failures.ts";
import { intervalTextSql } from "./intervals.ts";
import { commonType, shortType } from "./types.ts";

/**
 * A table that rows are loaded into. The database is named too: a schema may be called as it is.
 */
export interface Table {
  readonly database: string;
  readonly schema: string;
  readonly name: string;
}

export const tableName = ({ database, schema, name }: Table) =>
  [database, schema, name].map(quoteName).join(".");

/** The name as people write it. */
export function shortTableName(table: Table): string {
  const { database, schema, name } = table;
  if (schema === "main") return quoteName(name);
  return database.toLowerCase() === schema.toLowerCase()
    ? tableName(table)
    : [schema, name].map(quoteName).join(".");
}

/**
 * How the names of copies begin that are built beside a table. No table that is asked for begins
 * so.
 */
export const nextPrefix = "svc:next:";

/** The copy of a table that is built beside it. */
export const nextTable = (table: Table): Table => ({
  ...table,
  name: `${nextPrefix}${table.name}`,
});

/** Equal for tables that DuckDB takes for one. */
export const tableKey = ({ schema, name }: Omit<Table, "database">) =>
  JSON.stringify([schema, name]).toLowerCase();

/** Schemas that DuckDB keeps for itself, and ours. */
const reservedSchemas = new Set(["information_schema", "pg_catalog", "_svc"]);

/** A table that fits what was asked for, and that is none of `taken`. */
export function chooseTable(
  database: string,
  requested: { readonly schema: string; readonly name: string },
  taken: ReadonlySet<string>,
): Table {
  const schema = toSqlName(requested.schema, reservedSchemas);
  const isTakenName = { has: (name: string) => taken.has(tableKey({ schema, name })) };
  return {
    database,
    schema,
    name: toSqlName(requested.name, isTakenName, { reservedPrefix: nextPrefix }),
  };
}

/** Keys of the tables and views that are there. */
export async function readTableKeys(connection: DuckDBConnection): Promise<ReadonlySet<string>> {
  const result = await connection.runAndReadAll(`
    SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = current_database() AND NOT internal`);
  return new Set(
    result
      .getRowsJson()
      .map(([schema, name]) => tableKey({ schema: String(schema), name: String(name) })),
  );
}

export const tableConflict = (table: Table) =>
  new ConnectorError("TABLE_CONFLICT", { name: `${table.schema}.${table.name}` });

/** @throws TABLE_CONFLICT when somebody made one of that name in the meantime */
export async function createTable(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
): Promise<readonly TableColumn[]> {
  if (table.schema !== "main")
    await connection.run(
      `CREATE SCHEMA IF NOT EXISTS ${quoteName(table.database)}.${quoteName(table.schema)}`,
    );
  await connection
    .run(`CREATE TABLE ${tableName(table)} (${columnDefinitions(columns)})`)
    .catch((error: unknown) => {
      throw isTaken(error) ? tableConflict(table) : error;
    });
  return columnTypes(columns);
}

/** The columns of a table, in its order. */
export async function readColumns(
  connection: DuckDBConnection,
  table: Table,
): Promise<readonly TableColumn[]> {
  // The catalog's functions look at all tables: this one is planned only.
  return columnsOf(await connection.runAndReadAll(`SELECT * FROM ${tableName(table)} LIMIT 0`));
}

/** The columns of a result. */
export const columnsOf = (result: DuckDBResultReader): readonly TableColumn[] =>
  result.columnNames().map((name, index) => {
    const type = result.columnType(index);
    return { name, type: type.alias ?? shortType(String(type)) };
  });

/** The types of a table, by name. */
export const typesByName = (columns: readonly TableColumn[]): TypesByName =>
  new Map(columns.map(({ name, type }) => [name, type]));

/** Where types differ, both take one that holds the values of both: this is the columns' part. */
export function widenToTable(
  columns: readonly Column[],
  tableColumns: readonly TableColumn[],
): void {
  const types = new Map(tableColumns.map(({ name, type }) => [name.toLowerCase(), type]));
  for (const column of columns) {
    const type = types.get(column.name.toLowerCase());
    if (type !== undefined) column.type = commonType(type, column.type);
  }
}

/**
 * The value as the wider type has it. Bytes as text are base64, as JSON has them; intervals are ISO
 * 8601.
 */
export function widenedTo(value: string, from: string, to: string): string {
  if (from === "BLOB") return `to_base64(${value})`;
  return from === "INTERVAL" ? intervalTextSql(value) : `CAST(${value} AS ${to})`;
}

/** Adds the columns that the table lacks, and widens its types. Gives what it has then. */
export async function alignTable(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  tableColumns: readonly TableColumn[],
): Promise<readonly TableColumn[]> {
  const wanted = new Map(columnTypes(columns).map((one) => [one.name.toLowerCase(), one]));
  const aligned: TableColumn[] = [];
  for (const { name, type } of tableColumns) {
    const { type: wide = type } = wanted.get(name.toLowerCase()) ?? {};
    wanted.delete(name.toLowerCase());
    aligned.push({ name, type: wide });
    if (wide === type) continue;
    const using = widenedTo(quoteName(name), type, wide);
    await connection.run(
      `ALTER TABLE ${tableName(table)} ALTER ${quoteName(name)} SET DATA TYPE ${wide} USING ${using}`,
    );
  }
  for (const { name, type } of wanted.values()) {
    await connection.run(`ALTER TABLE ${tableName(table)} ADD COLUMN ${quoteName(name)} ${type}`);
    aligned.push({ name, type });
  }
  return aligned;
}
