/**
 * Streams that a query defines, in the settings: what is refused of them, whatever the database.
 */
import { ConnectorError } from "../contract/errors.ts";
import type { Stream } from "../contract/stream.ts";
import type { DatabaseQuery } from "./settings.ts";
import type { DatabaseColumn, DatabaseTable } from "./tables.ts";

/** The query of a stream is refused, and why. `reason` is the author's own text. */
export const queryRefused = (name: string, reason: string): ConnectorError =>
  new ConnectorError("QUERY_REFUSED", { reason: `${name}: ${reason}` });

/** The reason of a failed query, out of the server's failure. */
export interface QueryReason {
  /** The author's own text, never the server's. */
  readonly reason: string;
  /** It is no query that may be read; otherwise it went wrong. */
  readonly isRefusal: boolean;
}

/** A failure of the server as one of the query, where it is; others stay as they came. */
export function queryFailure(
  error: unknown,
  name: string,
  reasonOf: (error: unknown) => QueryReason | undefined,
): unknown {
  const found = reasonOf(error);
  if (found === undefined) return error;
  const { reason, isRefusal } = found;
  return isRefusal
    ? queryRefused(name, reason)
    : new ConnectorError("QUERY_FAILED", { reason: `${name}: ${reason}` });
}

/** A stream without a namespace is the query of its name, if there is one. */
export const queryOf = (
  { queries }: { readonly queries: readonly DatabaseQuery[] },
  { namespace, name }: Pick<Stream, "name" | "namespace">,
): DatabaseQuery | undefined =>
  namespace === undefined ? queries.find((query) => query.name === name) : undefined;

/** @throws QUERY_REFUSED for names that differ by case at most */
export function requireOwnNames(queries: readonly DatabaseQuery[]): void {
  const seen = new Set<string>();
  for (const { name } of queries) {
    if (seen.has(name.toLowerCase())) throw queryRefused(name, "another query has its name");
    seen.add(name.toLowerCase());
  }
}

/** The statement without what ends it, to stand in parentheses. @throws QUERY_REFUSED */
export function statementOf({ name, sql }: DatabaseQuery): string {
  if (sql.includes("\0")) throw queryRefused(name, "it has a character that no text in SQL has");
  // From the end: an expression would look for it from each space anew.
  let end = sql.length;
  while (end > 0 && /[;\s]/.test(sql.charAt(end - 1))) end--;
  return sql.slice(0, end);
}

/**
 * Refuses a result whose columns cannot be told apart.
 * @param isCaseKept false: the server takes names that differ by case for one
 * @throws QUERY_REFUSED
 */
export function requireOwnColumns(
  { name }: DatabaseQuery,
  columns: readonly string[],
  { isCaseKept }: { readonly isCaseKept: boolean },
): void {
  if (columns.length === 0) throw queryRefused(name, "it gives no columns");
  const folded = isCaseKept ? columns : columns.map((one) => one.toLowerCase());
  const twice = columns.find((_, index) => folded.indexOf(folded[index] ?? "") !== index);
  if (twice !== undefined)
    throw queryRefused(name, `two of its columns have the name ${twice}: name one of them with AS`);
}

/**
 * The result of a query as a table, once the server has described its columns.
 * @throws QUERY_REFUSED for a key or a cursor that is no column of it, or has no order
 */
export function toQueryTable<Column extends DatabaseColumn>(
  query: DatabaseQuery,
  columns: readonly Column[],
): DatabaseTable<Column> {
  const { name, primary_key: primaryKey, cursor_field: cursorField } = query;
  for (const column of primaryKey)
    if (!columns.some((one) => one.name === column))
      throw queryRefused(name, `it gives no column ${column}, which primary_key names`);
  const cursor = columns.find((column) => column.name === cursorField);
  if (cursorField !== undefined && !cursor)
    throw queryRefused(name, `it gives no column ${cursorField}, which cursor_field names`);
  if (cursor && !cursor.type.isOrderable)
    throw queryRefused(name, `its column ${cursor.name}, which cursor_field names, has no order`);
  const sql = statementOf(query);
  return { schema: "", name, isReadable: true, columns, primaryKey, sql, cursorField };
}
