import { sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";

/**
 * Refuses a workspace in which people have made anything that is still there, or to which anybody
 * else belongs.
 * @throws workspace_not_empty naming what there is, and how many
 */
export async function requireEmpty(
  db: Db,
  { workspaceId, userId, now }: { workspaceId: string; userId: string; now: Date },
): Promise<void> {
  const contents = {
    sources: sql`true`,
    destinations: sql`true`,
    connections: sql`true`,
    reverse_etl_models: sql`true`,
    reverse_etl_destinations: sql`true`,
    reverse_etl_activations: sql`true`,
    webhook_endpoints: sql`true`,
    credentials: sql`status <> 'revoked'`,
    approvals: sql`status IN ('pending', 'approved', 'executing')`,
    invitations: sql`status = 'pending' AND expires_at > ${now}`,
    memberships: sql`user_id <> ${userId}`,
  };
  const left: Record<string, number> = {};
  for (const [table, condition] of Object.entries(contents)) {
    const { rows } = await sql<{ count: string }>`SELECT count(*) AS count FROM ${sql.table(table)}
      WHERE workspace_id = ${workspaceId} AND ${condition}`.execute(db);
    const count = Number(rows[0]?.count ?? 0);
    if (count > 0) left[table] = count;
  }
  if (Object.keys(left).length > 0) throw new ControlError("workspace_not_empty", { left });
}
