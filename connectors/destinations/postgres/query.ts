import type { Client } from "pg";
import { ConnectorError, type JsonValue } from "svc-connectors";
import type { QueryCommand, QueryResult } from "svc-connectors/destination";
import { sqlState, toFailure } from "./failures.ts";
import { toJson } from "./query-values.ts";
import { findRefused } from "./query-words.ts";
import { openSession } from "./session.ts";
import type { PostgresContext } from "./spec.ts";

const pageRows = 1_000;

/** The server's errors of a query that is at fault, in our words. */
const reasons: Readonly<Record<string, string>> = {
  "42P01": "a table that it names does not exist",
  "42703": "a column that it names does not exist",
  "42702": "a column name stands for more than one column",
  "42601": "it is not valid SQL",
  "42883": "a function or operator that it uses does not exist for these types",
  "42501": "the role may not read a table that it names",
  "42803": "a column is neither grouped nor aggregated",
  "42804": "types do not fit each other",
  "22P02": "a value does not have the form of its type",
  "22003": "a number is out of range",
  "22012": "it divides by zero",
  "22007": "a date or time does not have the right form",
  "22008": "a date or time is out of range",
  "21000": "a subquery gives more than one row",
  "3F000": "a schema that it names does not exist",
  "57014": "it took too long",
  "53100": "the disk of the server is full",
  "53200": "the server ran out of memory",
};

/** SQLSTATEs of what is not a SELECT that only reads. */
const refusals: Readonly<Record<string, string>> = {
  "25006": "it writes",
  "0A000": "it is not a SELECT that only reads",
  "42P03": "it is not a SELECT that only reads",
};

/** @see QueryResult */
export async function runQuery(
  ctx: PostgresContext,
  { sql, maxRows, timeoutMs }: QueryCommand,
): Promise<QueryResult> {
  const refused = findRefused(sql);
  if (refused !== undefined) throw new ConnectorError("QUERY_REFUSED", { reason: refused });
  const session = await openSession(ctx, "svc");
  const { client } = session;
  const fail = async (error: unknown): Promise<never> => {
    await session.close();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toQueryFailure(error);
  };
  const untilMs = ctx.clock.now() + timeoutMs;
  const fetch = async (count: number) => {
    if (ctx.clock.now() > untilMs)
      throw new ConnectorError("QUERY_FAILED", { reason: "it took too long" });
    return client.query<(string | null)[]>({
      text: `FETCH FORWARD ${count} FROM svc_query`,
      rowMode: "array",
      types: asText,
    });
  };
  const { fields, rows: first } = await begin(client, sql, timeoutMs, ctx.config.schema)
    .then(() => fetch(Math.min(pageRows, maxRows + 1)))
    .catch(fail);
  const types = await typeNames(client, fields).catch(fail);

  async function* pages() {
    try {
      let rows = first;
      for (let count = 0; rows.length > 0; ) {
        const wanted = rows.slice(0, maxRows - count);
        count += wanted.length;
        yield wanted.map((row) =>
          row.map((value, index) => toJson(value, fields[index]?.dataTypeID ?? 0)),
        );
        // Half of a result would look as if the rest was deleted.
        if (rows.length > wanted.length)
          throw new ConnectorError("QUERY_FAILED", {
            reason: `it gives more than ${maxRows} rows`,
          });
        if (rows.length < pageRows) break;
        rows = (await fetch(Math.min(pageRows, maxRows - count + 1))).rows;
      }
    } catch (error) {
      await fail(error);
    } finally {
      await session.close(); // rolls back
    }
  }
  return {
    columns: fields.map(({ name }, index) => ({ name, type: types[index] ?? "" })),
    pages: pages() as AsyncIterable<readonly (readonly JsonValue[])[]>,
  };
}

const asText = { getTypeParser: () => (value: string) => value };

/**
 * One statement, because the extended protocol takes no more, and a SELECT, because nothing else
 * has a cursor.
 */
async function begin(
  client: Client,
  sql: string,
  timeoutMs: number,
  schema: string,
): Promise<void> {
  await client.query("BEGIN READ ONLY");
  await client.query(
    "SELECT set_config('search_path', quote_ident($1), true), set_config('statement_timeout', $2, true)",
    [schema, String(Math.max(1, Math.ceil(timeoutMs)))],
  );
  await client.query({
    text: `DECLARE svc_query NO SCROLL CURSOR FOR\n${sql}`,
    queryMode: "extended",
  } as never);
}

async function typeNames(
  client: Client,
  fields: readonly { dataTypeID: number; dataTypeModifier: number }[],
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT format_type(t, m) AS name FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY AS f (t, m, n) ORDER BY n",
    [
      fields.map(({ dataTypeID }) => dataTypeID),
      fields.map(({ dataTypeModifier }) => dataTypeModifier),
    ],
  );
  return rows.map(({ name }) => name);
}

function toQueryFailure(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = sqlState(error) ?? "";
  const refusal = refusals[code];
  if (refusal !== undefined) return new ConnectorError("QUERY_REFUSED", { reason: refusal });
  const failure = toFailure(error);
  if (failure.code === "CONNECTION_FAILED") return failure;
  return new ConnectorError("QUERY_FAILED", { reason: reasons[code] ?? `SQLSTATE ${code}` });
}
