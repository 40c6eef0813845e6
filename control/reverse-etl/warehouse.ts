/** Queries of models, at the warehouse that they read. */
import { ConnectorError, type QueryColumn, type QueryResult } from "svc-connectors/host";
import { openDestination, targetOf } from "../destinations/open.ts";
import { findDestination } from "../destinations/rows.ts";
import type { RunContext } from "../sources/runs.ts";

export interface ModelQuery {
  readonly warehouseId: string;
  readonly sql: string;
  readonly maxRows: number;
  readonly timeoutMs: number;
}

/** Most columns of a model. */
const maxColumns = 500;

/** Someone waits for the answer. */
export const tryTimeoutMs = 20_000;

/**
 * Runs a model's query, and gives what `work` makes of its rows.
 * @throws QUERY_REFUSED, QUERY_FAILED, not_found, and how the warehouse cannot be opened
 */
export async function queryModel<T>(
  ctx: RunContext,
  workspaceId: string,
  { warehouseId, ...statement }: ModelQuery,
  work: (result: QueryResult) => Promise<T>,
): Promise<T> {
  const { services, db } = ctx;
  const target = await targetOf(ctx, await findDestination(db, workspaceId, warehouseId));
  const { config, options } = await openDestination(ctx, target, "reverse_etl");
  await using query = await services.destinations.query(
    target.definition.reference,
    config,
    statement,
    options,
  );
  const { columns, pages } = query.result;
  let isRead = false;
  const reading = {
    async *[Symbol.asyncIterator]() {
      isRead = true;
      yield* pages;
    },
  };
  try {
    requireDistinct(columns);
    return await work({ columns, pages: reading });
  } finally {
    // A read that was opened for the pages is closed by their end, also when nobody wanted one.
    if (!isRead) for await (const _ of pages) break;
  }
}

function requireDistinct(columns: readonly QueryColumn[]): void {
  const names = columns.map(({ name }) => name);
  if (names.length > maxColumns)
    throw new ConnectorError("QUERY_REFUSED", {
      reason: `it gives more than ${maxColumns} columns`,
    });
  if (new Set(names).size < names.length)
    throw new ConnectorError("QUERY_REFUSED", { reason: "two of its columns have one name" });
}

/** Tries a query with one row: which columns it gives. */
export const columnsOf = (
  ctx: RunContext,
  workspaceId: string,
  warehouseId: string,
  sql: string,
): Promise<readonly QueryColumn[]> =>
  queryModel(
    ctx,
    workspaceId,
    { warehouseId, sql, maxRows: 1, timeoutMs: tryTimeoutMs },
    async ({ columns, pages }) => {
      // The first row shows what the plan does not: a division by zero, a text that is no number.
      for await (const _ of pages) break;
      return columns.map(({ name, type }) => ({ name, type }));
    },
  );
