import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { databaseRows } from "../../tests/database-text.ts";
import { createSession } from "../members/sessions.ts";
import { addMember } from "../members/workspaces.ts";

describe("an access token that is made over the API", () => {
  let api: TestControl;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const now = () => new Date(api.control.services.clock.now());
  const create = (body: object = {}, options = {}) =>
    api.call("POST", "/sessions", {
      body: { name: "nightly load", role: "editor", ...body },
      ...options,
    });
  const me = (token: string) => api.call("GET", "/me", { token });

  test("works in its workspace alone, with the role it was made for, and is listed without it", async () => {
    const userId = api.first.users.admin;
    await addMember(api.db, { workspaceId: api.second.id, userId, role: "admin" }, now());
    const { status, body } = await create(
      { expires_in_days: 30 },
      {
        headers: { "x-svc-workspace-id": api.first.id },
      },
    );
    await api.db
      .deleteFrom("memberships")
      .where("workspace_id", "=", api.second.id)
      .where("user_id", "=", userId)
      .execute();
    expect(status).toBe(201);
    const { token, ...session } = body.data;
    expect(session).toMatchObject({
      user_id: userId,
      workspace_id: api.first.id,
      role: "editor",
      client: "api",
      name: "nightly load",
      status: "active",
    });
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(30 * 86_400_000);
    expect((await me(token)).body.data).toMatchObject({
      scopes: ["control:read", "control:write"],
      memberships: [{ workspace_id: api.first.id, role: "editor" }],
    });
    const { items } = (await api.call("GET", "/sessions")).body.data;
    expect(
      items.find((one: { session_id: string }) => one.session_id === session.session_id),
    ).toEqual(session);
    const revoked = await api.call("POST", `/sessions/${session.session_id}/revoke`);
    expect([revoked.status, (await me(token)).status]).toEqual([200, 401]);
  });

  test("outlives the one with which it was made, and is revoked with it, and so are those made with it", async () => {
    const userId = api.first.users.admin;
    const stolen = await createSession(api.db, { userId, client: "cli" }, now());
    const long = { role: "admin", expires_in_days: 365 };
    const child = (await create(long, { token: stolen.token })).body.data;
    const grandchild = (await create(long, { token: child.token })).body.data;
    const other = (await create(long)).body.data;
    expect([child.made_by_session_id, grandchild.made_by_session_id]).toEqual([
      stolen.sessionId,
      child.session_id,
    ]);
    await api.db
      .updateTable("sessions")
      .set({ expires_at: now() })
      .where("id", "=", stolen.sessionId)
      .execute();
    expect((await me(child.token)).status).toBe(200);
    const revoke = () => api.call("POST", `/sessions/${stolen.sessionId}/revoke`);
    const { body } = await revoke();
    expect(body.data.made_with_it).toEqual([child.session_id, grandchild.session_id]);
    expect((await revoke()).body.data.made_with_it).toEqual([]);
    const statuses = [child, grandchild, other].map(async ({ token }) => (await me(token)).status);
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
  });

  test("is not made by a session that is being revoked", async () => {
    const userId = api.first.users.admin;
    const maker = await createSession(api.db, { userId, client: "cli" }, now());
    const answers = await Promise.all([
      create({ role: "admin" }, { token: maker.token }),
      api.call("POST", `/sessions/${maker.sessionId}/revoke`),
      create({ role: "admin" }, { token: maker.token }),
    ]);
    const alive = await api.db
      .selectFrom("sessions")
      .select("id")
      .where("made_by_session_id", "=", maker.sessionId)
      .where("revoked_at", "is", null)
      .execute();
    expect([answers[1]?.status, alive]).toEqual([200, []]);
  });

  test("is nowhere in the database, also when it was asked for with an Idempotency-Key or a proposal", async () => {
    const headers = { "idempotency-key": "token-once" };
    const first = await create({}, { headers });
    const again = await create({}, { headers });
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    expect(again.body.data).toEqual({ ...first.body.data, token: null });
    const proposal = await create({}, { headers: { "x-svc-execution-mode": "proposal" } });
    const { body } = await api.call("POST", `/approvals/${proposal.body.data.approval_id}/approve`);
    expect(body.data).toMatchObject({ status: "executed", result: { token: null } });
    const rows = JSON.stringify(await databaseRows(api.db));
    expect(rows).not.toContain(first.body.data.token);
    expect(rows).not.toContain("svc_at_");
  });

  test("never has more rights than who makes it", async () => {
    const userId = api.first.users.admin;
    const few = { userId, client: "api", scopes: ["control:read", "control:admin"] } as const;
    const { token } = await createSession(api.db, few, now());
    const { body } = await create({ role: "admin" }, { token });
    expect((await me(body.data.token)).body.data.scopes).toEqual(["control:read", "control:admin"]);
    // The person loses the role: so does every token.
    const { token: own } = (await create({ role: "admin" })).body.data;
    const role = (role: "admin" | "viewer") =>
      api.db
        .updateTable("memberships")
        .set({ role })
        .where("workspace_id", "=", api.first.id)
        .where("user_id", "=", userId)
        .execute();
    await role("viewer");
    expect((await me(own)).body.data.memberships).toEqual([
      { workspace_id: api.first.id, role: "viewer" },
    ]);
    expect((await create({ role: "viewer" }, { token: own })).status).toBe(403);
    await role("admin");
  });

  test("is made by administrators only, and never by an agent", async () => {
    for (const token of [
      api.first.tokens.editor,
      api.first.tokens.runner,
      api.first.tokens.viewer,
      api.first.tokens.agent,
    ])
      expect((await create({ role: "viewer" }, { token })).status).toBe(403);
    const agent = { userId: api.first.users.admin, client: "mcp" } as const;
    const { token } = await createSession(api.db, agent, now());
    expect((await create({ role: "viewer" }, { token })).status).toBe(403);
    expect((await create({}, { headers: { "x-svc-client": "mcp" } })).status).toBe(403);
  });

  test("leaves an audit entry that names it", async () => {
    const { session_id } = (await create()).body.data;
    const { items } = (await api.call("GET", `/audit-logs?resource_id=${session_id}`)).body.data;
    expect(items).toMatchObject([{ action: "session.create", outcome: "success" }]);
  });

  test.each([
    [{ expires_in_days: 366 }, "expires_in_days"],
    [{ expires_in_days: 0 }, "expires_in_days"],
    [{ role: "owner" }, "role"],
    [{ name: "" }, "name"],
  ])("is refused with %j, naming the place", async (body, path) => {
    const answer = await create(body);
    expect([answer.status, answer.body.details.errors[0].path]).toEqual([422, path]);
  });
});
