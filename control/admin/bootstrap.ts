import { createSession } from "../sessions.ts";
import { addMember, createUser, createWorkspace } from "../workspaces.ts";
import type { AdminContext } from "./actions.ts";
import { auditOperator } from "./audit.ts";

/** Who the first token belongs to. No mail is ever sent there. */
export const firstUser = { email: "admin@localhost", name: "Administrator" };

/**
 * What a new instance needs to be used at all: a workspace, an administrator, and a token for them,
 * which is in the result and nowhere else. Undefined when there is a workspace already. Servers
 * that start together make one.
 */
export async function bootstrap({
  services: { database, clock },
}: AdminContext): Promise<string | undefined> {
  const now = new Date(clock.now());
  return database.exclusively("bootstrap", () =>
    database.db.transaction().execute(async (tx) => {
      if (await tx.selectFrom("workspaces").select("id").limit(1).executeTakeFirst())
        return undefined;
      const workspaceId = await createWorkspace(tx, { name: "Default", slug: "default" }, now);
      const userId = await createUser(tx, firstUser, now);
      await addMember(tx, { workspaceId, userId, role: "admin" }, now);
      const { sessionId, token } = await createSession(
        tx,
        { userId, client: "api", name: "bootstrap" },
        now,
      );
      const entry = {
        action: "workspace.create",
        type: "workspace",
        id: workspaceId,
        summary: "Create a workspace",
      };
      await auditOperator(tx, workspaceId, now, entry);
      await auditOperator(tx, workspaceId, now, {
        action: "session.create",
        type: "session",
        id: sessionId,
        summary: "Create an access token",
      });
      return token;
    }),
  );
}
