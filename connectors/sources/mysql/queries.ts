/** Streams that a query defines, in the settings: described by the server, and read like tables. */
import {
  type DatabaseQuery,
  queryFailure,
  queryRefused,
  requireOwnColumns,
  statementOf,
  toQueryTable,
} from "svc-connectors/database";
import type { Session } from "./api.ts";
import { type Column, orNull, type Table } from "./catalog.ts";
import type { ResultColumn } from "./client.ts";
import { queryReason, ServerError } from "./failures.ts";
import { resultType } from "./result-types.ts";
import { typeOf } from "./types.ts";

/**
 * The result of a stream's query, as a table. The server decides whether it is one SELECT that only
 * reads: alone it has to be one statement, and in parentheses a part of a SELECT. Needs a
 * transaction that is read-only.
 * @throws QUERY_REFUSED, QUERY_FAILED
 */
export async function describeQuery({ client }: Session, query: DatabaseQuery): Promise<Table> {
  const { name, primary_key: primaryKey } = query;
  const sql = statementOf(query);
  const { columns, parameterCount } = await client.describe(sql).catch((error: unknown) => {
    throw queryFailure(error, name, queryReason);
  });
  if (parameterCount > 0)
    throw queryRefused(name, "it has a parameter: a question mark without quotes");
  const names = columns.map((column) => column.name);
  requireOwnColumns(query, names, { isCaseKept: false });
  // Nothing that writes can stand there, and nothing that closes the parentheses could stand alone.
  await client.describe(`SELECT 1 FROM (${sql}\n) AS svc_query`).catch((error: unknown) => {
    if (error instanceof ServerError && error.number === 1064)
      throw queryRefused(name, "it is not one SELECT");
    throw queryFailure(error, name, queryReason);
  });
  return toQueryTable(
    query,
    columns.map((column) => toColumn(column, primaryKey)),
  );
}

function toColumn(described: ResultColumn, primaryKey: readonly string[]): Column {
  const { name } = described;
  const columnType = resultType(described);
  const type = typeOf(columnType);
  return {
    name,
    type,
    typeName: columnType.name,
    schema: primaryKey.includes(name) ? type.schema : orNull(type.schema),
    isNullable: true,
    isIndexed: false,
    isNumbered: false,
  };
}
