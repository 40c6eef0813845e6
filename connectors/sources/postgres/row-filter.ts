/** Conditions of a row filter as SQL: names and values are quoted, and the server has tried each. */
import { escapeIdentifier, escapeLiteral } from "pg";
import { ConnectorError, type RowCondition, type SelectedStream } from "svc-connectors";
import type { Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { sqlState } from "./failures.ts";
import { fromOf, labelOf } from "./streams.ts";

/** Columns that the conditions compare. */
export const filteredColumns = (table: Table, { rowFilter = [] }: SelectedStream): Column[] =>
  rowFilter.map((condition) => columnOf(table, condition));

/**
 * The conditions of a stream, each to stand in a WHERE. Needs a transaction.
 * @throws CATALOG_INVALID for a column that the table lacks, and a value that does not fit its type
 */
export async function filterOf(
  { client }: Session,
  table: Table,
  { rowFilter = [] }: SelectedStream,
): Promise<string[]> {
  const conditions: string[] = [];
  for (const condition of rowFilter) {
    const sql = toSql(condition, columnOf(table, condition), table);
    // The server reads the values when it reads the statement: no row is looked at.
    await client.query(`SELECT FROM ${fromOf(table)} WHERE ${sql} LIMIT 0`).catch((error) => {
      throw tryFailure(error, condition, table);
    });
    conditions.push(sql);
  }
  return conditions;
}

/** Values without a type take the one of the column. */
function toSql({ operator, value }: RowCondition, { name, type }: Column, table: Table): string {
  const column = escapeIdentifier(name);
  if (operator === "is null") return `${column} IS NULL`;
  if (operator === "is not null") return `${column} IS NOT NULL`;
  if (!type.isOrderable)
    throw refuse(
      table,
      `compares the column ${name}, whose type has no comparison: is null and is not null alone can be`,
    );
  const values = (Array.isArray(value) ? value : [value]).map(String);
  if (values.some((one) => one.includes("\0")))
    throw refuse(table, `has a value for ${name} that no text in PostgreSQL can be`);
  const literals = values.map((one) => escapeLiteral(one));
  switch (operator) {
    case "in":
      return `${column} IN (${literals.join(", ")})`;
    case "not in":
      return `${column} NOT IN (${literals.join(", ")})`;
    case "!=":
      return `${column} <> ${literals[0]}`;
    default:
      return `${column} ${operator} ${literals[0]}`;
  }
}

function columnOf(table: Table, { column }: RowCondition): Column {
  const found = table.columns.find(({ name }) => name === column);
  if (found) return found;
  throw refuse(table, `names the column ${column}, which the table lacks`);
}

function tryFailure(error: unknown, { column, operator }: RowCondition, table: Table): unknown {
  const code = sqlState(error) ?? "";
  if (code.startsWith("22"))
    return refuse(table, `has a value for ${column} that does not fit its type`);
  if (code.startsWith("42") && code !== "42501")
    return refuse(table, `cannot compare ${column} by ${operator}`);
  return error;
}

const refuse = (table: Table, problem: string) =>
  new ConnectorError("CATALOG_INVALID", { path: `row_filter of ${labelOf(table)}`, problem });
