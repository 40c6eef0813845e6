/**
 * Conditions of a row filter as SQL: names and values are quoted, and the server has tried each.
 */
import { escapeLiteral } from "pg";
import type { SelectedStream } from "svc-connectors";
import {
  type FilterCondition,
  filterConditions,
  filterRefused,
  hasNoComparison,
} from "svc-connectors/database";
import type { Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { sqlState } from "./failures.ts";
import { fromOf, ofTable } from "./streams.ts";

/**
 * The conditions of a stream.
 * @throws CATALOG_INVALID for a column that the table lacks, or whose type has no comparison
 */
export const conditionsOf = (table: Table, stream: SelectedStream): FilterCondition<Column>[] =>
  filterConditions(table, stream, {
    ofTable,
    refusalOf: ({ name, type }) => (type.isOrderable ? undefined : hasNoComparison(name)),
    /** Values without a type take the one of the column. */
    literalOf({ name }, value) {
      const text = String(value);
      if (!text.includes("\0")) return escapeLiteral(text);
      throw filterRefused(table, `has a value for ${name} that no text in PostgreSQL can be`);
    },
  });

/**
 * Lets the server read the values when it reads the statement: no row is looked at. Needs a
 * transaction.
 * @throws CATALOG_INVALID for a value that does not fit its type
 */
export async function tryConditions(
  { client }: Session,
  table: Table,
  conditions: readonly FilterCondition<Column>[],
): Promise<void> {
  for (const one of conditions)
    await client
      .query(`SELECT FROM ${fromOf(table)} WHERE ${one.sql} LIMIT 0`)
      .catch((error: unknown) => {
        throw tryFailure(error, one, table);
      });
}

function tryFailure(
  error: unknown,
  { condition: { column, operator } }: FilterCondition<Column>,
  table: Table,
): unknown {
  const code = sqlState(error) ?? "";
  if (code.startsWith("22"))
    return filterRefused(table, `has a value for ${column} that does not fit its type`);
  if (code.startsWith("42") && code !== "42501")
    return filterRefused(table, `cannot compare ${column} by ${operator}`);
  return error;
}
