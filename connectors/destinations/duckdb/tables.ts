import type { DuckDBConnection } from "@duckdb/node-api";
import { ConnectorError } from "svc-connectors";
import { quoteName, toSqlName } from "svc-connectors/destination";
import { type Column, columnTypes } from "./columns.ts";
import { isTaken } from "./failures.ts";

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

/** As people write it. */
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
) {
  const definitions = columnTypes(columns).map(([name, type]) => `${quoteName(name)} ${type}`);
  if (table.schema !== "main")
    await connection.run(
      `CREATE SCHEMA IF NOT EXISTS ${quoteName(table.database)}.${quoteName(table.schema)}`,
    );
  await connection
    .run(`CREATE TABLE ${tableName(table)} (${definitions.join(", ")})`)
    .catch((error: unknown) => {
      throw isTaken(error) ? tableConflict(table) : error;
    });
}

/**
 * Makes an existing table and the columns agree: new columns are added, and where types differ both
 * take one that holds the values of both.
 */
export async function alignTable(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
) {
  const result = await connection.runAndReadAll("SELECT name, type FROM pragma_table_info($1)", [
    tableName(table),
  ]);
  const existing = new Map(
    result
      .getRowsJson()
      .map(([name, type]) => [String(name).toLowerCase(), shortType(String(type))]),
  );
  for (const [name, type] of columnTypes(columns)) {
    if (!existing.has(name.toLowerCase()))
      await connection.run(`ALTER TABLE ${tableName(table)} ADD COLUMN ${quoteName(name)} ${type}`);
  }
  for (const column of columns) {
    const type = existing.get(column.name.toLowerCase());
    if (type === undefined || type === column.type) continue;
    column.type = wider(type, column.type);
    if (column.type !== type)
      await connection.run(
        `ALTER TABLE ${tableName(table)} ALTER ${quoteName(column.name)} SET DATA TYPE ${column.type}`,
      );
  }
}

const wider = (one: string, other: string) =>
  [one, other].every((type) => type === "BIGINT" || type === "HUGEINT") ? "HUGEINT" : "VARCHAR";

const shortType = (type: string) => type.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ");
