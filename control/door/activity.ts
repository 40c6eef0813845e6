import type { Caller } from "../contract/operation.ts";
import type { Db } from "../store/database.ts";
import { seenEveryMs } from "./authenticate.ts";

/** Notes that a member has been active in the workspace; at most once a minute. */
export async function noteActivity(
  db: Db,
  { user, memberships }: Caller,
  workspaceId: string,
  now: Date,
) {
  const last = memberships.find((one) => one.workspaceId === workspaceId)?.lastActiveAt;
  if (last === undefined || (last !== null && now.getTime() - last.getTime() < seenEveryMs)) return;
  await db
    .updateTable("memberships")
    .set({ last_active_at: now })
    .where("workspace_id", "=", workspaceId)
    .where("user_id", "=", user.id)
    .execute();
}
