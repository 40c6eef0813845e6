import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import { inSnapshot, quoteName, type Session } from "./api.ts";
import { countTables, findTable, listTables, selectChosen, type Table } from "./catalog.ts";
import { proposeCursors } from "./cursors.ts";
import { describeQuery, requireOwnNames } from "./queries.ts";
import type { Config, MysqlContext } from "./spec.ts";

/** Most tables that one discovery lists. @see control API specification, part 8 */
const maxTables = 6_000;
/** Tables that are named one by one in the log when they may not be read. */
const maxSkippedNames = 100;
const hint =
  'Narrow it with include_tables / exclude_tables, for instance include_tables: ["order*"] or exclude_tables: ["archive_*"].';

/**
 * All tables that the user may read, in the order of their names.
 * @throws TOO_MANY_TABLES before the first one
 */
export async function* discoverStreams(
  ctx: MysqlContext,
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
  for await (const table of describeQueries(ctx, session)) yield toStream(table);
  for await (const table of listTables(session, chosen, maxTables)) {
    const label = labelOf(table);
    if (table.columns.length === 0) skip(label, "PERMISSION_DENIED: no right to select");
    else if (labels.has(label.toLowerCase()))
      skip(label, "its name differs from another one by case only; exclude that one to read this");
    else {
      labels.add(label.toLowerCase());
      yield toStream(table);
    }
  }
  if (skippedCount > maxSkippedNames)
    ctx.log.warn("More tables are skipped than are named here.", { count: skippedCount });
}

/** @throws as {@link describeQuery} */
export async function* describeQueries(
  { config: { queries } }: MysqlContext,
  session: Session,
): AsyncGenerator<Table> {
  requireOwnNames(queries);
  for (const query of queries)
    yield* inSnapshot(session, async function* () {
      yield await describeQuery(session, query);
    });
}

function toStream(table: Table): Stream {
  const { database, name, columns, primaryKey, sql, cursorField } = table;
  const canOrder = columns.some(({ type }) => type.isOrderable);
  return {
    name,
    ...(sql === undefined ? { namespace: database } : {}),
    schema: {
      type: "object",
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    primaryKey,
    syncModes: canOrder ? ["full_refresh", "incremental"] : ["full_refresh"],
    ...(cursorField === undefined ? { proposedCursors: proposeCursors(table) } : { cursorField }),
    estimatedRows: table.estimatedRows,
    isResumable: hasOrderedKey(table),
    supportsRowFilter: true,
  };
}

/** Whether a read can go on behind a row's key. Nothing says whether the key of a query is one. */
export const hasOrderedKey = ({ columns, primaryKey, sql }: Table) =>
  sql === undefined &&
  primaryKey.length > 0 &&
  primaryKey.every((name) => columns.find((column) => column.name === name)?.type.isOrderable);

/**
 * The table of a stream as it is now, or the result of its query. Needs a transaction.
 * @throws STREAM_UNKNOWN, PERMISSION_DENIED, QUERY_REFUSED, QUERY_FAILED
 */
export async function describeTable(
  { config }: MysqlContext,
  session: Session,
  selected: SelectedStream,
): Promise<Table> {
  const query = queryOf(config, selected);
  if (query) return describeQuery(session, query);
  const { namespace = session.database, name } = selected;
  const stream = labelOf({ database: namespace, name });
  // The settings say which database is read: a catalog does not lead to another one.
  const table = namespace === session.database ? await findTable(session, name) : undefined;
  if (!table) throw new ConnectorError("STREAM_UNKNOWN", { stream });
  if (table.columns.length === 0) throw new ConnectorError("PERMISSION_DENIED", { stream });
  return table;
}

/** A stream without a namespace is the query of its name, if there is one. */
export const queryOf = (
  { queries }: Config,
  { namespace, name }: Pick<Stream, "name" | "namespace">,
) => (namespace === undefined ? queries.find((query) => query.name === name) : undefined);

/** How messages and logs name it. */
export const labelOf = ({ database, name }: Pick<Table, "database" | "name">) =>
  database === "" ? name : `${database}.${name}`;

/** What is selected may have the name of a column. */
const alias = "svc_read";
export const ofTable = (column: string) => `${alias}.${quoteName(column)}`;

/** The table, or the query, in a FROM. */
export const fromOf = ({ database, name, sql }: Table) =>
  `${sql === undefined ? `${quoteName(database)}.${quoteName(name)}` : `(${sql}\n)`} AS ${alias}`;
