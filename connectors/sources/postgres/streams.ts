import { escapeIdentifier } from "pg";
import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import { inSnapshot, type Session } from "./api.ts";
import { countTables, findTable, listTables, selectChosen, type Table } from "./catalog.ts";
import { proposeCursors } from "./cursors.ts";
import { describeQuery, requireOwnNames } from "./queries.ts";
import {
  logProblem,
  type PublishedTable,
  publishedTables,
  tableKey,
} from "./replication/server.ts";
import { addedProperties, lsnField } from "./replication/settings.ts";
import type { Config, PostgresContext } from "./spec.ts";

/** Most tables that one discovery lists. @see control API specification, part 8 */
const maxTables = 6_000;
/** Tables that are named one by one in the log when they may not be read. */
const maxSkippedNames = 100;
const hint =
  'Narrow it with include_tables / exclude_tables, for instance include_tables: ["public.order*"] or exclude_tables: ["archive.*"].';

/**
 * All tables that the role may read, in the order of their names.
 * @throws TOO_MANY_TABLES before the first one
 */
export async function* discoverStreams(
  ctx: PostgresContext,
  session: Session,
): AsyncGenerator<Stream> {
  const chosen = selectChosen(ctx.config);
  const { queries } = ctx.config;
  const found = (await countTables(session, chosen)) + queries.length;
  if (found > maxTables)
    throw new ConnectorError("TOO_MANY_TABLES", { found, limit: maxTables, hint });
  const labels = new Set<string>();
  let skippedCount = 0;
  const skip = (stream: string, reason: string) => {
    if (++skippedCount <= maxSkippedNames)
      ctx.log.warn("This table is skipped.", { stream, reason });
  };
  requireOwnNames(queries);
  for (const query of queries)
    for await (const table of inSnapshot(session, () => one(describeQuery(session, query))))
      yield toStream(table);
  const { replication } = ctx.config;
  const published = replication && (await publishedTables(session, replication));
  for await (const table of inSnapshot(session, () => listTables(session, chosen))) {
    const label = labelOf(table);
    if (!table.isReadable) skip(label, "PERMISSION_DENIED: no right to select");
    else if (labels.has(label.toLowerCase()))
      skip(label, "its name differs from another one by case only; exclude that one to read this");
    else {
      labels.add(label.toLowerCase());
      const found = published?.get(tableKey(table.schema, table.name));
      const problem = found && logProblem(table, found);
      if (problem !== undefined)
        ctx.log.warn("The log has no changes of this table that can be read.", {
          stream: label,
          reason: problem,
        });
      yield found && problem === undefined ? toLogStream(table, found) : toStream(table);
    }
  }
  if (skippedCount > maxSkippedNames) {
    ctx.log.warn("More tables are skipped than are named here.", { count: skippedCount });
  }
}

/** @throws as {@link describeQuery} */
export async function tryQueries({ config: { queries } }: PostgresContext, session: Session) {
  requireOwnNames(queries);
  for (const query of queries)
    for await (const _ of inSnapshot(session, () => one(describeQuery(session, query))));
}

async function* one<T>(coming: Promise<T>): AsyncGenerator<T> {
  yield await coming;
}

function toStream(table: Table): Stream {
  const { schema, name, columns, primaryKey, sql, cursorField } = table;
  const canOrder = columns.some(({ type }) => type.isOrderable);
  return {
    name,
    ...(sql === undefined ? { namespace: schema } : {}),
    schema: {
      type: "object",
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    primaryKey,
    syncModes: canOrder ? ["full_refresh", "incremental"] : ["full_refresh"],
    ...(cursorField === undefined ? { proposedCursors: proposeCursors(table) } : { cursorField }),
    estimatedRows: table.estimatedRows,
    // Nothing says whether the key of a query is one, and its order may cost a sort of all.
    isResumable: primaryKey.length > 0 && sql === undefined,
    supportsRowFilter: true,
  };
}

/** A stream that goes on by the log: its cursor is the place there. */
function toLogStream(table: Table, { generated }: PublishedTable): Stream {
  const columns = table.columns.filter(({ name }) => !generated.includes(name));
  const { proposedCursors: _, ...stream } = toStream({ ...table, columns });
  const { properties } = stream.schema as { readonly properties: object };
  return {
    ...stream,
    schema: { type: "object", properties: { ...properties, ...addedProperties } },
    syncModes: ["full_refresh", "incremental"],
    cursorField: lsnField,
    // The log gives changes of all rows.
    supportsRowFilter: false,
  };
}

/**
 * The table of a stream as it is now, or the result of its query. Needs a transaction.
 * @throws STREAM_UNKNOWN, PERMISSION_DENIED, QUERY_REFUSED, QUERY_FAILED
 */
export async function describeTable(
  { config }: PostgresContext,
  session: Session,
  selected: SelectedStream,
): Promise<Table> {
  const query = queryOf(config, selected);
  if (query) return describeQuery(session, query);
  const { namespace = "public", name } = selected;
  const stream = labelOf({ schema: namespace, name });
  const table = await findTable(session, namespace, name);
  if (!table) throw new ConnectorError("STREAM_UNKNOWN", { stream });
  if (!table.isReadable) throw new ConnectorError("PERMISSION_DENIED", { stream });
  return table;
}

/** A stream without a namespace is the query of its name, if there is one. */
export const queryOf = (
  { queries }: Config,
  { namespace, name }: Pick<Stream, "name" | "namespace">,
) => (namespace === undefined ? queries.find((query) => query.name === name) : undefined);

/** How messages and logs name it. */
export const labelOf = ({ schema, name }: Pick<Table, "schema" | "name">) =>
  schema === "" ? name : `${schema}.${name}`;

/** What is selected may have the name of a column. */
const alias = "svc_read";
export const ofTable = (column: string) => `${alias}.${escapeIdentifier(column)}`;

/** The table, or the query, in a FROM. */
export const fromOf = ({ schema, name, sql }: Table) =>
  `${sql === undefined ? `${escapeIdentifier(schema)}.${escapeIdentifier(name)}` : `(${sql}\n)`} AS ${alias}`;
