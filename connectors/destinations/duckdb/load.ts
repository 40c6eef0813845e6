import type { DuckDBConnection } from "@duckdb/node-api";
import { quoteName } from "svc-connectors/destination";
import { type Column, columnList, pickText, readLines, type Stamp, selectRows } from "./columns.ts";
import { type MergeColumns, mergeRows } from "./merge.ts";
import type { Stage } from "./stage.ts";
import { type Table, tableName } from "./tables.ts";

/** Loads the staged rows: added as they are, or merged by their key. Part of a transaction. */
export async function loadRows(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  stage: Stage,
  merge: MergeColumns | undefined,
  stamp: Stamp,
): Promise<void> {
  const rows = selectRows(stage, columns, stamp);
  if (merge) await mergeRows(connection, table, columns, merge, rows);
  else await connection.run(`INSERT INTO ${tableName(table)} (${columnList(columns)}) ${rows}`);
}

/** Adds all rows of a copy to the table that it was built beside. Part of a transaction. */
export async function addRows(
  connection: DuckDBConnection,
  from: Table,
  to: Table,
  columns: readonly Column[],
) {
  const list = columnList(columns);
  await connection.run(
    `INSERT INTO ${tableName(to)} (${list}) SELECT ${list} FROM ${tableName(from)} ORDER BY rowid`,
  );
}

/**
 * Widens the types that some staged value does not fit: an integer beyond 64 bits to HUGEINT,
 * anything else to text. False when every value fits, so that the failure has another reason.
 */
export async function widen(
  connection: DuckDBConnection,
  columns: readonly Column[],
  stage: Stage,
): Promise<boolean> {
  const candidates = columns.filter(({ type }) => type !== "VARCHAR" && type !== "JSON");
  if (candidates.length === 0) return false;
  const asText = columns.map((column) => ({
    ...column,
    type: candidates.includes(column) ? "VARCHAR" : column.type,
  }));
  const rows = selectRows(stage, asText, { extractedAt: "1970-01-01T00:00:00Z", jobId: "" });
  const misfits = (type: string, name: string) =>
    `count(*) FILTER (${quoteName(name)} IS NOT NULL AND TRY_CAST(${quoteName(name)} AS ${type}) IS NULL)`;
  const counts = candidates.flatMap(({ name, type }) => [
    misfits(type, name),
    misfits("HUGEINT", name),
  ]);
  const result = await connection.runAndReadAll(`SELECT ${counts.join(", ")} FROM (${rows})`);
  const found = result.getRowsJson()[0] ?? [];
  let isWidened = false;
  candidates.forEach((column, index) => {
    if (Number(found[index * 2]) === 0) return;
    column.type =
      column.type === "BIGINT" && Number(found[index * 2 + 1]) === 0 ? "HUGEINT" : "VARCHAR";
    isWidened = true;
  });
  return isWidened;
}

/**
 * Makes text of the columns of doubles in which some staged number would become another one. Such
 * numbers with a fraction were put into quotes. True when there were any.
 */
export async function widenDoubles(
  connection: DuckDBConnection,
  columns: readonly Column[],
  stage: Stage,
): Promise<boolean> {
  const doubles = columns.filter(({ type }) => type === "DOUBLE");
  if (doubles.length === 0) return false;
  const counts = doubles.map(({ property }) => {
    const value = pickText(property);
    const isRounded = `TRY_CAST(${value} AS HUGEINT) <> TRY_CAST(TRY_CAST(${value} AS DOUBLE) AS HUGEINT)`;
    return `count(*) FILTER (${pickText(property, "type")} = 'VARCHAR' OR (regexp_matches(${value}, '^-?[0-9]+$') AND (${isRounded}) IS NOT FALSE))`;
  });
  const result = await connection.runAndReadAll(
    `SELECT ${counts.join(", ")} FROM ${readLines(stage)}`,
  );
  const found = result.getRowsJson()[0] ?? [];
  const rounded = doubles.filter((_, index) => Number(found[index]) > 0);
  for (const column of rounded) column.type = "VARCHAR";
  return rounded.length > 0;
}
