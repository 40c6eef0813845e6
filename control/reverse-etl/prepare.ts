/** A look at an activation that could be: tried, and nothing saved. */
import { createHash } from "node:crypto";
import {
  type ActivationObject,
  identifyingOperations,
  type JsonValue,
  type QueryColumn,
  type RowOperation,
} from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import type { FieldFault } from "../contract/reasons.ts";
import type { RowCounts } from "../store/tables.ts";
import { objectsOf } from "./activation-parts.ts";
import { type Mapping, modelFaults, objectFaults } from "./mappings.ts";
import { masked, previewRows } from "./preview.ts";
import type { ModelTableRow, ReverseDestinationRow } from "./rows.ts";
import { noRows } from "./run-row.ts";
import { queryModel, tryTimeoutMs } from "./warehouse.ts";

/** Both sides may change: what was seen is true for so long. */
const lifetimeMs = 30 * 60_000;

export interface PrepareRequest {
  readonly model: ModelTableRow;
  readonly destination: ReverseDestinationRow;
  readonly object?: string | undefined;
  readonly operation?: RowOperation | undefined;
  readonly mappings?: readonly Mapping[] | undefined;
}

interface Seen {
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly (readonly JsonValue[])[];
  readonly rowCount: number;
}

export async function prepareActivation(ctx: OperationContext, request: PrepareRequest) {
  const { now } = ctx;
  const { model, destination } = request;
  const objects = await objectsOf(ctx, destination, request.object);
  const seen = await look(ctx, model);
  // Without a word of the caller: the only object there is, and what it can do first.
  const object = request.object === undefined && objects.length > 1 ? undefined : objects[0];
  const mappings = request.mappings ?? suggested(model, seen.columns, object);
  const operation = request.operation ?? (object ? preferred(object) : "upsert");
  const issues: FieldFault[] = [
    ...(seen.columns.some(({ name }) => name === model.primary_key)
      ? []
      : [
          {
            path: "modelId",
            reason: "invalid_mapping",
            message: "the query no longer gives the primary key",
          },
        ]),
    ...(object
      ? []
      : [
          {
            path: "object",
            reason: "invalid_mapping",
            message:
              request.object === undefined
                ? "is missing: the destination has several"
                : "is nothing that the destination has",
          },
        ]),
    ...modelFaults(mappings, operation, seen.columns),
    ...(object ? objectFaults(mappings, operation, object) : []),
  ];
  const digested = {
    model: [model.id, model.version],
    destination: [destination.id, destination.version],
    object: object?.name ?? null,
    operation,
    mappings,
    columns: seen.columns,
  };
  return {
    valid: issues.length === 0,
    issues,
    columns: [...seen.columns],
    objects: objects.slice(0, 200).map(({ name, id }) => ({ name, id: id ?? null })),
    operation,
    mappings: [...mappings],
    destinationFields: [...(object?.fields ?? [])],
    preview: previewOf(seen, mappings),
    digest: `sha256:${createHash("sha256").update(JSON.stringify(digested)).digest("hex")}`,
    expiresAt: new Date(now.getTime() + lifetimeMs).toISOString(),
  };
}

async function look(
  ctx: OperationContext,
  { destination_id: warehouseId, sql }: ModelTableRow,
): Promise<Seen> {
  const query = { warehouseId, timeoutMs: tryTimeoutMs };
  const { workspaceId } = ctx;
  const first = await queryModel(
    ctx,
    workspaceId,
    { ...query, sql, maxRows: previewRows },
    async ({ columns, pages }) => {
      const rows: (readonly JsonValue[])[] = [];
      for await (const page of pages) {
        rows.push(...page);
        if (rows.length >= previewRows) break;
      }
      return { columns, rows: rows.slice(0, previewRows) };
    },
  );
  const counting = `SELECT count(*) AS rows FROM (\n${sql.trim().replace(/;\s*$/, "")}\n) AS model`;
  const rowCount = await queryModel(
    ctx,
    workspaceId,
    { ...query, sql: counting, maxRows: 1 },
    async ({ pages }) => {
      for await (const [row] of pages) return Number(row?.[0] ?? 0);
      return 0;
    },
  );
  return { ...first, rowCount };
}

function previewOf({ columns, rows, rowCount }: Seen, mappings: readonly Mapping[]) {
  const shown = mappings.flatMap(({ from, to }) => {
    const index = columns.findIndex(({ name }) => name === from);
    return index === -1 ? [] : [{ from, to, index }];
  });
  const plannedRows: RowCounts = { ...noRows, addedCount: rowCount };
  return {
    fields: shown.map(({ to }) => to),
    // In lists: a column may be called anything.
    rows: rows.map((row) => shown.map(({ from, index }) => masked(from, row[index] ?? null))),
    plannedRows,
  };
}

const preferred = ({ operations }: ActivationObject): RowOperation =>
  (["upsert", "insert"] as const).find((one) => operations.includes(one)) ??
  operations[0] ??
  "upsert";

/** Columns to fields of the same name; where the destination takes any field, all columns. */
function suggested(
  { primary_key }: ModelTableRow,
  columns: readonly QueryColumn[],
  object: ActivationObject | undefined,
): Mapping[] {
  if (!object) return [];
  const operation = preferred(object);
  const fieldOf = (name: string) =>
    object.fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
  const pairs = columns.flatMap(({ name }) => {
    const to = fieldOf(name)?.name ?? (object.isOpen ? name : undefined);
    return to === undefined ? [] : [{ from: name, to }];
  });
  const canIdentify = ({ to }: { readonly to: string }) =>
    fieldOf(to)?.isIdentifier ?? !object.fields.some(({ isIdentifier }) => isIdentifier);
  const identifier = identifyingOperations.includes(operation)
    ? (pairs.find((pair) => pair.from === primary_key && canIdentify(pair)) ??
      pairs.find(canIdentify))
    : undefined;
  return pairs.map((pair) => ({ ...pair, isPrimaryIdentifier: pair === identifier }));
}
