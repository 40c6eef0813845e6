import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { countRowsRead } from "../../tests/rows-read.ts";
import { createSession } from "../members/sessions.ts";

const many = 1_000;
/** More than pages and what goes with them, and far less than there are. */
const few = 400;

let api: TestControl;
/** Of somebody who views a thousand workspaces, and since then administers one and runs one. */
let token: string;
let userId: string;
beforeAll(async () => {
  api = await startTestControl({ sandbox: "inline" });
  const { db, first, second } = api;
  userId = first.users.admin;
  await sql`WITH numbers AS (SELECT n, lpad(n::text, 22, '0') AS digits FROM generate_series(1, ${many}::int) AS n),
      made AS (INSERT INTO workspaces (id, name, slug, created_at)
        SELECT 'ws_' || digits, 'Many ' || n, 'many-' || n, now() + n * interval '1 s' FROM numbers RETURNING id)
    INSERT INTO memberships (id, workspace_id, user_id, role, status, joined_at)
      SELECT 'mem_' || digits, 'ws_' || digits, ${userId}, 'viewer', 'active', '2020-01-01'::timestamptz + n * interval '1 s'
      FROM numbers`.execute(db);
  await sql`INSERT INTO memberships (id, workspace_id, user_id, role, status, joined_at)
    VALUES ('mem_second', ${second.id}, ${userId}, 'runner', 'active', now())`.execute(db);
  await sql`ANALYZE`.execute(db);
  token = await tokenFor({});
});
afterAll(() => api?.[Symbol.asyncDispose]());

const tokenFor = async (session: { workspaceId?: string; role?: "viewer" }) =>
  (await createSession(api.db, { userId, client: "api", ...session }, new Date())).token;
const get = (path: string) => api.call("GET", path, { token });
const workspace = (n: number) => `ws_${String(n).padStart(22, "0")}`;

test.each([
  "/me",
  "/workspaces",
  "/workspaces?sort=name",
  `/workspaces/${workspace(900)}`,
  `/sources?workspace_id=${workspace(900)}`,
])("GET %s reads a few rows, however many workspaces there are", async (path) => {
  const { answer, rowsRead } = await countRowsRead(api, () => get(path));
  expect([answer.status, answer.body.details]).toEqual([200, undefined]);
  expect(rowsRead).toBeLessThan(few);
});

test("who has many workspaces is told of the first hundred, and that there are more", async () => {
  const { data } = (await get("/me")).body;
  expect(data).toMatchObject({ default_workspace_id: null, has_more_memberships: true });
  const first = Array.from({ length: 100 }, (_, index) => workspace(index + 1));
  expect(data.memberships.map((one: { workspace_id: string }) => one.workspace_id)).toEqual(first);
});

test("all of them are on the pages of GET /workspaces, each with the role there", async () => {
  const found = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await get(`/workspaces?limit=200${cursor && `&cursor=${cursor}`}`);
    for (const one of page.body.data.items) found.set(one.workspace_id, one.role);
    cursor = page.body.data.next_cursor;
  }
  expect(found.size).toBe(many + 2);
  const roles = [workspace(900), api.first.id, api.second.id].map((id) => found.get(id));
  expect(roles).toEqual(["viewer", "admin", "runner"]);
});

test("what they may do is what they may do in the workspace that the request names", async () => {
  const invite = async (id: string, asking = token) => {
    const body = { email: `${id.toLowerCase()}@example.com`, role: "viewer" };
    const path = `/workspaces/${id}/members/invitations`;
    const answer = await api.call("POST", path, { token: asking, body });
    return [answer.status, answer.body.details?.reason];
  };
  expect(await invite(api.first.id)).toEqual([201, undefined]);
  expect(await invite(api.second.id)).toEqual([403, "permission_denied"]);
  expect(await invite(workspace(900))).toEqual([403, "permission_denied"]);
  expect(await invite(workspace(3))).toEqual([403, "permission_denied"]);
  expect(await invite(`ws_${"Z".repeat(22)}`)).toEqual([404, "not_found"]);
  expect(await invite(api.first.id, await tokenFor({ role: "viewer" }))).toEqual([
    403,
    "permission_denied",
  ]);
});

test("a refusal stands in the log of the workspace that the request named", async () => {
  const body = { status: "disabled" };
  const headers = { "x-svc-workspace-id": workspace(800) };
  expect((await api.call("POST", "/sources", { token, body, headers })).status).toBe(403);
  const entries = await api.db
    .selectFrom("audit_logs")
    .select("outcome")
    .where("workspace_id", "=", workspace(800))
    .execute();
  expect(entries).toEqual([{ outcome: "denied" }]);
});

test("a request that names no workspace is asked for one", async () => {
  expect((await get("/sources")).body.details.reason).toBe("workspace_required");
});

test("a workspace is theirs no longer when they have left it, and never with a token for another", async () => {
  const path = `/sources?workspace_id=${workspace(700)}`;
  expect((await get(path)).status).toBe(200);
  const own = await tokenFor({ workspaceId: workspace(600) });
  const me = await api.call("GET", "/me", { token: own });
  expect(me.body.data.default_workspace_id).toBe(workspace(600));
  expect((await api.call("GET", path, { token: own })).status).toBe(404);
  await sql`UPDATE memberships SET status = 'suspended' WHERE workspace_id = ${workspace(700)}`.execute(
    api.db,
  );
  expect((await get(path)).status).toBe(404);
});

test("the activity of a member is noted in each of them", async () => {
  await get(`/sources?workspace_id=${workspace(500)}`);
  const { last_active_at } = await api.db
    .selectFrom("memberships")
    .select("last_active_at")
    .where("workspace_id", "=", workspace(500))
    .executeTakeFirstOrThrow();
  expect(last_active_at).not.toBeNull();
});
