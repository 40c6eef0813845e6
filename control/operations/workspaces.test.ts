import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addDestination } from "../../tests/control-rows.ts";
import { createSession } from "../members/sessions.ts";
import { workspaceContents } from "../members/workspace-contents.ts";
import { addMember } from "../members/workspaces.ts";

/** Rows that keep no workspace from being deleted, and why not. */
const kept = {
  approval_policies: "Settings, which say nothing without the workspace.",
  audit_anchors: "Of the log, which stays.",
  audit_heads: "Of the log, which stays.",
  audit_logs: "They stay.",
  catalogs: "Of sources.",
  credential_uses: "A log of credentials.",
  event_deliveries: "To endpoints, and to members.",
  event_facts: "They become events.",
  events: "What has happened, until retention takes it.",
  job_groups: "Of jobs that wait.",
  jobs: "Of connections and activations.",
  notification_settings: "Settings, which say nothing without members.",
  oauth_sessions: "They end within the hour, and can write nothing to a deleted workspace.",
  pipeline_rows: "Counts of days that were, until retention takes them.",
  pipelines: "Each has a connection.",
  reverse_etl_runs: "Of activations.",
  secrets: "Of credentials.",
  sessions: "They are revoked with it.",
};

describe("workspaces", () => {
  let api: TestControl;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const now = () => new Date(api.control.services.clock.now());
  const create = (name: string, options = {}) =>
    api.call("POST", "/workspaces", { body: { name }, ...options });
  const made = async (name = "Another") => (await create(name)).body.data.workspace_id as string;
  const reasonOf = ({ status, body }: { status: number; body: { details?: { reason: string } } }) =>
    [status, body.details?.reason] as const;
  const entries = async (workspaceId: string, action: string) =>
    await api.db
      .selectFrom("audit_logs")
      .select(["outcome", "resource_id"])
      .where("workspace_id", "=", workspaceId)
      .where("action", "=", action)
      .orderBy("index", "desc")
      .execute();

  test("one is read by its id by whoever belongs to it, and does not exist for others", async () => {
    const path = `/workspaces/${api.first.id}`;
    const { status, body, headers } = await api.call("GET", path, {
      token: api.first.tokens.viewer,
    });
    expect([status, headers.etag]).toEqual([200, '"v1"']);
    expect(body.data).toMatchObject({
      workspace_id: api.first.id,
      name: "first",
      role: "viewer",
      member_count: 4,
    });
    const [listed] = (await api.call("GET", "/workspaces")).body.data.items.filter(
      (one: { workspace_id: string }) => one.workspace_id === api.first.id,
    );
    expect({ ...body.data, role: "admin" }).toEqual(listed);
    const refused = await api.call("GET", path, { token: api.second.tokens.admin });
    expect(refused.status).toBe(404);
  });

  describe("are made", () => {
    test("by an administrator of the first one, who then administers the new one", async () => {
      const { status, body, headers } = await create("Acme GmbH");
      expect([status, headers.location]).toEqual([
        201,
        `/control/v1/workspaces/${body.data.workspace_id}`,
      ]);
      expect(body.data).toMatchObject({
        name: "Acme GmbH",
        slug: "acme-gmbh",
        role: "admin",
        member_count: 1,
        version: 1,
      });
      const { workspace_id } = body.data;
      expect((await api.call("GET", `/workspaces/${workspace_id}`)).body.data).toEqual(body.data);
      expect((await create("Acme GmbH")).body.data.slug).toBe("acme-gmbh-2");
      for (const log of [api.first.id, workspace_id])
        expect(await entries(log, "workspace.create")).toContainEqual({
          outcome: "success",
          resource_id: workspace_id,
        });
    });

    test("by nobody else: administrators of other workspaces, lesser roles, lesser tokens", async () => {
      const userId = api.first.users.admin;
      const limited = await createSession(api.db, { userId, client: "api", role: "editor" }, now());
      const elsewhere = await createSession(
        api.db,
        { userId, client: "api", workspaceId: await made() },
        now(),
      );
      for (const token of [
        api.second.tokens.admin,
        api.first.tokens.editor,
        api.first.tokens.viewer,
        limited.token,
        elsewhere.token,
      ])
        expect(reasonOf(await create("Nobody's", { token }))).toEqual([403, "permission_denied"]);
      expect(await entries(api.first.id, "workspace.create")).toContainEqual({
        outcome: "denied",
        resource_id: null,
      });
      const { body } = await api.call("GET", "/workspaces", { token: api.second.tokens.admin });
      expect(body.data.items).toHaveLength(1);
    });

    test("by an agent only as a proposal", async () => {
      const { token } = await createSession(
        api.db,
        { userId: api.first.users.admin, client: "mcp" },
        now(),
      );
      const proposed = await create("An agent's", { token });
      expect(proposed.status).toBe(202);
      const { approval_id } = proposed.body.data;
      const headers = { "x-svc-workspace-id": api.first.id };
      const approved = await api.call("POST", `/approvals/${approval_id}/approve`, { headers });
      const { workspace_id } = approved.body.data.result;
      for (const log of [api.first.id, workspace_id])
        expect(await entries(log, "workspace.create")).toContainEqual({
          outcome: "success",
          resource_id: workspace_id,
        });
    });
  });

  test("one is renamed by its own administrators, once per version, and keeps its slug", async () => {
    const id = await made("Before");
    const rename = (name: string, options = {}) =>
      api.call("PATCH", `/workspaces/${id}`, { body: { name }, ...options });
    const { status, body } = await rename("After", { headers: { "if-match": '"v1"' } });
    expect([status, body.data.name, body.data.slug, body.data.version]).toEqual([
      200,
      "After",
      "before",
      2,
    ]);
    expect(reasonOf(await rename("Late", { headers: { "if-match": '"v1"' } }))).toEqual([
      412,
      "version_mismatch",
    ]);
    await addMember(
      api.db,
      { workspaceId: id, userId: api.first.users.editor, role: "editor" },
      now(),
    );
    expect((await rename("Theirs", { token: api.first.tokens.editor })).status).toBe(403);
    expect((await rename("Theirs", { token: api.second.tokens.admin })).status).toBe(404);
  });

  describe("one is deleted", () => {
    const remove = (id: string, options = {}) => api.call("DELETE", `/workspaces/${id}`, options);

    test("when nothing is in it: nobody reaches it any more, and its audit log stays", async () => {
      const id = await made("Short");
      const { token } = await createSession(
        api.db,
        { userId: api.first.users.admin, client: "api", workspaceId: id },
        now(),
      );
      const { status, body } = await remove(id);
      expect([status, body.data]).toEqual([
        200,
        { workspace_id: id, deleted: true, deleted_at: expect.stringMatching(/Z$/) },
      ]);
      expect((await api.call("GET", `/workspaces/${id}`)).status).toBe(404);
      expect((await api.call("GET", "/me", { token })).status).toBe(401);
      expect((await remove(id)).status).toBe(404);
      for (const log of [api.first.id, id])
        expect(
          (await entries(log, "workspace.delete")).filter((one) => one.outcome === "success"),
        ).toContainEqual({
          outcome: "success",
          resource_id: id,
        });
    });

    test("not while it holds anything, which the refusal counts", async () => {
      const id = await made("Full");
      // Rows of the first workspace, put into this one.
      const { id: credential } = await addCredential(api);
      const destination = await addDestination(api);
      for (const [table, row] of [
        ["credentials", credential],
        ["destinations", destination],
      ] as const)
        await api.db.updateTable(table).set({ workspace_id: id }).where("id", "=", row).execute();
      await addMember(
        api.db,
        { workspaceId: id, userId: api.first.users.viewer, role: "viewer" },
        now(),
      );
      const endpoint = { name: "Ours", url: "https://hooks.example.com/svc" };
      const headers = { "x-svc-workspace-id": id };
      const response = await api.call("POST", "/webhook-endpoints", { body: endpoint, headers });
      expect(response.status).toBe(201);
      const { status, body } = await remove(id);
      expect([status, body.details]).toEqual([
        409,
        {
          reason: "workspace_not_empty",
          left: { credentials: 1, destinations: 1, memberships: 1, webhook_endpoints: 1 },
        },
      ]);
    });

    test("only after a look at each table that has rows of workspaces", async () => {
      const { rows } = await sql<{ name: string }>`
        SELECT table_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'workspace_id'`.execute(api.db);
      expect(rows.map(({ name }) => name).toSorted()).toEqual(
        [...Object.keys(workspaceContents), ...Object.keys(kept)].toSorted(),
      );
    });

    test("not when it is the first, and not by who administers only one of the two", async () => {
      expect(reasonOf(await remove(api.first.id))).toEqual([409, "workspace_administers_instance"]);
      expect((await remove(api.second.id)).status).toBe(404);
      expect((await remove(api.second.id, { token: api.second.tokens.admin })).status).toBe(403);
    });

    test("and what is written to it at that moment is not written", async () => {
      const id = await made("Racing");
      const invite = () =>
        api.call("POST", `/workspaces/${id}/members/invitations`, {
          body: { email: "late@example.com", role: "viewer" },
        });
      const answers = await Promise.all([invite(), remove(id), invite(), remove(id)]);
      const isGone = (await api.call("GET", `/workspaces/${id}`)).status === 404;
      const invitations = await api.db
        .selectFrom("invitations")
        .select("id")
        .where("workspace_id", "=", id)
        .execute();
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
      expect(isGone && invitations.length > 0).toBe(false);
    });
  });
});
