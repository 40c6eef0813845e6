import { escapeIdentifier } from "pg";
import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import { inSnapshot, type Session } from "./api.ts";
import { countTables, findTable, listTables, selectChosen, type Table } from "./catalog.ts";
import { proposeCursors } from "./cursors.ts";
import type { PostgresContext } from "./spec.ts";

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
  const found = await countTables(session, chosen);
  if (found > maxTables)
    throw new ConnectorError("TOO_MANY_TABLES", { found, limit: maxTables, hint });
  const labels = new Set<string>();
  let skippedCount = 0;
  const skip = (stream: string, reason: string) => {
    if (++skippedCount <= maxSkippedNames)
      ctx.log.warn("This table is skipped.", { stream, reason });
  };
  for await (const table of inSnapshot(session, () => listTables(session, chosen))) {
    const label = labelOf(table);
    if (!table.isReadable) skip(label, "PERMISSION_DENIED: no right to select");
    else if (labels.has(label.toLowerCase()))
      skip(label, "its name differs from another one by case only; exclude that one to read this");
    else {
      labels.add(label.toLowerCase());
      yield toStream(table);
    }
  }
  if (skippedCount > maxSkippedNames) {
    ctx.log.warn("More tables are skipped than are named here.", { count: skippedCount });
  }
}

function toStream(table: Table): Stream {
  const { schema, name, columns, primaryKey } = table;
  const canOrder = columns.some(({ type }) => type.isOrderable);
  return {
    name,
    namespace: schema,
    schema: {
      type: "object",
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    primaryKey,
    syncModes: canOrder ? ["full_refresh", "incremental"] : ["full_refresh"],
    proposedCursors: proposeCursors(table),
    estimatedRows: table.estimatedRows,
    isResumable: primaryKey.length > 0,
  };
}

/**
 * The table of a stream as it is now. Needs a transaction.
 * @throws STREAM_UNKNOWN, PERMISSION_DENIED
 */
export async function describeTable(
  session: Session,
  { namespace = "public", name }: SelectedStream,
): Promise<Table> {
  const stream = labelOf({ schema: namespace, name });
  const table = await findTable(session, namespace, name);
  if (!table) throw new ConnectorError("STREAM_UNKNOWN", { stream });
  if (!table.isReadable) throw new ConnectorError("PERMISSION_DENIED", { stream });
  return table;
}

/** How messages and logs name it. */
export const labelOf = ({ schema, name }: Pick<Table, "schema" | "name">) => `${schema}.${name}`;

export const quoteTable = ({ schema, name }: Table) =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
