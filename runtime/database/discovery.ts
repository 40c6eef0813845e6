/** The walk over a database's tables. */
import type { BaseContext } from "../contract/context.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Stream } from "../contract/stream.ts";
import { requireOwnNames } from "./queries.ts";
import type { DatabaseQuery } from "./settings.ts";
import { type DatabaseTable, labelOf, toStream } from "./tables.ts";

/** Most tables that one discovery lists. @see control API specification, part 8 */
export const maxTables = 6_000;
/** Tables that are named one by one in the log when they may not be read. */
const maxSkippedNames = 100;

export interface TableWalk<Table extends DatabaseTable> {
  readonly queries: readonly DatabaseQuery[];
  /** How to choose fewer tables, with an example: what a person reads who has too many. */
  readonly hint: string;
  /** How many tables the settings choose, by one statement. */
  countTables(): Promise<number>;
  /** Their descriptions in the order of their names, those that may not be read included. */
  listTables(): AsyncIterable<Table>;
  /** The result of a stream's query. @throws QUERY_REFUSED, QUERY_FAILED */
  describeQuery(query: DatabaseQuery): Promise<Table>;
  /** The stream of a table that may be read. Default: {@link toStream}. */
  streamOf?(table: Table): Stream;
}

/**
 * The streams of all tables that may be read, behind those of the queries. What is skipped is told.
 * @throws TOO_MANY_TABLES before the first one
 */
export async function* discoverTables<Table extends DatabaseTable>(
  { log }: Pick<BaseContext<unknown>, "log">,
  walk: TableWalk<Table>,
): AsyncGenerator<Stream> {
  const { queries, hint, streamOf = toStream } = walk;
  const found = (await walk.countTables()) + queries.length;
  if (found > maxTables)
    throw new ConnectorError("TOO_MANY_TABLES", { found, limit: maxTables, hint });
  for await (const table of describeQueries(queries, walk.describeQuery)) yield toStream(table);
  const labels = new Set<string>();
  let skippedCount = 0;
  const skip = (stream: string, reason: string) => {
    if (++skippedCount <= maxSkippedNames) log.warn("This table is skipped.", { stream, reason });
  };
  for await (const table of walk.listTables()) {
    const label = labelOf(table);
    if (!table.isReadable) skip(label, "PERMISSION_DENIED: no right to select");
    else if (labels.has(label.toLowerCase()))
      skip(label, "its name differs from another one by case only; exclude that one to read this");
    else {
      labels.add(label.toLowerCase());
      yield streamOf(table);
    }
  }
  if (skippedCount > maxSkippedNames)
    log.warn("More tables are skipped than are named here.", { count: skippedCount });
}

/**
 * Each query of the settings, described: what `check` tries.
 * @throws QUERY_REFUSED, QUERY_FAILED
 */
export async function* describeQueries<Table>(
  queries: readonly DatabaseQuery[],
  describe: (query: DatabaseQuery) => Promise<Table>,
): AsyncGenerator<Table> {
  requireOwnNames(queries);
  for (const query of queries) yield await describe(query);
}
