import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl, type TestWorkspace } from "../../tests/control.ts";

const dayMs = 86_400_000;

interface Item {
  readonly audit_log_id: string;
  readonly occurred_at: string;
  readonly actor: { readonly type: string; readonly id: string; readonly display: string };
  readonly action: string;
  readonly outcome: string;
  readonly summary: string;
  readonly request_id: string;
  readonly resource_id: string | null;
  readonly client: string;
}

describe("the audit log", () => {
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
    workspace = await api.addWorkspace("audited");
  });

  const call: TestControl["call"] = (method, path, options = {}) =>
    api.call(method, path, { token: workspace.tokens.admin, ...options });
  const list = async (query = ""): Promise<Item[]> =>
    (await call("GET", `/audit-logs${query}`)).body.data.items;
  const invitations = () => `/workspaces/${workspace.id}/members/invitations`;
  const invite = (email: string, options: object = {}) =>
    call("POST", invitations(), { body: { email, role: "viewer" }, ...options });
  const at = (ms: number) => encodeURIComponent(new Date(Date.now() + offsetMs + ms).toISOString());

  test("tells who did what to what, and how it ended", async () => {
    const invited = await invite("new@example.com", { headers: { "user-agent": "a browser" } });
    const again = await invite("new@example.com", { headers: { "x-svc-client": "cli" } });
    const denied = await invite("new@example.com", { token: workspace.tokens.editor });
    const [third, second, first] = (await list()).sort((left, right) =>
      left.occurred_at < right.occurred_at ? 1 : -1,
    );
    expect(first).toEqual({
      audit_log_id: expect.stringMatching(/^aud_/),
      workspace_id: workspace.id,
      occurred_at: expect.any(String),
      actor: { type: "user", id: workspace.users.admin, display: expect.stringMatching(/^admin@/) },
      client: "api",
      action: "invitation.create",
      resource_type: "invitation",
      resource_id: invited.body.data.invitation_id,
      outcome: "success",
      summary: "Invite somebody",
      approval_id: null,
      request_id: invited.body.request_id,
      ip: "127.0.0.1",
      user_agent: "a browser",
    });
    expect(second).toMatchObject({
      outcome: "failure",
      client: "cli",
      request_id: again.body.request_id,
    });
    expect(second?.summary).toBe("Invite somebody: invitation_exists");
    expect(third).toMatchObject({ outcome: "denied", request_id: denied.body.request_id });
    expect(third?.actor.id).toBe(workspace.users.editor);
  });

  test("holds nothing of what a request carried", async () => {
    await invite("canary-mail@example.com");
    await invite("canary-mail@example.com");
    await invite("canary", {
      body: { email: "canary", role: "canary", message: "canary", canary: "canary" },
    });
    await call("POST", `${invitations()}/canary/revoke`);
    await call("DELETE", `/workspaces/${workspace.id}/members/mem_canary`);
    expect(await list()).toHaveLength(5);
    expect(JSON.stringify(await list())).not.toContain("canary");
  });

  test("is filtered, and read in pages", async () => {
    const { invitation_id: id } = (await invite("a@example.com")).body.data;
    await call("POST", `${invitations()}/${id}/revoke`);
    await invite("b@example.com", { token: workspace.tokens.agent });
    await call("POST", `${invitations()}/${id}/resend`);
    const outcomes = async (query: string) =>
      (await list(query)).map(({ action, outcome }) => `${action} ${outcome}`).sort();
    expect(await outcomes(`?actor_id=${workspace.users.editor}`)).toEqual([
      "invitation.create denied",
    ]);
    expect(await outcomes("?client=mcp")).toEqual(["invitation.create denied"]);
    expect(await outcomes("?action=invitation.create&outcome=success")).toEqual([
      "invitation.create success",
    ]);
    expect(await outcomes(`?resource_id=${id}`)).toEqual([
      "invitation.create success",
      "invitation.resend failure",
      "invitation.revoke success",
    ]);
    expect(await outcomes("?resource_type=member")).toEqual([]);
    const all = (await list()).map(({ audit_log_id }) => audit_log_id);
    const first = (await call("GET", "/audit-logs?limit=3")).body.data;
    const second = (await call("GET", `/audit-logs?limit=3&cursor=${first.next_cursor}`)).body.data;
    expect([...first.items, ...second.items].map(({ audit_log_id }) => audit_log_id)).toEqual(all);
    expect(
      (await call("GET", `/audit-logs?outcome=denied&cursor=${first.next_cursor}`)).status,
    ).toBe(400);
  });

  test("covers the latest 30 days, or up to 90 that are named", async () => {
    await invite("a@example.com");
    expect(await list()).toHaveLength(1);
    expect(await list(`?from=${at(1_000)}`)).toEqual([]);
    expect(await list(`?to=${at(-60_000)}`)).toEqual([]);
    offsetMs = 31 * dayMs;
    expect(await list()).toEqual([]);
    expect(await list(`?from=${at(-32 * dayMs)}`)).toHaveLength(1);
    expect(await list(`?to=${at(-2 * dayMs)}`)).toHaveLength(1);
    expect(await list(`?from=${at(-90 * dayMs)}&to=${at(0)}`)).toHaveLength(1);
    for (const query of [
      `?from=${at(-91 * dayMs)}`,
      `?from=${at(0)}&to=${at(-1_000)}`,
      "?from=yesterday",
      "?from=2026-01-01",
    ]) {
      const { status, body } = await call("GET", `/audit-logs${query}`);
      expect({ status, path: body.details.errors[0].path }).toEqual({ status: 400, path: "from" });
    }
  });

  test("is read by administrators, each of their own workspace", async () => {
    await invite("a@example.com");
    for (const role of ["viewer", "runner", "editor", "agent"] as const)
      expect((await call("GET", "/audit-logs", { token: workspace.tokens[role] })).status).toBe(
        403,
      );
    const foreign = await call("GET", "/audit-logs", { token: api.second.tokens.admin });
    expect(foreign.text).not.toContain(workspace.id);
    const named = await call("GET", `/audit-logs?workspace_id=${workspace.id}`, {
      token: api.second.tokens.admin,
    });
    expect(named.status).toBe(404);
  });

  test("has one entry of what was asked twice and done once", async () => {
    const headers = { "idempotency-key": "x" };
    const first = await invite("x@example.com", { headers });
    const repeated = await invite("x@example.com", { headers });
    expect(repeated.headers["idempotent-replayed"]).toBe("true");
    expect(await list()).toMatchObject([{ outcome: "success", request_id: first.body.request_id }]);
  });
});
