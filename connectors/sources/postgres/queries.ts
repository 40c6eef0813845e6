/** Streams that a query defines, in the settings: described by the server, and read like tables. */
import type { Submittable } from "pg";
import { ConnectorError } from "svc-connectors";
import type { Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { queryReason, sqlState } from "./failures.ts";
import type { Config } from "./spec.ts";
import { learnTypes, typeOf } from "./type-names.ts";

type Query = Config["queries"][number];

/** A column of a result, as the server describes it. */
interface Field {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

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
export async function describeQuery(session: Session, query: Query): Promise<Table> {
  const { name, primary_key: primaryKey, cursor_field: cursorField } = query;
  const sql = query.sql.replace(/[;\s]+$/, "");
  if (sql.includes("\0")) throw refuse(name, "it has a character that no text in SQL has");
  const fields = await fieldsOf(session, sql).catch((error: unknown) => {
    throw queryFailure(error, name);
  });
  await requireSelect(session, sql, name);
  const names = fields?.map((field) => field.name) ?? [];
  if (!fields || names.length === 0) throw refuse(name, "it gives no columns");
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined)
    throw refuse(name, `two of its columns have the name ${twice}: name one of them with AS`);
  const columns = await toColumns(session, fields, primaryKey);
  for (const column of primaryKey)
    if (!names.includes(column))
      throw refuse(name, `it gives no column ${column}, which primary_key names`);
  const cursor = columns.find((column) => column.name === cursorField);
  if (cursorField !== undefined && !cursor)
    throw refuse(name, `it gives no column ${cursorField}, which cursor_field names`);
  if (cursor && !cursor.type.isOrderable)
    throw refuse(name, `its column ${cursor.name}, which cursor_field names, has no order`);
  return { schema: "", name, isReadable: true, columns, primaryKey, sql, cursorField };
}

/**
 * The query as a part of a SELECT: nothing that writes can stand there. One that closes the
 * parentheses before its end is no statement when it is alone.
 */
async function requireSelect({ client }: Session, sql: string, name: string): Promise<void> {
  try {
    await client.query({
      text: `SELECT FROM (${sql}\n) AS svc_query LIMIT 0`,
      queryMode: "extended",
    } as never);
  } catch (error) {
    const code = sqlState(error);
    if (code === "42601") throw refuse(name, "it is not one SELECT");
    // The protocol: values were not given for all that wants one.
    if (code === "08P01") throw refuse(name, "it has a parameter, such as $1");
    throw queryFailure(error, name);
  }
}

async function toColumns(
  session: Session,
  fields: readonly Field[],
  primaryKey: readonly string[],
): Promise<Column[]> {
  const typeIds = fields.map(({ dataTypeID }) => dataTypeID);
  await learnTypes(session, typeIds);
  const { rows } = await session.client.query<{ name: string }>(
    `SELECT pg_catalog.format_type(f.type, f.modifier) AS name
     FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[]))
     WITH ORDINALITY AS f (type, modifier, place) ORDER BY f.place`,
    [typeIds, fields.map(({ dataTypeModifier }) => dataTypeModifier)],
  );
  return fields.map(({ name, dataTypeID, dataTypeModifier }, index): Column => {
    const { schema: typeSchema, type } = typeOf(session.types, dataTypeID, dataTypeModifier);
    return {
      name,
      type,
      schema: primaryKey.includes(name) ? type.schema : type.nullableSchema,
      typeName: rows[index]?.name ?? "text",
      typeSchema,
      isNullable: true,
      isIndexed: false,
      isNumbered: false,
    };
  });
}

/**
 * What the server says of a statement, without running it; undefined: it gives no rows. The
 * protocol takes one statement here and no more.
 */
const fieldsOf = ({ client }: Session, text: string): Promise<readonly Field[] | undefined> =>
  new Promise((resolve, reject) => {
    let fields: readonly Field[] | undefined;
    let failure: unknown;
    const statement = {
      submit(connection: Extended) {
        connection.parse({ text });
        connection.describe({ type: "S" });
        connection.sync();
      },
      handleRowDescription: (message: { readonly fields: readonly Field[] }) => {
        fields = message.fields;
      },
      handleDataRow() {},
      handleCommandComplete() {},
      handleEmptyQuery() {},
      handleReadyForQuery: () => (failure === undefined ? resolve(fields) : reject(failure)),
      handleError(error: unknown) {
        failure = error ?? new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
        reject(failure);
      },
    };
    client.query(statement as unknown as Submittable);
  });

interface Extended {
  parse(message: { readonly text: string }): void;
  describe(message: { readonly type: "S" }): void;
  sync(): void;
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
