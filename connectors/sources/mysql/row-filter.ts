/** Conditions of a row filter as SQL: names are quoted, and values are literals of their type. */
import { ConnectorError, type RowCondition, type SelectedStream } from "svc-connectors";
import type { Column, Table } from "./catalog.ts";
import { labelOf, ofTable } from "./streams.ts";
import type { ValueType } from "./types.ts";

/**
 * The conditions of a stream, each to stand in a WHERE.
 * @throws CATALOG_INVALID for a column that the table lacks, and a value that does not fit its
 * type: the server would take something else for it
 */
export const filterOf = (table: Table, { rowFilter = [] }: SelectedStream): string[] =>
  rowFilter.map((condition) => toSql(condition, columnOf(table, condition), table));

function toSql({ operator, value }: RowCondition, column: Column, table: Table): string {
  const { name, type } = column;
  const sql = ofTable(name);
  if (operator === "is null") return `${sql} IS NULL`;
  if (operator === "is not null") return `${sql} IS NOT NULL`;
  if (type.comparison === "none")
    throw refuse(
      table,
      `compares the column ${name}, whose type has no comparison: is null and is not null alone can be`,
    );
  const isEquality = /^(=|!=|in|not in)$/.test(operator);
  if (type.comparison === "equality" && !isEquality)
    throw refuse(table, `cannot compare ${name} by ${operator}: =, !=, in and not in can be`);
  const values = Array.isArray(value) ? value : [value];
  const literals = values.map((one) => {
    const literal = type.toLiteral(toText(one, type));
    if (literal !== undefined) return literal;
    throw refuse(table, `has a value for ${name} that does not fit its type`);
  });
  switch (operator) {
    case "in":
      return `${sql} IN (${literals.join(", ")})`;
    case "not in":
      return `${sql} NOT IN (${literals.join(", ")})`;
    case "!=":
      return `${sql} <> ${literals[0]}`;
    default:
      return `${sql} ${operator} ${literals[0]}`;
  }
}

/** The server has no type for true and false: they are 1 and 0. */
const toText = (value: unknown, { schema }: ValueType) =>
  String(typeof value === "boolean" && schema.type === "integer" ? Number(value) : value);

function columnOf(table: Table, { column }: RowCondition): Column {
  const found = table.columns.find(({ name }) => name === column);
  if (found) return found;
  throw refuse(table, `names the column ${column}, which the table lacks`);
}

const refuse = (table: Table, problem: string) =>
  new ConnectorError("CATALOG_INVALID", { path: `row_filter of ${labelOf(table)}`, problem });
