/** Conditions of a row filter as SQL. */
import { ConnectorError } from "../contract/errors.ts";
import type { RowCondition, SelectedStream } from "../contract/stream.ts";
import { type DatabaseColumn, type DatabaseTable, labelOf } from "./tables.ts";

export interface FilterSql<Column extends DatabaseColumn> {
  ofTable(column: string): string;
  /** Why the operator cannot compare the column; undefined: it can. */
  refusalOf?(column: Column, operator: RowCondition["operator"]): string | undefined;
  /** A value in SQL; undefined when it does not fit the column's type. */
  literalOf(column: Column, value: unknown): string | undefined;
}

/** One condition, to stand in a WHERE. */
export interface FilterCondition<Column extends DatabaseColumn> {
  readonly condition: RowCondition;
  readonly column: Column;
  readonly sql: string;
}

/**
 * @throws CATALOG_INVALID for a column that the table lacks, and a value that does not fit its type
 */
export const filterConditions = <Column extends DatabaseColumn>(
  table: DatabaseTable<Column>,
  { rowFilter = [] }: Pick<SelectedStream, "rowFilter">,
  sql: FilterSql<Column>,
): FilterCondition<Column>[] =>
  rowFilter.map((condition) => {
    const column = table.columns.find(({ name }) => name === condition.column);
    if (!column)
      throw filterRefused(table, `names the column ${condition.column}, which the table lacks`);
    return { condition, column, sql: toSql(condition, column, table, sql) };
  });

function toSql<Column extends DatabaseColumn>(
  { operator, value }: RowCondition,
  column: Column,
  table: DatabaseTable<Column>,
  { ofTable, refusalOf, literalOf }: FilterSql<Column>,
): string {
  const name = ofTable(column.name);
  if (operator === "is null") return `${name} IS NULL`;
  if (operator === "is not null") return `${name} IS NOT NULL`;
  const refusal = refusalOf?.(column, operator);
  if (refusal !== undefined) throw filterRefused(table, refusal);
  const literals = (Array.isArray(value) ? value : [value]).map((one) => {
    const literal = literalOf(column, one);
    if (literal !== undefined) return literal;
    throw filterRefused(table, `has a value for ${column.name} that does not fit its type`);
  });
  switch (operator) {
    case "in":
      return `${name} IN (${literals.join(", ")})`;
    case "not in":
      return `${name} NOT IN (${literals.join(", ")})`;
    case "!=":
      return `${name} <> ${literals[0]}`;
    default:
      return `${name} ${operator} ${literals[0]}`;
  }
}

/** Where no operator but null's can compare a column. */
export const hasNoComparison = (column: string): string =>
  `compares the column ${column}, whose type has no comparison: is null and is not null alone can be`;

export const filterRefused = (
  table: Pick<DatabaseTable, "schema" | "name">,
  problem: string,
): ConnectorError =>
  new ConnectorError("CATALOG_INVALID", { path: `row_filter of ${labelOf(table)}`, problem });
