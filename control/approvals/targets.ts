import { sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";

/**
 * Which table the id in a path belongs to. What belongs to another one stands after it: of a path
 * with both, it is meant. The order of the parameters says nothing: a proposal is kept as jsonb,
 * which has its own.
 */
const tables: Readonly<Record<string, string>> = {
  credential_id: "credentials",
  source_id: "sources",
  destination_id: "destinations",
  pipeline_id: "pipelines",
  connection_id: "connections",
  job_id: "jobs",
  modelId: "reverse_etl_models",
  destinationId: "reverse_etl_destinations",
  activationId: "reverse_etl_activations",
  runId: "reverse_etl_runs",
  member_id: "memberships",
  invitation_id: "invitations",
  approval_id: "approvals",
  webhook_endpoint_id: "webhook_endpoints",
  delivery_id: "event_deliveries",
};

/** The parameter that names the row that a path acts on. */
const targetParam = (params: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(tables).findLast((name) => name in params);

/** The table of the row that a path acts on; undefined when it names no row of the workspace. */
export const tableOf = (params: Readonly<Record<string, string>>): string | undefined =>
  tables[targetParam(params) ?? ""];

/** The resource that a request acts on. */
export interface ProposalTarget {
  readonly id: string;
  /** Null: it has none. */
  readonly version: number | null;
}

/**
 * The row that the path names, with its version; undefined when the path names none.
 * @param lock keeps it as it is until the transaction ends
 * @throws not_found
 */
export async function findTarget(
  db: Db,
  workspaceId: string,
  params: Readonly<Record<string, string>>,
  { lock = false } = {},
): Promise<ProposalTarget | undefined> {
  const id = params[targetParam(params) ?? ""];
  const table = tableOf(params);
  if (table === undefined || id === undefined) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    SELECT (to_jsonb(target) -> 'version')::integer AS version FROM ${sql.table(table)} AS target
    WHERE id = ${id} AND workspace_id = ${workspaceId} ${lock ? sql`FOR UPDATE` : sql``}`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new ControlError("not_found");
  return { id, version: row.version };
}
