import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { categories } from "../contract/operation.ts";
import { operations } from "./index.ts";

describe("approval policies", () => {
  let api: TestControl;
  let source: string;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    source = await addSource(api, await addCredential(api));
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const change = (category: string, body: object, options: object = {}) =>
    api.call("PATCH", `/approval-policies/${category}`, { body, ...options });
  const asAgent = (options: object = {}) =>
    api.call("PATCH", `/sources/${source}`, {
      body: { name: "From an agent" },
      token: api.first.tokens.agent,
      ...options,
    });

  test("there is one for each category, and by default agents need approval for all of them", async () => {
    const listed = await api.call("GET", "/approval-policies", { token: api.first.tokens.viewer });
    const items: { category: string; requires_approval: boolean; operations: string[] }[] =
      listed.body.data.items;
    expect(items.map(({ category }) => category)).toEqual(Object.keys(categories));
    expect(items.every(({ requires_approval }) => requires_approval)).toBe(true);
    expect(items.find(({ category }) => category === "source_delete")?.operations).toEqual([
      "source.delete",
    ]);
  });

  test("they are listed in pages, as everything is that is listed", async () => {
    const list = async (query: string, token = api.first.tokens.viewer) =>
      (await api.call("GET", `/approval-policies?${query}`, { token })).body;
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await list(`limit=4${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      expect(data.items.length).toBeLessThanOrEqual(4);
      expect(data.has_more).toBe(data.next_cursor !== null);
      found.push(...data.items.map(({ category }: { category: string }) => category));
      cursor = data.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(Object.keys(categories));
    const { next_cursor } = (await list("limit=4")).data;
    const foreign = await list(`cursor=${next_cursor}`, api.second.tokens.viewer);
    expect(foreign.details.reason).toBe("invalid_cursor");
    const lists = operations.filter(({ data }) => "next_cursor" in data.properties);
    expect(lists.map(({ id }) => id)).toContain("approval_policy.list");
    const unpaged = lists.filter(
      ({ effect, query }) =>
        effect === "read" &&
        !["limit", "cursor"].every((name) => name in (query?.properties ?? {})),
    );
    expect(unpaged.map(({ id }) => id)).toEqual([]);
  });

  test("what an agent asks for becomes a proposal, also when it says direct, or that it is no agent", async () => {
    for (const headers of [{}, { "x-svc-execution-mode": "direct" }, { "x-svc-client": "api" }]) {
      const answer = await asAgent({ headers });
      expect(answer.status).toBe(202);
      expect(answer.body.data).toMatchObject({
        status: "pending",
        source: "mcp",
        category: "source_change",
      });
    }
    const person = await asAgent({ token: api.first.tokens.editor });
    expect(person.status).toBe(200);
    const tightened = await asAgent({
      token: api.first.tokens.editor,
      headers: { "x-svc-client": "MCP" },
    });
    expect(tightened.status).toBe(202);
  });

  test("where the policy says so, an agent acts at once; a header still makes a proposal", async () => {
    const changed = await change("source_change", { requires_approval: false });
    expect(changed.body.data).toMatchObject({
      category: "source_change",
      requires_approval: false,
      updated_by: api.first.users.admin,
    });
    expect((await asAgent()).status).toBe(200);
    expect((await asAgent({ headers: { "x-svc-execution-mode": "proposal" } })).status).toBe(202);
    const others = await api.call("DELETE", `/sources/${source}`, {
      token: api.first.tokens.agent,
    });
    expect(others.status).toBe(202);
    await change("source_change", { requires_approval: true });
    expect((await asAgent()).status).toBe(202);
  });

  test("a policy that is turned off leaves pending proposals alone", async () => {
    const { body } = await asAgent();
    await change("source_change", { requires_approval: false });
    const read = await api.call("GET", `/approvals/${body.data.approval_id}`);
    expect(read.body.data.status).toBe("pending");
    await change("source_change", { requires_approval: true });
  });

  test("an agent does not change policies, even with an administrator's token", async () => {
    const refused = await change(
      "sync_run",
      { requires_approval: false },
      { token: api.first.tokens.agent },
    );
    expect(refused).toMatchObject({ status: 403, body: { message: "permission denied" } });
    const asked = await change(
      "sync_run",
      { requires_approval: false },
      { headers: { "x-svc-client": "mcp" } },
    );
    expect(asked.body.data).toMatchObject({
      status: "pending",
      operation: "approval_policy.update",
    });
    const { items } = (await api.call("GET", "/approval-policies")).body.data;
    expect(
      items.find((one: { category: string }) => one.category === "sync_run").requires_approval,
    ).toBe(true);
  });

  test("only administrators change them; of another workspace they do not exist", async () => {
    for (const role of ["viewer", "runner", "editor"] as const) {
      const refused = await change(
        "sync_run",
        { requires_approval: false },
        { token: api.first.tokens[role] },
      );
      expect(refused.status).toBe(403);
    }
    await change("sync_run", { requires_approval: false }, { token: api.second.tokens.admin });
    const { items } = (await api.call("GET", "/approval-policies")).body.data;
    expect(
      items.find((one: { category: string }) => one.category === "sync_run").requires_approval,
    ).toBe(true);
  });

  test("an unknown category does not exist; an empty or unknown change is refused", async () => {
    for (const category of ["nothing", "__proto__", "constructor", "Source_Change"])
      expect((await change(category, { requires_approval: false })).status).toBe(404);
    for (const body of [{}, { requires_approval: "no" }, { unknown: true }])
      expect((await change("sync_run", body)).status).toBe(422);
  });

  test("two who change it at once do not lose each other's change", async () => {
    const before = (await change("pipeline_change", { requires_approval: true })).body.data.version;
    await Promise.all([
      change("pipeline_change", { requires_approval: false }),
      change("pipeline_change", { require_distinct_approver: true }),
    ]);
    const { items } = (await api.call("GET", "/approval-policies")).body.data;
    expect(
      items.find((one: { category: string }) => one.category === "pipeline_change"),
    ).toMatchObject({
      requires_approval: false,
      require_distinct_approver: true,
      version: before + 2,
    });
    const late = await change(
      "pipeline_change",
      { requires_approval: true },
      { headers: { "if-match": '"v1"' } },
    );
    expect(late.body.details).toMatchObject({ reason: "version_mismatch" });
  });
});
