import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createSession } from "../members/sessions.ts";
import { addMember } from "../members/workspaces.ts";

describe("the current user", () => {
  let api: TestControl;
  /** A token of somebody who is an editor of the first workspace and a viewer of the second. */
  let both: string;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline", settings: { images: ["acme/*"] } });
    const now = new Date(api.control.services.clock.now());
    const userId = api.first.users.editor;
    await addMember(api.db, { workspaceId: api.second.id, userId, role: "viewer" }, now);
    both = (await createSession(api.db, { userId, client: "cli" }, now)).token;
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  test("is told who they are and where they may act", async () => {
    const { body } = await api.call("GET", "/me");
    expect(body.data).toMatchObject({
      user_id: api.first.users.admin,
      name: "admin of first",
      default_workspace_id: api.first.id,
      session: { client: "api" },
      memberships: [{ workspace_id: api.first.id, role: "admin" }],
    });
    expect(body.data.scopes).toContain("control:read");
    expect(Date.parse(body.data.session.expires_at)).toBeGreaterThan(
      api.control.services.clock.now(),
    );
    expect(Object.keys(body.data).sort()).toEqual(
      [
        "user_id",
        "email",
        "name",
        "default_workspace_id",
        "session",
        "scopes",
        "memberships",
        "has_more_memberships",
        "instance",
      ].sort(),
    );
  });

  test("has no default workspace among several", async () => {
    const { body } = await api.call("GET", "/me", { token: both });
    expect(body.data.default_workspace_id).toBeNull();
    expect(body.data.session.client).toBe("cli");
    expect(body.data.memberships).toHaveLength(2);
    const sources = await api.call("GET", "/sources", { token: both });
    expect(sources.body.details.reason).toBe("workspace_required");
  });

  test("sees the lower of the membership's role and the token's", async () => {
    const now = new Date(api.control.services.clock.now());
    const session = { userId: api.first.users.admin, client: "api", role: "viewer" } as const;
    const { token } = await createSession(api.db, session, now);
    const { body } = await api.call("GET", "/me", { token });
    expect(body.data.memberships).toEqual([{ workspace_id: api.first.id, role: "viewer" }]);
  });

  test("is told whether the instance is theirs to administer, and which images it takes", async () => {
    const instanceOf = async (token: string) =>
      (await api.call("GET", "/me", { token })).body.data.instance;
    const { admin } = api.first.tokens;
    expect(await instanceOf(admin)).toEqual({ images: ["acme/*"] });
    expect(await instanceOf(api.first.tokens.editor)).toBeNull();
    expect(await instanceOf(api.first.tokens.agent)).toBeNull();
    expect(await instanceOf(api.second.tokens.admin)).toBeNull();
    const now = new Date(api.control.services.clock.now());
    const userId = api.first.users.admin;
    const lower = { userId, client: "api", scopes: ["control:read", "control:write"] } as const;
    expect(await instanceOf((await createSession(api.db, lower, now)).token)).toBeNull();
    // The other operations decide as it says.
    const path = "/connectors/conn_nobody/conformance";
    const statusOf = async (token: string) =>
      (await api.call("POST", path, { token, body: {} })).status;
    expect(await statusOf(admin)).toBe(422);
    expect(await statusOf(api.second.tokens.admin)).toBe(403);
  });

  test("needs a token", async () => {
    const { status, body } = await api.call("GET", "/me", { token: "svc_at_nobody" });
    expect([status, body.code]).toEqual([401, "401"]);
  });
});

describe("workspaces", () => {
  let api: TestControl;
  let token: string;
  let admin: string;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    admin = api.first.users.admin;
    const now = new Date(api.control.services.clock.now());
    for (const name of ["Third", "A 100% fourth"]) {
      const { id } = await api.addWorkspace(name);
      await addMember(api.db, { workspaceId: id, userId: admin, role: "runner" }, now);
    }
    token = (await createSession(api.db, { userId: admin, client: "api" }, now)).token;
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const list = (query = "") => api.call("GET", `/workspaces${query}`, { token });
  const names = (body: { data: { items: { name: string }[] } }) =>
    body.data.items.map(({ name }) => name).sort();

  test("are those of the user alone", async () => {
    const { body } = await list();
    expect(names(body)).toEqual(["A 100% fourth", "Third", "first"]);
    const first = body.data.items.find(
      (one: { workspace_id: string }) => one.workspace_id === api.first.id,
    );
    expect(first).toMatchObject({ name: "first", role: "admin", member_count: 4 });
    expect(first.slug).toMatch(/^first-/);
    expect(JSON.stringify(body)).not.toContain(api.second.id);
    const third = body.data.items.find(({ name }: { name: string }) => name === "Third");
    expect(third).toMatchObject({ role: "runner", member_count: 5 });
  });

  test.each([
    ["thi", ["Third"]],
    ["FOURTH", ["A 100% fourth"]],
    ["100%25%20f", ["A 100% fourth"]],
    ["%25", ["A 100% fourth"]],
    ["nothing", []],
  ])("are found by a part of their name: %s", async (name, expected) => {
    expect(names((await list(`?name=${name}`)).body)).toEqual(expected);
  });

  test("come in pages, with a cursor that belongs to the filter", async () => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await list(`?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`);
      expect(body.data.items).toHaveLength(1);
      seen.push(...names(body));
      cursor = body.data.next_cursor ?? "";
      expect(body.data.has_more).toBe(cursor !== "");
    } while (cursor !== "");
    expect(seen.sort()).toEqual(["A 100% fourth", "Third", "first"]);
    const page = await list("?limit=1");
    const other = await list(`?limit=1&name=t&cursor=${page.body.data.next_cursor}`);
    expect(other.body).toMatchObject({ code: "400", details: { reason: "invalid_cursor" } });
  });
});
