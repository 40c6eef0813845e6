/** Conditions of a row filter as SQL: names are quoted, and values are literals of their type. */
import type { RowCondition, SelectedStream } from "svc-connectors";
import { filterConditions, hasNoComparison } from "svc-connectors/database";
import type { Column, Table } from "./catalog.ts";
import { ofTable } from "./streams.ts";
import type { ValueType } from "./types.ts";

/**
 * The conditions of a stream, each to stand in a WHERE.
 * @throws CATALOG_INVALID for a column that the table lacks, and a value that does not fit its
 * type: the server would take something else for it
 */
export const filterOf = (table: Table, stream: SelectedStream): string[] =>
  filterConditions(table, stream, {
    ofTable,
    refusalOf,
    literalOf: ({ type }, value) => type.toLiteral(toText(value, type)),
  }).map(({ sql }) => sql);

function refusalOf({ name, type }: Column, operator: RowCondition["operator"]): string | undefined {
  if (type.comparison === "none") return hasNoComparison(name);
  return type.comparison === "equality" && !/^(=|!=|in|not in)$/.test(operator)
    ? `cannot compare ${name} by ${operator}: =, !=, in and not in can be`
    : undefined;
}

/** The server has no type for true and false: they are 1 and 0. */
const toText = (value: unknown, { schema }: ValueType) =>
  String(typeof value === "boolean" && schema.type === "integer" ? Number(value) : value);
