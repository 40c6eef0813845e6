import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl, type TestWorkspace } from "../../tests/control.ts";
import { createSession } from "../members/sessions.ts";
import { addMember, createUser } from "../members/workspaces.ts";
import type { Role } from "../store/tables.ts";
import { createInvitation } from "./invitations.ts";

interface Item {
  readonly member_id: string;
  readonly user_id: string;
  readonly email: string;
  readonly role: Role;
  readonly status: string;
  readonly version: number;
  readonly last_active_at: string | null;
}

describe("members", () => {
  let api: TestControl;
  let workspace: TestWorkspace;

  beforeAll(async () => {
    api = await startTestControl();
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    workspace = await api.addWorkspace("team");
  });

  const call: TestControl["call"] = (method, path, options = {}) =>
    api.call(method, `/workspaces/${workspace.id}/members${path}`, {
      token: workspace.tokens.admin,
      ...options,
    });
  const list = async (query = ""): Promise<Item[]> => (await call("GET", query)).body.data.items;
  const memberOf = async (role: Role): Promise<Item> => {
    const found = (await list()).find(({ user_id }) => user_id === workspace.users[role]);
    if (!found) throw new Error(`there is no ${role}`);
    return found;
  };
  const now = () => new Date(api.control.services.clock.now());
  /** One more administrator, with a token. */
  const addAdmin = async () => {
    const userId = await createUser(
      api.db,
      { email: `${Math.random()}@example.com`, name: "Another" },
      now(),
    );
    const memberId = await addMember(
      api.db,
      { workspaceId: workspace.id, userId, role: "admin" },
      now(),
    );
    return {
      userId,
      memberId,
      token: (await createSession(api.db, { userId, client: "cli" }, now())).token,
    };
  };

  test("are seen by every member, newest first and in pages", async () => {
    const all = await list();
    expect(all.map(({ role }) => role).sort()).toEqual(["admin", "editor", "runner", "viewer"]);
    const first = (await call("GET", "?limit=3", { token: workspace.tokens.viewer })).body.data;
    const second = (await call("GET", `?limit=3&cursor=${first.next_cursor}`)).body.data;
    expect([...first.items, ...second.items].map(({ member_id }) => member_id)).toEqual(
      all.map(({ member_id }) => member_id),
    );
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    expect(await list("?role=runner")).toMatchObject([
      { role: "runner", status: "active", version: 1 },
    ]);
    expect(await list("?status=suspended")).toEqual([]);
    expect(
      (await call("GET", `?role=runner&cursor=${first.next_cursor}`)).body.details.reason,
    ).toBe("invalid_cursor");
  });

  test("and those who are invited, for administrators that ask", async () => {
    const invitation = { body: { email: "new@example.com", role: "viewer" } };
    const { invitation_id } = (await call("POST", "/invitations", invitation)).body.data;
    expect(await list()).toHaveLength(4);
    const invited = {
      member_id: null,
      user_id: null,
      invitation_id,
      name: null,
      joined_at: null,
      status: "invited",
    };
    expect((await list("?include=invitations"))[0]).toMatchObject(invited);
    expect(await list("?include=invitations")).toHaveLength(5);
    expect(await list("?status=invited")).toMatchObject([invited]);
    expect(await list("?include=invitations&role=viewer")).toHaveLength(2);
    for (const query of ["?include=invitations", "?status=invited"])
      expect((await call("GET", query, { token: workspace.tokens.editor })).status).toBe(403);
    await call("POST", `/invitations/${invitation_id}/revoke`);
    expect(await list("?include=invitations")).toHaveLength(4);
  });

  test("show when they were last active here", async () => {
    expect(await memberOf("runner")).toMatchObject({ last_active_at: null });
    await call("GET", "", { token: workspace.tokens.runner });
    const { last_active_at } = await memberOf("runner");
    expect(Math.abs(Date.parse(last_active_at ?? "") - now().getTime())).toBeLessThan(60_000);
  });

  test("get another role, which counts at once", async () => {
    const { member_id } = await memberOf("viewer");
    const changed = await call("PATCH", `/${member_id}`, { body: { role: "admin" } });
    expect(changed.body.data).toMatchObject({ member_id, role: "admin", version: 2 });
    expect(changed.headers.etag).toBe('"v2"');
    const token = workspace.tokens.viewer;
    expect((await call("GET", "/invitations", { token })).status).toBe(200);
    const stale = await call("PATCH", `/${member_id}`, {
      body: { role: "viewer" },
      headers: { "if-match": '"v1"' },
    });
    expect(stale.status).toBe(412);
    await call("PATCH", `/${member_id}`, {
      body: { role: "viewer" },
      headers: { "if-match": '"v2"' },
    });
    expect((await call("GET", "/invitations", { token })).status).toBe(403);
  });

  test("who is removed loses the sessions that have nowhere else to go", async () => {
    const { member_id, user_id } = await memberOf("editor");
    const narrow = { userId: user_id, workspaceId: workspace.id, client: "cli" } as const;
    const { token: bound } = await createSession(api.db, narrow, now());
    // Where they are a member too; their other sessions stay for it.
    await addMember(api.db, { workspaceId: api.second.id, userId: user_id, role: "viewer" }, now());
    const removed = await call("DELETE", `/${member_id}`);
    expect(removed.body.data).toEqual({ member_id, removed: true, revoked_sessions: 1 });
    expect((await api.call("GET", "/sources", { token: bound })).status).toBe(401);
    expect((await api.call("GET", "/sources", { token: workspace.tokens.editor })).status).toBe(
      200,
    );
    expect((await call("GET", "", { token: workspace.tokens.editor })).status).toBe(404);
    expect((await call("DELETE", `/${member_id}`)).status).toBe(404);

    const viewer = await memberOf("viewer");
    expect((await call("DELETE", `/${viewer.member_id}`)).body.data.revoked_sessions).toBe(1);
    expect((await api.call("GET", "/sources", { token: workspace.tokens.viewer })).status).toBe(
      401,
    );
  });

  test("what who is removed has stored stays", async () => {
    const { member_id } = await memberOf("editor");
    const row = {
      id: `cred_${"0".repeat(22)}`,
      handle: `ch_${"0".repeat(36)}`,
      workspace_id: workspace.id,
      connector_id: "conn_mailer_product_edm",
      name: "token",
      auth_type: "api_key",
      status: "active",
      metadata: "{}",
      base_url: null,
      secret_fields: "[]",
      fingerprint: "x",
      granted_scopes: "[]",
      expires_at: null,
      last_verified_at: null,
      last_error: null,
      created_at: now(),
      updated_at: now(),
    } as const;
    await api.db.insertInto("credentials").values(row).execute();
    await call("DELETE", `/${member_id}`);
    const kept = await api.db
      .selectFrom("credentials")
      .select("status")
      .where("id", "=", row.id)
      .execute();
    expect(kept).toEqual([{ status: "active" }]);
  });

  test("the last administrator stays one", async () => {
    const { member_id } = await memberOf("admin");
    for (const answer of [
      await call("DELETE", `/${member_id}`),
      await call("PATCH", `/${member_id}`, { body: { role: "editor" } }),
    ])
      expect(answer.body).toMatchObject({ code: "409", details: { reason: "last_admin" } });
    expect((await call("PATCH", `/${member_id}`, { body: { role: "admin" } })).status).toBe(200);
    const another = await addAdmin();
    expect((await call("DELETE", `/${member_id}`, { token: another.token })).status).toBe(200);
    const entries = await api.db
      .selectFrom("audit_logs")
      .select("outcome")
      .where("resource_id", "=", member_id)
      .execute();
    expect(entries.map(({ outcome }) => outcome).sort()).toEqual([
      "failure",
      "failure",
      "success",
      "success",
    ]);
  });

  test("of two administrators who remove each other at the same moment one is left", async () => {
    const mine = await memberOf("admin");
    const another = await addAdmin();
    const answers = await Promise.all([
      call("DELETE", `/${another.memberId}`),
      call("DELETE", `/${mine.member_id}`, { token: another.token }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const left = api.db
      .selectFrom("memberships")
      .selectAll()
      .where("workspace_id", "=", workspace.id);
    expect(await left.where("role", "=", "admin").execute()).toHaveLength(1);
  });

  test("are changed by administrators alone, and those of another workspace do not exist", async () => {
    const { member_id } = await memberOf("viewer");
    for (const role of ["viewer", "runner", "editor", "agent"] as const) {
      const token = workspace.tokens[role];
      expect((await call("DELETE", `/${member_id}`, { token })).body).toMatchObject({
        code: "403",
        message: "permission denied",
      });
      expect(
        (await call("PATCH", `/${member_id}`, { token, body: { role: "admin" } })).status,
      ).toBe(403);
    }
    const token = api.second.tokens.admin;
    const foreign = await api.call("DELETE", `/workspaces/${api.second.id}/members/${member_id}`, {
      token,
    });
    const unknown = await api.call(
      "DELETE",
      `/workspaces/${api.second.id}/members/mem_0000000000000000000000`,
      {
        token,
      },
    );
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
    expect((await call("DELETE", `/${member_id}`, { token })).status).toBe(404);
    expect((await memberOf("viewer")).role).toBe("viewer");
  });

  test("nobody gives more than they have", async () => {
    const { services } = api.control;
    const caller = { memberships: [{ workspaceId: workspace.id, role: "editor" }] };
    const ctx = { services, db: api.db, workspaceId: workspace.id, now: now(), caller };
    const body = { email: "new@example.com", role: "admin" };
    const guard = (role: string) =>
      "guard" in createInvitation
        ? createInvitation.guard?.(ctx as never, { body: { ...body, role } } as never)
        : undefined;
    await expect(guard("admin")).rejects.toMatchObject({ reason: "permission_denied" });
    await expect(guard("editor")).resolves.toBeUndefined();
  });
});
