/**
 * The tools of the agent interface: names for operations, which are found by method and path. A
 * tool whose operation this server does not have is left out. Policies, members, sessions and
 * secrets have none: an agent cannot open its own gate. Nor have the places where events are sent:
 * whoever knows the address of a webhook may be let in there.
 */
import type { Operation } from "../contract/operation.ts";

/** Hints for the client. They are never what enforces anything. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

const reads: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** Asks a provider, and changes nothing. */
const asks: Annotations = { ...reads, openWorldHint: true };
const writes: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
const changes: Annotations = { ...writes, idempotentHint: true };
const deletes: Annotations = { ...changes, destructiveHint: true };
const reachesOut: Annotations = { ...writes, openWorldHint: true };

/** Two operations under one name: without `id` it creates, with it, it changes. */
interface Apply {
  readonly create: string;
  readonly change: string;
  readonly id: string;
}

interface ToolEntry {
  readonly does: string | Apply;
  readonly annotations: Annotations;
  /** Only these arguments, where the operation takes more. */
  readonly only?: readonly string[] | undefined;
  readonly summary?: string | undefined;
  /** In place of the operation's own. */
  readonly description?: string | undefined;
}

const applies = (path: string, id: string): Apply => ({
  create: `POST ${path}`,
  change: `PATCH ${path}/{${id}}`,
  id,
});

const entries: Readonly<Record<string, ToolEntry>> = {
  svc_get_me: { does: "GET /me", annotations: reads },
  svc_list_workspaces: { does: "GET /workspaces", annotations: reads },
  svc_get_workspace: { does: "GET /workspaces/{workspace_id}", annotations: reads },
  svc_list_connectors: { does: "GET /connectors", annotations: reads },
  svc_get_connector: { does: "GET /connectors/{connector_id}", annotations: reads },
  svc_get_connector_spec: { does: "GET /connectors/{connector_id}/spec", annotations: reads },
  svc_get_connector_report: {
    does: "GET /connectors/{connector_id}/conformance",
    annotations: reads,
  },
  svc_list_credentials: { does: "GET /credentials", annotations: reads },
  svc_get_credential: { does: "GET /credentials/{credential_id}", annotations: reads },
  svc_get_source_oauth_consent_url: {
    does: "POST /credentials/source/oauth/start",
    annotations: reachesOut,
    summary: "Get the address at which a person connects an account of a source",
  },
  svc_complete_source_oauth: {
    does: "POST /credentials/source/oauth/callback",
    annotations: reachesOut,
  },
  svc_check_mailer: { does: "POST /connectors/mailer/check", annotations: asks },
  svc_preview_mailer_edm: { does: "POST /connectors/mailer/edm/preview", annotations: asks },
  svc_list_sources: { does: "GET /sources", annotations: reads },
  svc_get_source: { does: "GET /sources/{source_id}", annotations: reads },
  svc_list_source_entities: { does: "POST /sources/entities", annotations: asks },
  svc_check_source: { does: "POST /sources/{source_id}/check", annotations: asks },
  svc_create_source: { does: "POST /sources", annotations: reachesOut },
  svc_update_source: {
    does: "PATCH /sources/{source_id}",
    annotations: { ...changes, openWorldHint: true },
  },
  svc_rename_source: {
    does: "PATCH /sources/{source_id}",
    annotations: changes,
    only: ["source_id", "name"],
    summary: "Rename a source",
    description: "Changes its name and nothing else.",
  },
  svc_delete_source: { does: "DELETE /sources/{source_id}", annotations: deletes },
  svc_list_destinations: { does: "GET /destinations", annotations: reads },
  svc_get_destination: { does: "GET /destinations/{destination_id}", annotations: reads },
  svc_check_destination: { does: "POST /destinations/{destination_id}/check", annotations: asks },
  svc_apply_destination: {
    does: applies("/destinations", "destination_id"),
    annotations: { ...writes, openWorldHint: true },
    summary: "Create a destination, or change the one that is named",
  },
  svc_delete_destination: { does: "DELETE /destinations/{destination_id}", annotations: deletes },
  svc_prepare_pipeline: { does: "POST /pipelines/prepare", annotations: asks },
  svc_list_pipelines: { does: "GET /pipelines", annotations: reads },
  svc_get_pipeline: { does: "GET /pipelines/{pipeline_id}", annotations: reads },
  svc_list_pipeline_streams: { does: "GET /pipelines/{pipeline_id}/streams", annotations: reads },
  svc_apply_pipeline: {
    does: applies("/pipelines", "pipeline_id"),
    annotations: reachesOut,
    summary: "Create a pipeline, or change the one that is named",
  },
  svc_update_pipeline_streams: {
    does: "PATCH /pipelines/{pipeline_id}/streams",
    annotations: { ...changes, openWorldHint: true },
  },
  svc_pause_pipeline: { does: "POST /pipelines/{pipeline_id}/pause", annotations: changes },
  svc_resume_pipeline: { does: "POST /pipelines/{pipeline_id}/resume", annotations: changes },
  svc_get_rows_per_day: { does: "GET /rows-per-day", annotations: reads },
  svc_preview_schedule: { does: "POST /schedules/preview", annotations: reads },
  svc_run_sync: { does: "POST /pipelines/{pipeline_id}/sync", annotations: reachesOut },
  svc_clear_pipeline: {
    does: "POST /pipelines/{pipeline_id}/clear",
    annotations: { ...deletes, openWorldHint: true },
  },
  svc_reset_pipeline: {
    does: "POST /pipelines/{pipeline_id}/reset",
    annotations: { ...deletes, openWorldHint: true },
  },
  svc_list_connections: { does: "GET /connections", annotations: reads },
  svc_get_connection: { does: "GET /connections/{connection_id}", annotations: reads },
  svc_delete_connection: { does: "DELETE /connections/{connection_id}", annotations: deletes },
  svc_list_jobs: { does: "GET /jobs", annotations: reads },
  svc_get_job: { does: "GET /jobs/{job_id}", annotations: reads },
  svc_get_job_logs: { does: "GET /jobs/{job_id}/logs", annotations: reads },
  svc_cancel_job: { does: "POST /jobs/{job_id}/cancel", annotations: changes },
  svc_prepare_reverse_etl_activation: { does: "POST /reverse-etl/prepare", annotations: asks },
  svc_preview_reverse_etl_model: {
    does: "POST /reverse-etl/models/preview",
    annotations: asks,
  },
  svc_list_reverse_etl_models: { does: "GET /reverse-etl/models", annotations: reads },
  svc_get_reverse_etl_model: { does: "GET /reverse-etl/models/{modelId}", annotations: reads },
  svc_apply_reverse_etl_model: {
    does: applies("/reverse-etl/models", "modelId"),
    annotations: writes,
    summary: "Create a reverse ETL model, or change the one that is named",
  },
  svc_delete_reverse_etl_model: {
    does: "DELETE /reverse-etl/models/{modelId}",
    annotations: deletes,
  },
  svc_list_reverse_etl_destinations: { does: "GET /reverse-etl/destinations", annotations: reads },
  svc_get_reverse_etl_destination: {
    does: "GET /reverse-etl/destinations/{destinationId}",
    annotations: reads,
  },
  svc_apply_reverse_etl_destination: {
    does: applies("/reverse-etl/destinations", "destinationId"),
    annotations: writes,
    summary: "Create a reverse ETL destination, or change the one that is named",
  },
  svc_delete_reverse_etl_destination: {
    does: "DELETE /reverse-etl/destinations/{destinationId}",
    annotations: deletes,
  },
  svc_list_reverse_etl_activations: { does: "GET /reverse-etl/activations", annotations: reads },
  svc_get_reverse_etl_activation: {
    does: "GET /reverse-etl/activations/{activationId}",
    annotations: reads,
  },
  svc_apply_reverse_etl_activation: {
    does: applies("/reverse-etl/activations", "activationId"),
    annotations: writes,
    summary: "Create a reverse ETL activation, or change the one that is named",
  },
  svc_delete_reverse_etl_activation: {
    does: "DELETE /reverse-etl/activations/{activationId}",
    annotations: deletes,
  },
  svc_run_reverse_etl_activation: {
    does: "POST /reverse-etl/activations/{activationId}/run",
    annotations: reachesOut,
  },
  svc_list_reverse_etl_runs: { does: "GET /reverse-etl/runs", annotations: reads },
  svc_get_reverse_etl_run: { does: "GET /reverse-etl/runs/{runId}", annotations: reads },
  svc_list_reverse_etl_failed_rows: {
    does: "GET /reverse-etl/runs/{runId}/failed-rows",
    annotations: reads,
  },
  svc_cancel_reverse_etl_run: {
    does: "POST /reverse-etl/runs/{runId}/cancel",
    annotations: changes,
  },
  svc_list_approvals: { does: "GET /approvals", annotations: reads },
  svc_get_approval: { does: "GET /approvals/{approval_id}", annotations: reads },
  svc_get_approval_changes: {
    does: "GET /approvals/{approval_id}/changes",
    annotations: reads,
  },
  svc_approve_change: {
    does: "POST /approvals/{approval_id}/approve",
    annotations: reads,
    summary: "Say where a person approves a proposal",
    description:
      "Approves nothing, whatever the token may: it always answers with the error agent_cannot_approve, whose details.review holds the method and the path with which a person can.",
  },
  svc_reject_change: { does: "POST /approvals/{approval_id}/reject", annotations: deletes },
  svc_withdraw_change: { does: "POST /approvals/{approval_id}/cancel", annotations: deletes },
  svc_list_approval_policies: { does: "GET /approval-policies", annotations: reads },
  svc_list_events: { does: "GET /events", annotations: reads },
  svc_get_event: { does: "GET /events/{event_id}", annotations: reads },
  svc_list_audit_logs: { does: "GET /audit-logs", annotations: reads },
};

/** A name and what is behind it. */
export interface NamedTool {
  readonly name: string;
  readonly summary: string;
  /** In place of the operation's own. */
  readonly description?: string | undefined;
  readonly annotations: Annotations;
  readonly only?: readonly string[] | undefined;
  /**
   * The operation; or the one that creates, with the one that changes when an argument of this name
   * is there.
   */
  readonly operation: Operation;
  readonly change?: { readonly argument: string; readonly operation: Operation };
}

/** The tools that these operations allow, in one order always. */
export function nameTools(operations: readonly Operation[]): NamedTool[] {
  const find = (route: string) => operations.find((operation) => routeOf(operation) === route);
  return Object.entries(entries).flatMap(([name, { does, summary, ...entry }]): NamedTool[] => {
    const operation = find(typeof does === "string" ? does : does.create);
    if (!operation) return [];
    const tool = { name, summary: summary ?? operation.summary, operation, ...entry };
    if (typeof does === "string") return [tool];
    const change = find(does.change);
    return change ? [{ ...tool, change: { argument: does.id, operation: change } }] : [];
  });
}

/** The route of an operation, as the entries name it. */
export const routeOf = ({ method, path }: Operation): string => `${method} ${path}`;
