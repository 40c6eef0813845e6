import { type RawBuilder, sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

interface Leaving {
  readonly workspaceId: string;
  /** Who deletes the workspace. */
  readonly userId: string;
  readonly now: Date;
}

const every = () => sql<boolean>`true`;

/** The tables of things that people have made, and which rows of them are still there. */
export const workspaceContents = {
  sources: every,
  destinations: every,
  connections: every,
  reverse_etl_models: every,
  reverse_etl_destinations: every,
  reverse_etl_activations: every,
  webhook_endpoints: every,
  credentials: () => sql<boolean>`status <> 'revoked'`,
  approvals: () => sql<boolean>`status IN ('pending', 'approved', 'executing')`,
  invitations: ({ now }) => sql<boolean>`status = 'pending' AND expires_at > ${now}`,
  memberships: ({ userId }) => sql<boolean>`user_id <> ${userId}`,
} as const satisfies Partial<Record<keyof Tables, (leaving: Leaving) => RawBuilder<boolean>>>;

/**
 * Refuses a workspace in which people have made anything that is still there, or to which anybody
 * else belongs.
 * @throws workspace_not_empty naming what there is, and how many
 */
export async function requireEmpty(db: Db, leaving: Leaving): Promise<void> {
  const left: Record<string, number> = {};
  for (const [table, condition] of Object.entries(workspaceContents)) {
    const { rows } = await sql<{ count: string }>`SELECT count(*) AS count FROM ${sql.table(table)}
      WHERE workspace_id = ${leaving.workspaceId} AND ${condition(leaving)}`.execute(db);
    const count = Number(rows[0]?.count ?? 0);
    if (count > 0) left[table] = count;
  }
  if (Object.keys(left).length > 0) throw new ControlError("workspace_not_empty", { left });
}
