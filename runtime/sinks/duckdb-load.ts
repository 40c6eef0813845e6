import type { DuckDBConnection } from "@duckdb/node-api";
import { type Column, columnDefinitions, columnNames, selectRows } from "./duckdb-columns.ts";
import type { Stage } from "./duckdb-stage.ts";
import { quoteName, quoteText } from "./output-names.ts";

/** A table that rows are loaded into. */
export interface Table {
  readonly schema: string;
  readonly name: string;
}

export const tableName = ({ schema, name }: Table) => `${quoteName(schema)}.${quoteName(name)}`;

export async function createTable(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
): Promise<void> {
  if (table.schema !== "main") await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoteName(table.schema)}`);
  await connection.run(`CREATE TABLE IF NOT EXISTS ${tableName(table)} (${columnDefinitions(columns)})`);
}

/** Adds the staged rows. With `keys`, a row replaces the one with the same key, and of staged rows the last one counts. */
export async function loadRows(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  stage: Stage,
  keys: readonly Column[],
  extractedAt: string,
): Promise<void> {
  const rows = selectRows(stage.path, columns, extractedAt, stage.maxLineBytes);
  const target = tableName(table);
  if (keys.length === 0) {
    await connection.run(`INSERT INTO ${target} (${columnNames(columns)}) ${rows}`);
    return;
  }
  const names = keys.map(({ name }) => quoteName(name));
  const isSameKey = names.map((name) => `${target}.${name} = staged.${name}`).join(" AND ");
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_stage AS ${rows}`);
  await connection.run(
    `DELETE FROM ${target} USING (SELECT DISTINCT ${names.join(", ")} FROM _svc_stage) AS staged WHERE ${isSameKey}`,
  );
  const isLast = `row_number() OVER (PARTITION BY ${names.join(", ")} ORDER BY rowid DESC) = 1`;
  await connection.run(
    `INSERT INTO ${target} (${columnNames(columns)}) SELECT ${columnNames(columns)} FROM _svc_stage QUALIFY ${isLast}`,
  );
  await connection.run("DROP TABLE _svc_stage");
}

/**
 * Widens the types that some staged value does not fit: an integer beyond 64 bits to HUGEINT, anything else to text.
 * False when every value fits, so that the failure has another reason.
 */
export async function widen(columns: readonly Column[], stage: Stage, connection: DuckDBConnection): Promise<boolean> {
  const candidates = columns.filter(({ type }) => type !== "VARCHAR" && type !== "JSON");
  if (candidates.length === 0) return false;
  const asText = columns.map((column) => ({ ...column, type: candidates.includes(column) ? "VARCHAR" : column.type }));
  const rows = selectRows(stage.path, asText, "1970-01-01T00:00:00Z", stage.maxLineBytes);
  const misfits = (type: string, name: string) =>
    `count(*) FILTER (${quoteName(name)} IS NOT NULL AND TRY_CAST(${quoteName(name)} AS ${type}) IS NULL)`;
  const counts = candidates.flatMap(({ name, type }) => [misfits(type, name), misfits("HUGEINT", name)]);
  const result = await connection.runAndReadAll(`SELECT ${counts.join(", ")} FROM (${rows})`);
  const found = result.getRowsJson()[0] ?? [];
  let isWidened = false;
  candidates.forEach((column, index) => {
    if (Number(found[index * 2]) === 0) return;
    column.type = column.type === "BIGINT" && Number(found[index * 2 + 1]) === 0 ? "HUGEINT" : "VARCHAR";
    isWidened = true;
  });
  return isWidened;
}

/**
 * Makes an existing table and the columns agree: new columns are added, and where types differ both take one that holds
 * the values of both.
 */
export async function alignTable(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
): Promise<void> {
  const result = await connection.runAndReadAll(
    `SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database()
       AND schema_name = ${quoteText(table.schema)} AND table_name = ${quoteText(table.name)}`,
  );
  const existing = new Map(
    result.getRowsJson().map(([name, type]) => [String(name).toLowerCase(), shortType(String(type))]),
  );
  for (const column of columns) {
    const type = existing.get(column.name.toLowerCase());
    const name = quoteName(column.name);
    if (type === undefined) await connection.run(`ALTER TABLE ${tableName(table)} ADD COLUMN ${name} ${column.type}`);
    else if (shortType(column.type) !== type) {
      column.type = wider(type, column.type);
      if (column.type !== type)
        await connection.run(`ALTER TABLE ${tableName(table)} ALTER ${name} SET DATA TYPE ${column.type}`);
    }
  }
}

const wider = (one: string, other: string) =>
  [one, other].every((type) => type === "BIGINT" || type === "HUGEINT") ? "HUGEINT" : "VARCHAR";

const shortType = (type: string) => type.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ").replaceAll(", ", ",");
