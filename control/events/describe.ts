/** The events that a fact makes, with what there is to say of each. */
import type { Selectable } from "kysely";
import { permissions } from "../contract/operation.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { EventType, Tables } from "../store/tables.ts";
import type { FactRow } from "./facts.ts";
import { noteDegraded, noteJobEnd } from "./health.ts";
import type { EventData } from "./schemas.ts";

export interface DescribedEvent {
  readonly type: EventType;
  readonly data: EventData;
  /** It tells what only administrators may know. */
  readonly isForAdministrators?: boolean | undefined;
}

type Describe = (
  tx: Db,
  services: Pick<Services, "operations">,
  fact: FactRow,
) => Promise<readonly DescribedEvent[]>;

/** Nothing, when what it was about is gone. */
export async function describeFact(
  tx: Db,
  services: Pick<Services, "operations">,
  fact: FactRow,
): Promise<readonly DescribedEvent[]> {
  const area = fact.type.split(".")[0] ?? "";
  return (await byArea[area]?.(tx, services, fact)) ?? [];
}

type JobRow = Selectable<Tables["jobs"]>;

const describeJob: Describe = async (tx, _services, { type, subject_id: id }) => {
  const row = await tx.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) return [];
  const subject = await subjectOf(tx, row);
  const data = { job: toJobData(row), ...subject };
  const described: DescribedEvent[] = [{ type: type as EventType, data }];
  const { status } = row;
  if (!subject || (status !== "succeeded" && status !== "failed")) return described;
  const noun = row.kind === "sync" ? "pipeline" : "activation";
  const ids = { subjectId: row.subject_id, jobId: id };
  const refused = status === "succeeded" && noun === "activation" ? await rowsRefused(tx, id) : 0;
  if (refused > 0 && (await noteDegraded(tx, ids)))
    described.push({ type: "activation.degraded", data: { ...data, rows_refused: refused } });
  const change = await noteJobEnd(tx, ids, status);
  if (change) described.push({ type: `${noun}.${change}`, data });
  return described;
};

/** The pipeline or the activation of a job; undefined: it was deleted. */
async function subjectOf(
  tx: Db,
  { kind, subject_id: id }: JobRow,
): Promise<Pick<EventData, "pipeline" | "activation"> | undefined> {
  if (kind === "sync") return await pipelineData(tx, id);
  const row = await tx
    .selectFrom("reverse_etl_activations")
    .select("name")
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { activation: { activation_id: id, name: row.name } };
}

async function rowsRefused(tx: Db, jobId: string): Promise<number> {
  const run = await tx
    .selectFrom("reverse_etl_runs")
    .select("failed")
    .where("job_id", "=", jobId)
    .executeTakeFirst();
  if (!run) return 0;
  const { addedCount, changedCount, removedCount } = run.failed;
  return addedCount + changedCount + removedCount;
}

const toJobData = (row: JobRow): NonNullable<EventData["job"]> => ({
  job_id: row.id,
  kind: row.kind,
  job_type: row.job_type,
  status: row.status,
  trigger: row.trigger,
  attempts: row.attempt,
  records_committed: Number(row.records_committed),
  bytes: Number(row.bytes),
  failure: row.failure,
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  ended_at: row.ended_at?.toISOString() ?? null,
});

async function pipelineData(
  tx: Db,
  id: string,
): Promise<Required<Pick<EventData, "pipeline">> | undefined> {
  const row = await tx
    .selectFrom("pipelines")
    .select(["id", "connection_id", "name", "status", "pause_reason"])
    .where("id", "=", id)
    .where("status", "!=", "deleted")
    .executeTakeFirst();
  if (!row) return undefined;
  const { id: pipeline_id, ...rest } = row;
  return { pipeline: { pipeline_id, ...rest } };
}

const describePipeline: Describe = async (tx, _services, { type, subject_id: id, facts }) => {
  const data = await pipelineData(tx, id);
  if (!data) return [];
  if (type === "pipeline.paused") {
    const { pause_reason } = facts as { readonly pause_reason: string | null };
    return [{ type, data: { pipeline: { ...data.pipeline, status: "paused", pause_reason } } }];
  }
  const { job_id: jobId, ...lost } = facts as { readonly job_id: string } & Pick<
    EventData,
    "left_out" | "changes" | "change_count"
  >;
  const isNews = await noteDegraded(tx, { subjectId: id, jobId });
  return isNews ? [{ type: "pipeline.degraded", data: { ...data, ...lost } }] : [];
};

const describeSchema: Describe = async (tx, _services, { subject_id: id, facts }) => {
  const data = await pipelineData(tx, id);
  const { changes, change_count } = facts as Required<Pick<EventData, "changes" | "change_count">>;
  return data ? [{ type: "schema.changed", data: { ...data, changes, change_count } }] : [];
};

const describeApproval: Describe = async (tx, services, { type, subject_id: id, facts }) => {
  const row = await tx.selectFrom("approvals").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) return [];
  const operation = services.operations.find((one) => one.id === row.operation);
  const decision = (facts as { readonly decision?: typeof row.status }).decision;
  const before = { "approval.created": "pending", "approval.expired": "expired" } as const;
  const status = decision ?? before[type as keyof typeof before];
  const approval = {
    approval_id: row.id,
    operation: row.operation,
    category: row.category as NonNullable<EventData["approval"]>["category"],
    status,
    summary: row.summary,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    requested_by: row.requested_by,
    decided_by: status === "pending" ? null : row.decided_by,
    expires_at: row.expires_at.toISOString(),
  };
  // As in the list of approvals: a proposal tells as much as what it proposes.
  const isForAdministrators =
    operation === undefined || permissions[operation.permission].role === "admin";
  return [{ type: type as EventType, data: { approval }, isForAdministrators }];
};

const describeCredential: Describe = async (tx, _services, { type, subject_id: id }) => {
  const row = await tx
    .selectFrom("credentials")
    .select(["id", "name", "connector_id", "status", "secrets_expire_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return [];
  const { id: credential_id, secrets_expire_at, ...rest } = row;
  const credential = {
    credential_id,
    ...rest,
    secrets_expire_at: secrets_expire_at?.toISOString() ?? null,
  };
  return [{ type: type as EventType, data: { credential } }];
};

const describeEndpoint: Describe = async (tx, _services, { type, subject_id: id }) => {
  const row = await tx
    .selectFrom("webhook_endpoints")
    .select(["id", "name", "disabled_reason"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return [];
  const webhook_endpoint = {
    webhook_endpoint_id: row.id,
    name: row.name,
    disabled_reason: row.disabled_reason,
  };
  return [{ type: type as EventType, data: { webhook_endpoint } }];
};

/** The area is what stands before the point of a fact's type. */
const byArea: Readonly<Record<string, Describe>> = {
  job: describeJob,
  pipeline: describePipeline,
  schema: describeSchema,
  approval: describeApproval,
  credential: describeCredential,
  webhook_endpoint: describeEndpoint,
};
