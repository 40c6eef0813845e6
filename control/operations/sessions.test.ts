import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl, type TestWorkspace } from "../../tests/control.ts";
import { createSession, lifetimeMs } from "../members/sessions.ts";
import type { Client, Role } from "../store/tables.ts";

interface Item {
  readonly session_id: string;
  readonly user_id: string;
  readonly status: string;
  readonly current: boolean;
}

describe("sessions", () => {
  let api: TestControl;
  let workspace: TestWorkspace;
  let offsetMs = 0;

  beforeAll(async () => {
    api = await startTestControl({
      clock: { now: () => Date.now() + offsetMs, sleep: () => Promise.resolve() },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    offsetMs = 0;
    workspace = await api.addWorkspace("team");
  });

  const call: TestControl["call"] = (method, path, options = {}) =>
    api.call(method, path, { token: workspace.tokens.admin, ...options });
  const list = async (query = "", token = workspace.tokens.admin): Promise<Item[]> =>
    (await call("GET", `/sessions${query}`, { token })).body.data.items;
  const now = () => new Date(api.control.services.clock.now());
  const start = (role: Role, client: Client = "cli", workspaceId = workspace.id) =>
    createSession(api.db, { userId: workspace.users[role], workspaceId, client }, now());

  test("of the workspace are seen by its administrators, by others their own", async () => {
    const all = await list();
    expect(all).toHaveLength(5);
    expect(all.filter(({ current }) => current)).toMatchObject([
      { user_id: workspace.users.admin, status: "active" },
    ]);
    const own = await list("", workspace.tokens.editor);
    expect(own).toHaveLength(2);
    expect(own.every(({ user_id }) => user_id === workspace.users.editor)).toBe(true);
    expect(await list(`?user_id=${workspace.users.viewer}`)).toHaveLength(1);
    expect(await list(`?user_id=${workspace.users.viewer}`, workspace.tokens.editor)).toEqual([]);
    expect(await list("?client=mcp")).toMatchObject([{ user_id: workspace.users.editor }]);
    const [first, second] = [await list("?limit=3"), await list("?limit=200")];
    expect(second.slice(0, 3).map(({ session_id }) => session_id)).toEqual(
      first.map(({ session_id }) => session_id),
    );
  });

  test("say nothing that could be used as their token", async () => {
    const answer = await call("GET", "/sessions");
    const rows = await api.db.selectFrom("sessions").select("token_hash").execute();
    for (const { token_hash } of rows)
      for (const encoding of ["hex", "base64"] as const)
        expect(answer.text).not.toContain(Buffer.from(token_hash).toString(encoding).slice(0, 12));
    expect(answer.text).not.toContain("svc_at_");
  });

  test("a token made from an administrator's for less sees its own person's alone", async () => {
    const userId = workspace.users.admin;
    const { token } = await createSession(api.db, { userId, client: "api", role: "editor" }, now());
    expect((await list("", token)).every(({ user_id }) => user_id === userId)).toBe(true);
    const [other] = await list(`?user_id=${workspace.users.viewer}`);
    expect((await call("POST", `/sessions/${other?.session_id}/revoke`, { token })).status).toBe(
      404,
    );
  });

  test("are revoked at once, and stay so", async () => {
    const { sessionId, token } = await start("viewer");
    expect((await call("GET", "/sessions", { token })).status).toBe(200);
    const revoked = await call("POST", `/sessions/${sessionId}/revoke`);
    expect(revoked.body.data).toMatchObject({ session_id: sessionId, status: "revoked" });
    expect((await call("GET", "/sessions", { token })).status).toBe(401);
    offsetMs += 5_000;
    const again = await call("POST", `/sessions/${sessionId}/revoke`);
    expect(again.body.data).toEqual(revoked.body.data);
    expect(await list("?status=revoked")).toMatchObject([
      { session_id: sessionId, status: "revoked" },
    ]);
    const mine = (await list("", workspace.tokens.viewer)).find(({ current }) => current);
    const own = await call("POST", `/sessions/${mine?.session_id}/revoke`, {
      token: workspace.tokens.viewer,
    });
    expect(own.status).toBe(200);
    expect((await call("GET", "/sessions", { token: workspace.tokens.viewer })).status).toBe(401);
  });

  test("expire after the time of their kind", async () => {
    const { sessionId, token } = await start("runner", "cli");
    offsetMs += lifetimeMs.cli - 1_000;
    expect((await call("GET", "/sessions", { token })).status).toBe(200);
    offsetMs += 1_000;
    expect((await call("GET", "/sessions", { token })).status).toBe(401);
    const expired = await list("?status=expired");
    expect(expired.map(({ session_id }) => session_id)).toContain(sessionId);
    expect((await list("?status=active")).map(({ session_id }) => session_id)).not.toContain(
      sessionId,
    );
  });

  test("of others, and of other workspaces, do not exist", async () => {
    const [ofAdmin] = await list(`?user_id=${workspace.users.admin}`);
    const [foreign] = (await api.call("GET", "/sessions", { token: api.second.tokens.admin })).body
      .data.items;
    const unknown = "ses_0000000000000000000000";
    const tries = [
      [ofAdmin?.session_id, workspace.tokens.editor],
      [foreign.session_id, workspace.tokens.admin],
      [unknown, workspace.tokens.admin],
    ];
    for (const [id, token] of tries) {
      const { status, body } = await call("POST", `/sessions/${id}/revoke`, token ? { token } : {});
      expect({ status, details: body.details }).toEqual({
        status: 404,
        details: { reason: "not_found", resource: "session" },
      });
    }
    expect((await api.call("GET", "/sessions", { token: api.second.tokens.admin })).status).toBe(
      200,
    );
  });

  test("made for another workspace do not show here", async () => {
    const before = (await list()).length;
    await api.db
      .insertInto("memberships")
      .values({
        id: `mem_${"1".repeat(22)}`,
        workspace_id: api.second.id,
        user_id: workspace.users.editor,
        role: "viewer",
        status: "active",
        joined_at: now(),
        last_active_at: null,
      })
      .execute();
    await start("editor", "cli", api.second.id);
    expect(await list()).toHaveLength(before);
  });
});
