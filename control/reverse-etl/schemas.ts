/** The answers of this area, in camelCase. */
import {
  identifyingOperations,
  rowChangeKinds,
  rowOperations,
  rowReasons,
} from "svc-connectors/host";
import { type Static, Type } from "typebox";
import {
  Handle,
  Id,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  Version,
} from "../contract/schemas.ts";
import { ScheduleBody } from "../pipelines/schedule.ts";
import { type RowCounts, runStatuses, triggers } from "../store/tables.ts";
import type { Mapping } from "./mappings.ts";
import type { ActivationRow, ModelTableRow, ReverseDestinationRow, RunRow } from "./rows.ts";
import { sumOf } from "./run-row.ts";

export const queryTypes = ["raw_sql", "table", "custom"] as const;
export const activationStatuses = ["active", "paused", "disabled"] as const;

export const Column = StrictObject(
  { name: Type.String(), type: Type.String() },
  { title: "Column" },
);

export const Model = StrictObject(
  {
    modelId: Id("model"),
    workspaceId: Id("workspace"),
    name: Name,
    warehouseId: Id("destination", "The warehouse: a destination of pipelines."),
    queryType: OneOf(queryTypes),
    raw: Nullable(StrictObject({ sql: Type.String() })),
    table: Nullable(StrictObject({ name: Type.String() })),
    primaryKey: Type.String(),
    columns: Type.Array(Column),
    activationIds: Type.Array(Id("activation")),
    createdAt: Time,
    updatedAt: Time,
    version: Version,
  },
  { title: "ReverseEtlModel" },
);

export const toModel = (
  row: ModelTableRow,
  activationIds: readonly string[],
): Static<typeof Model> => ({
  modelId: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  warehouseId: row.destination_id,
  queryType: row.query_type,
  raw: row.query_type === "table" ? null : { sql: row.sql },
  table: row.table_name === null ? null : { name: row.table_name },
  primaryKey: row.primary_key,
  columns: [...row.columns],
  activationIds: [...activationIds],
  ...timesOf(row),
});

export const ReverseDestination = StrictObject(
  {
    destinationId: Id("reverseDestination"),
    workspaceId: Id("workspace"),
    name: Name,
    type: Type.String(),
    credentialHandle: Nullable(Handle),
    configuration: Type.Object(
      {},
      { additionalProperties: true, description: "Settings without secrets." },
    ),
    activationIds: Type.Array(Id("activation")),
    createdAt: Time,
    updatedAt: Time,
    version: Version,
  },
  { title: "ReverseEtlDestination" },
);

export const toReverseDestination = (
  row: ReverseDestinationRow,
  activationIds: readonly string[],
): Static<typeof ReverseDestination> => ({
  destinationId: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  type: row.type,
  credentialHandle: row.handle,
  configuration: row.configuration,
  activationIds: [...activationIds],
  ...timesOf(row),
});

export const MappingData = StrictObject(
  {
    from: Type.String({ description: "A column of the model." }),
    to: Type.String({ description: "A field of the destination." }),
    isPrimaryIdentifier: Type.Boolean({
      description: `Finds the row: one mapping has it for ${identifyingOperations.join(", ")}.`,
    }),
  },
  { title: "Mapping" },
);

const RunError = StrictObject(
  { reason: Type.String(), message: Type.String() },
  { title: "RunError" },
);

export const Activation = StrictObject(
  {
    activationId: Id("activation"),
    workspaceId: Id("workspace"),
    name: Name,
    modelId: Id("model"),
    destinationId: Id("reverseDestination"),
    object: Type.String(),
    operation: OneOf(rowOperations),
    mappings: Type.Array(MappingData),
    schedule: Nullable(ScheduleBody),
    status: OneOf(activationStatuses),
    nextRunAt: Nullable(Time),
    lastRunAt: Nullable(Time),
    lastRunId: Nullable(Id("run")),
    lastRunStatus: Nullable(OneOf(runStatuses)),
    lastRunError: Nullable(RunError),
    createdAt: Time,
    updatedAt: Time,
    version: Version,
  },
  { title: "ReverseEtlActivation" },
);

export type LastRun = Pick<RunRow, "id" | "created_at" | "status" | "error">;

export const toActivation = (
  row: ActivationRow,
  last: LastRun | undefined,
): Static<typeof Activation> => ({
  activationId: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
  modelId: row.model_id,
  destinationId: row.destination_id,
  object: row.object,
  operation: row.operation,
  mappings: row.mappings.map((mapping: Mapping) => ({ ...mapping })),
  schedule: row.schedule,
  status: row.status,
  nextRunAt: row.next_run_at?.toISOString() ?? null,
  lastRunAt: last?.created_at.toISOString() ?? null,
  lastRunId: last?.id ?? null,
  lastRunStatus: last?.status ?? null,
  lastRunError: last?.error ?? null,
  ...timesOf(row),
});

export const Counts = StrictObject(
  {
    addedCount: Type.Integer(),
    changedCount: Type.Integer(),
    removedCount: Type.Integer(),
  },
  { title: "RowCounts" },
);

export const Run = StrictObject(
  {
    runId: Id("run"),
    workspaceId: Id("workspace"),
    activationId: Id("activation"),
    jobId: Nullable(Id("job", "The job that carries it out; null: it was skipped.")),
    status: OneOf(runStatuses),
    trigger: OneOf(triggers),
    fullSync: Type.Boolean(),
    dryRun: Type.Boolean(),
    querySize: Nullable(Type.Integer({ description: "Rows of the model." })),
    plannedRows: Counts,
    successfulRows: Counts,
    failedRows: Counts,
    completionRatio: Type.Number({ description: "From 0 to 1." }),
    error: Nullable(RunError),
    createdAt: Time,
    startedAt: Nullable(Time),
    finishedAt: Nullable(Time),
  },
  { title: "ReverseEtlRun" },
);

export function toRun(row: RunRow): Static<typeof Run> {
  const { status } = row;
  const [planned, successful, failed] = [row.planned, row.successful, row.failed] as [
    RowCounts,
    RowCounts,
    RowCounts,
  ];
  const done = sumOf(successful) + sumOf(failed);
  return {
    runId: row.id,
    workspaceId: row.workspace_id,
    activationId: row.activation_id,
    jobId: row.job_id,
    status,
    trigger: row.trigger,
    fullSync: row.full_sync,
    dryRun: row.dry_run,
    querySize: row.query_size === null ? null : Number(row.query_size),
    plannedRows: planned,
    successfulRows: successful,
    failedRows: failed,
    completionRatio:
      status === "succeeded" || status === "warning" ? 1 : done / Math.max(1, sumOf(planned)),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}

export const FailedRow = StrictObject(
  {
    key: Type.String({ description: "The model's primary key." }),
    change: OneOf(rowChangeKinds),
    reason: OneOf(Object.keys(rowReasons) as (keyof typeof rowReasons)[]),
    message: Type.String(),
  },
  { title: "FailedRow" },
);

const timesOf = ({
  created_at,
  updated_at,
  version,
}: Pick<ModelTableRow, "created_at" | "updated_at" | "version">) => ({
  createdAt: created_at.toISOString(),
  updatedAt: updated_at.toISOString(),
  version,
});
