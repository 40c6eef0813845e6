import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import {
  createTableNames,
  type DatabaseQuery,
  describeQueries,
  discoverTables,
  labelOf,
  queryOf,
} from "svc-connectors/database";
import { inSnapshot, quoteName, type Session } from "./api.ts";
import { countTables, findTable, listTables, selectChosen, type Table } from "./catalog.ts";
import { describeQuery } from "./queries.ts";
import type { MysqlContext } from "./spec.ts";

export const { ofTable, fromOf } = createTableNames(quoteName);

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
  yield* discoverTables<Table>(ctx, {
    queries: ctx.config.queries,
    hint,
    countTables: () => countTables(session, chosen),
    listTables: () => listTables(session, chosen),
    describeQuery: describeIn(session),
  });
}

/** @throws as {@link describeQuery} */
export async function tryQueries({ config: { queries } }: MysqlContext, session: Session) {
  for await (const _ of describeQueries(queries, describeIn(session)));
}

/** Describes queries, each in a transaction of its own. */
const describeIn = (session: Session) => async (query: DatabaseQuery) => {
  let table: Table | undefined;
  for await (const one of inSnapshot(session, () => described(session, query))) table = one;
  return table as Table;
};

async function* described(session: Session, query: DatabaseQuery): AsyncGenerator<Table> {
  yield await describeQuery(session, query);
}

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
  const stream = labelOf({ schema: namespace, name });
  // The settings say which database is read: a catalog does not lead to another one.
  const table = namespace === session.database ? await findTable(session, name) : undefined;
  if (!table) throw new ConnectorError("STREAM_UNKNOWN", { stream });
  if (!table.isReadable) throw new ConnectorError("PERMISSION_DENIED", { stream });
  return table;
}
