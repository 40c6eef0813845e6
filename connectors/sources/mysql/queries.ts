/** Streams that a query defines, in the settings: described by the server, and read like tables. */
import { ConnectorError } from "svc-connectors";
import type { Session } from "./api.ts";
import { type Column, orNull, type Table } from "./catalog.ts";
import type { ResultColumn } from "./client.ts";
import { queryReason, ServerError } from "./failures.ts";
import { resultType } from "./result-types.ts";
import type { Config } from "./spec.ts";
import { typeOf } from "./types.ts";

type Query = Config["queries"][number];

/** @throws QUERY_REFUSED for names that differ by case at most */
export function requireOwnNames(queries: readonly Query[]): void {
  const seen = new Set<string>();
  for (const { name } of queries) {
    if (seen.has(name.toLowerCase())) throw refuse(name, "another query has its name");
    seen.add(name.toLowerCase());
  }
}

/**
 * What the query of a stream gives, as a table. The server decides whether it is one SELECT that
 * only reads: alone it has to be one statement, and in parentheses a part of a SELECT. Needs a
 * transaction that is read-only.
 * @throws QUERY_REFUSED, QUERY_FAILED
 */
export async function describeQuery({ client }: Session, query: Query): Promise<Table> {
  const { name, primary_key: primaryKey, cursor_field: cursorField } = query;
  const sql = query.sql.replace(/[;\s]+$/, "");
  if (sql.includes("\0")) throw refuse(name, "it has a character that no text in SQL has");
  const describe = (text: string) =>
    client.describe(text).catch((error: unknown) => {
      throw queryFailure(error, name);
    });
  const { columns: described, parameterCount } = await describe(sql);
  if (parameterCount > 0) throw refuse(name, "it has a parameter: a question mark without quotes");
  if (described.length === 0) throw refuse(name, "it gives no columns");
  const names = described.map((column) => column.name);
  const folded = names.map((one) => one.toLowerCase());
  const twice = names.find((_, index) => folded.indexOf(folded[index] ?? "") !== index);
  if (twice !== undefined)
    throw refuse(name, `two of its columns have the name ${twice}: name one of them with AS`);
  // Nothing that writes can stand there, and nothing that closes the parentheses could stand alone.
  await client.describe(`SELECT 1 FROM (${sql}\n) AS svc_query`).catch((error: unknown) => {
    if (error instanceof ServerError && error.number === 1064)
      throw refuse(name, "it is not one SELECT");
    throw queryFailure(error, name);
  });
  const columns = described.map((column) => toColumn(column, primaryKey));
  for (const column of primaryKey)
    if (!names.includes(column))
      throw refuse(name, `it gives no column ${column}, which primary_key names`);
  const cursor = columns.find((column) => column.name === cursorField);
  if (cursorField !== undefined && !cursor)
    throw refuse(name, `it gives no column ${cursorField}, which cursor_field names`);
  if (cursor && !cursor.type.isOrderable)
    throw refuse(name, `its column ${cursor.name}, which cursor_field names, has no order`);
  return { database: "", name, columns, primaryKey, sql, cursorField };
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

const refuse = (name: string, reason: string) =>
  new ConnectorError("QUERY_REFUSED", { reason: `${name}: ${reason}` });

/** A failure of the server as one of the query, where it is; others stay as they came. */
export function queryFailure(error: unknown, name: string): unknown {
  const found = queryReason(error);
  if (found === undefined) return error;
  const { reason, isRefusal } = found;
  return isRefusal
    ? refuse(name, reason)
    : new ConnectorError("QUERY_FAILED", { reason: `${name}: ${reason}` });
}
