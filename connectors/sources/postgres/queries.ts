/** Streams that a query defines, in the settings: described by the server, and read like tables. */
import type { Submittable } from "pg";
import { ConnectorError } from "svc-connectors";
import {
  type DatabaseQuery,
  queryFailure,
  queryRefused,
  requireOwnColumns,
  statementOf,
  toQueryTable,
} from "svc-connectors/database";
import type { Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { queryReason, sqlState } from "./failures.ts";
import { learnTypes, typeOf } from "./type-names.ts";

/** A column of a result, as the server describes it. */
interface Field {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

/**
 * The result of a stream's query, as a table. The server decides whether it is one SELECT that only
 * reads: alone it has to be one statement, and in parentheses a part of a SELECT. Needs a
 * transaction that is read-only.
 * @throws QUERY_REFUSED, QUERY_FAILED
 */
export async function describeQuery(session: Session, query: DatabaseQuery): Promise<Table> {
  const { name, primary_key: primaryKey } = query;
  const sql = statementOf(query);
  const fields = await fieldsOf(session, sql).catch((error: unknown) => {
    throw queryFailure(error, name, queryReason);
  });
  await requireSelect(session, sql, name);
  const names = fields?.map((field) => field.name) ?? [];
  requireOwnColumns(query, names, { isCaseKept: true });
  return toQueryTable(query, await toColumns(session, fields ?? [], primaryKey));
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
    if (code === "42601") throw queryRefused(name, "it is not one SELECT");
    // The protocol: values were not given for all that wants one.
    if (code === "08P01") throw queryRefused(name, "it has a parameter, such as $1");
    throw queryFailure(error, name, queryReason);
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
 * The fields of a statement as the server describes them, without running it; undefined: it gives
 * no rows. The protocol takes one statement here and no more.
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
