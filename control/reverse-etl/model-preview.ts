/** A look at the rows of a query, whether there is a model of it yet or not. */
import type { JsonValue } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { masked } from "./preview.ts";
import { queryModel, tryTimeoutMs } from "./warehouse.ts";

/** Rows of it that are shown. */
export const modelPreviewRows = 50;

/**
 * The columns of a query and its first rows, with what is personal or secret masked. It runs as the
 * queries of models do: one SELECT, read-only, with a time limit.
 * @throws query_refused, query_failed, and how the warehouse cannot be opened
 */
export function previewModel(
  ctx: OperationContext,
  { warehouseId, sql }: { readonly warehouseId: string; readonly sql: string },
) {
  // One more than is shown tells whether there are more.
  const query = { warehouseId, sql, maxRows: modelPreviewRows + 1, timeoutMs: tryTimeoutMs };
  return queryModel(ctx, ctx.workspaceId, query, async ({ columns, pages }) => {
    const rows: (readonly JsonValue[])[] = [];
    for await (const page of pages) {
      rows.push(...page);
      if (rows.length > modelPreviewRows) break;
    }
    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      rows: rows
        .slice(0, modelPreviewRows)
        .map((row) => columns.map(({ name }, index) => masked(name, row[index] ?? null))),
      hasMore: rows.length > modelPreviewRows,
    };
  });
}
