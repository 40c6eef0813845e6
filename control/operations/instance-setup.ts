/**
 * Setting an instance up: its first workspace, further ones, and the connectors that may be used.
 * Only its operator asks for these.
 */
import { suggestion } from "svc-connectors/host";
import { Type } from "typebox";
import { defineOperatorWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Id, Nullable, StrictObject } from "../contract/schemas.ts";
import { appendAudit, toEntry } from "../door/audit.ts";
import { createSession } from "../members/sessions.ts";
import {
  addMember,
  createUser,
  createWorkspace,
  findAdministrator,
  freeSlug,
  lockWorkspaces,
} from "../members/workspaces.ts";
import { createToken } from "./instance-tokens.ts";

export const MadeWorkspace = StrictObject({
  workspace_id: Id("workspace"),
  name: Type.String(),
  slug: Type.String(),
  admin: Type.String({ description: "E-mail address of its administrator." }),
});

export const addWorkspace = defineOperatorWrite({
  id: "workspace.create",
  area: "Workspaces",
  summary: "Create a workspace",
  description: "The first administrator of the instance is its administrator.",
  resource: "workspace",
  body: StrictObject({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
  data: MadeWorkspace,
  errors: ["not_found"],
  async commit(tx, { now }, { body: { name } }) {
    await lockWorkspaces(tx);
    const slug = await freeSlug(tx, name);
    const id = await createWorkspace(tx, { name, slug }, now);
    const { id: userId, email } = await findAdministrator(tx);
    await addMember(tx, { workspaceId: id, userId, role: "admin" }, now);
    return {
      data: { workspace_id: id, name, slug, admin: email },
      resourceId: id,
      workspaceIds: [id],
    };
  },
});

/** Who the first token belongs to. No mail is ever sent there. */
export const firstUser = { email: "admin@localhost", name: "Administrator" };

export const FirstToken = StrictObject({
  token: Nullable(Type.String({ description: "Here and nowhere else; null: there was one." })),
});

export const bootstrapInstance = defineOperatorWrite({
  id: "instance.bootstrap",
  area: "Workspaces",
  summary: "Make what a new instance needs to be used at all",
  description:
    "A workspace, an administrator, and a token for them. Nothing, when there is a workspace already. Servers that start together make one.",
  resource: "workspace",
  isRepeatable: true,
  data: FirstToken,
  errors: [],
  async commit(tx, { now, caller, requestId }) {
    await lockWorkspaces(tx);
    const before = await tx.selectFrom("workspaces").select("id").limit(1).executeTakeFirst();
    if (before) return { data: { token: null }, resourceId: before.id };
    const workspaceId = await createWorkspace(tx, { name: "Default", slug: "default" }, now);
    const userId = await createUser(tx, firstUser, now);
    await addMember(tx, { workspaceId, userId, role: "admin" }, now);
    const { sessionId, token } = await createSession(
      tx,
      { userId, client: "api", name: "bootstrap" },
      now,
    );
    // In the log it is what it amounts to: a workspace and a token.
    for (const [operation, resource_id] of [
      [addWorkspace, workspaceId],
      [createToken, sessionId],
    ] as const) {
      const result = { outcome: "success", resource_id, summary: operation.summary } as const;
      await appendAudit(tx, toEntry(operation, { caller, workspaceId, requestId, now }, result));
    }
    return { data: { token }, resourceId: workspaceId };
  },
});

export const ConnectorSetting = StrictObject({
  connector_id: Type.String(),
  enabled: Type.Boolean(),
});

export const setConnector = defineOperatorWrite({
  id: "connector.set",
  area: "Connectors",
  summary: "Say whether new sources may use a connector",
  description: "What exists of it stays as it is.",
  resource: "connector",
  isRepeatable: true,
  body: StrictObject({
    connector: Type.String({ description: "Id, name or alias." }),
    enabled: Type.Boolean(),
  }),
  data: ConnectorSetting,
  errors: ["not_found"],
  async commit(tx, { services, now }, { body: { connector, enabled } }) {
    const all = services.connectors.list();
    const wanted = connector.toLowerCase();
    const found = all.find(({ id, name, aliases }) => [id, name, ...aliases].includes(wanted));
    if (!found) {
      const names = all.flatMap(({ id, name }) => [name, id]);
      const remedy = suggestion(connector, names) || undefined;
      throw new ControlError("not_found", { resource: "connector", suggestion: remedy });
    }
    await tx
      .insertInto("connector_settings")
      .values({ connector_id: found.id, enabled, updated_at: now })
      .onConflict((conflict) =>
        conflict.column("connector_id").doUpdateSet({ enabled, updated_at: now }),
      )
      .execute();
    return { data: { connector_id: found.id, enabled }, resourceId: found.id };
  },
});

export const setupOperations = [addWorkspace, bootstrapInstance, setConnector];
