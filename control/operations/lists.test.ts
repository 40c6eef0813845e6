import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";
import { operations } from "./index.ts";

type Item = Record<string, string>;

/** Two are alike but for their case, and some hold what means something in patterns. */
const names = ["orders", "Orders", "Zeta", "ärger", "100% of_it", "alpha", "beta \\ _", "Ärger 2"];

const inOrder = (items: readonly Item[]) => items.map((one) => one.name ?? "");
const byName = (left: string, right: string) => {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
};

describe("lists", () => {
  let api: TestControl;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    const credential = await addCredential(api);
    const source_id = await addSource(api, credential);
    const made = { sources: [source_id], credentials: [credential.id] } as Record<string, string[]>;
    for (let count = 1; count < names.length; count += 1) {
      made.credentials?.push((await addCredential(api)).id);
      made.sources?.push(await addSource(api, credential));
    }
    const destinations: string[] = [];
    const pipelines: string[] = [];
    await addCatalog(api, source_id, [tableStream("orders")]);
    for (const _ of names) {
      destinations.push(await addDestination(api));
      const body = {
        source_id,
        destination_id: destinations.at(-1),
        streams: [{ name: "orders" }],
      };
      pipelines.push((await api.call("POST", "/pipelines", { body })).body.data.pipeline_id);
    }
    for (const [table, ids] of Object.entries({ ...made, destinations, pipelines }))
      for (const [index, id] of ids.entries())
        await sql`UPDATE ${sql.table(table)} SET name = ${names[index]} WHERE id = ${id}`.execute(
          api.db,
        );
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const read = async (path: string, query: Record<string, string>) => {
    const { status, body } = await api.call("GET", `${path}?${new URLSearchParams(query)}`);
    expect([status, body.details]).toEqual([200, undefined]);
    return body.data as { items: Item[]; next_cursor: string | null; has_more: boolean };
  };
  /** All pages of a list; `between` happens after each. */
  const readAll = async (
    path: string,
    query: Record<string, string>,
    between?: () => Promise<unknown>,
  ) => {
    const items: Item[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await read(path, { limit: "3", ...query, ...(cursor && { cursor }) });
      items.push(...page.items);
      cursor = page.next_cursor;
      if (cursor) await between?.();
    }
    return items;
  };

  test("of everything that has a name can be searched and ordered by it", () => {
    const plain = operations
      .filter(({ id, effect, query }) => id.endsWith(".list") && effect === "read" && query)
      .filter(
        ({ data }) =>
          "name" in
          (data.properties.items as never as { items: { properties: object } }).items.properties,
      )
      .filter(({ query }) => !query || !("search" in query.properties));
    // A session's name is a note.
    expect(plain.map(({ id }) => id)).toEqual(["session.list"]);
  });

  test("of whatever kind can be ordered, but those that have one order only", () => {
    const lists = operations.filter(
      ({ method, data }) => method === "GET" && "next_cursor" in (data.properties ?? {}),
    );
    const unordered = lists.filter(({ query }) => !("sort" in (query?.properties ?? {})));
    expect(lists.length).toBeGreaterThan(15);
    expect(unordered.map(({ id }) => id).toSorted()).toEqual([
      // Of all categories.
      "approval_policy.list",
      // As the pipeline reads them.
      "pipeline.streams",
      "reverse_etl_run.failed_rows",
    ]);
  });

  describe.each([
    "/sources",
    "/destinations",
    "/pipelines",
    "/connections",
    "/credentials",
  ])("%s", (path) => {
    test("are ordered by name, both ways, page by page, without case", async () => {
      const up = await readAll(path, { sort: "name" });
      expect(inOrder(up).map((name) => name.toLowerCase())).toEqual(
        [...names].sort(byName).map((name) => name.toLowerCase()),
      );
      expect((await readAll(path, { sort: "-name" })).reverse()).toEqual(up);
    });

    test("are ordered by time, both ways; the newest first by default", async () => {
      const down = await readAll(path, {});
      expect(await readAll(path, { sort: "-created_at" })).toEqual(down);
      expect((await readAll(path, { sort: "created_at" })).reverse()).toEqual(down);
      expect(down.map((one) => one.created_at)).toEqual(
        down
          .map((one) => one.created_at)
          .sort()
          .reverse(),
      );
    });

    test.each([
      ["ORDERS", ["Orders", "orders"]],
      ["%", ["100% of_it"]],
      ["_", ["100% of_it", "beta \\ _"]],
      ["\\", ["beta \\ _"]],
      ["Är", ["Ärger 2", "ärger"]],
      ["'; DROP TABLE sources; --", []],
    ])("searched for %j are those whose name holds it", async (search, found) => {
      expect(inOrder(await readAll(path, { search })).sort()).toEqual([...found].sort());
      const page = await read(path, { search, sort: "-name", limit: "200" });
      expect(inOrder(page.items).sort()).toEqual([...found].sort());
    });

    test("refuse another order, and a cursor of another order or search", async () => {
      const refused = async (query: Record<string, string>) => {
        const { status, body } = await api.call("GET", `${path}?${new URLSearchParams(query)}`);
        return [status, body.details.reason];
      };
      for (const sort of ["status", "NAME", "name,created_at", ""])
        expect(await refused({ sort })).toEqual([400, "invalid_query"]);
      const { next_cursor: cursor } = await read(path, { sort: "name", limit: "1" });
      for (const other of [{}, { sort: "-name" }, { sort: "name", search: "a" }])
        expect(await refused({ ...other, cursor: cursor ?? "" })).toEqual([400, "invalid_cursor"]);
    });

    test("refuse a cursor that somebody has made up", async () => {
      const { next_cursor } = await read(path, { sort: "name", limit: "1" });
      const [, id, mark] = JSON.parse(Buffer.from(next_cursor ?? "", "base64url").toString());
      for (const key of [1, null, "a\u0000b", "\ud800", "x".repeat(401), ["a"], {}]) {
        const cursor = Buffer.from(JSON.stringify([key, id, mark])).toString("base64url");
        const { status, body } = await api.call("GET", `${path}?sort=name&cursor=${cursor}`);
        expect([key, status, body.details?.reason]).toEqual([key, 400, "invalid_cursor"]);
      }
    });
  });

  test("of members are searched for by name and by address", async () => {
    const found = async (search: string) =>
      (await readAll(`/workspaces/${api.first.id}/members`, { search })).map((one) => one.role);
    expect(await found("ADMIN of")).toEqual(["admin"]);
    expect(await found("viewer@")).toEqual(["viewer"]);
    expect(await found("%")).toEqual([]);
  });

  test("of members are ordered by name and by when they joined, with those who are invited", async () => {
    const invite = (email: string) =>
      api.call("POST", `/workspaces/${api.first.id}/members/invitations`, {
        body: { email, role: "viewer" },
      });
    for (const email of ["zoe@example.com", "abe@example.com"])
      expect((await invite(email)).status).toBe(201);
    const path = `/workspaces/${api.first.id}/members`;
    const all = { include: "invitations" };
    const up = await readAll(path, { ...all, sort: "name" });
    expect(up.slice(0, 2).map((one) => one.name)).toEqual([null, null]);
    expect(inOrder(up.slice(2))).toEqual(
      ["admin", "editor", "runner", "viewer"].map((role) => `${role} of first`),
    );
    expect((await readAll(path, { ...all, sort: "-name" })).reverse()).toEqual(up);
    const down = await readAll(path, all);
    expect(await readAll(path, { ...all, sort: "-created_at" })).toEqual(down);
    expect((await readAll(path, { ...all, sort: "created_at" })).reverse()).toEqual(down);
    expect(new Set(up.map((one) => one.email))).toEqual(new Set(down.map((one) => one.email)));
  });

  test("of the audit log are ordered by time, both ways", async () => {
    const down = await readAll("/audit-logs", { action: "pipeline.create" });
    expect(down.length).toBeGreaterThan(5);
    const times = down.map((one) => one.occurred_at);
    expect(times).toEqual(times.toSorted().reverse());
    const query = { action: "pipeline.create", sort: "created_at" };
    expect((await readAll("/audit-logs", query)).reverse()).toEqual(down);
    const { rows } = await sql<{ "QUERY PLAN": string }>`EXPLAIN SELECT * FROM (
        SELECT *, occurred_at AS created_at FROM audit_logs WHERE workspace_id = ${api.first.id}
      ) AS entries WHERE (created_at, id) > (now(), 'x') ORDER BY created_at, id LIMIT 51`.execute(
      api.db,
    );
    expect(JSON.stringify(rows)).toContain("audit_logs_by_time");
  });

  test("of connectors are ordered by name when that is asked for, and give each once", async () => {
    const own = await readAll("/connectors", {});
    const up = await readAll("/connectors", { sort: "name" });
    expect(inOrder(up)).toEqual(inOrder(up).toSorted(byName));
    expect((await readAll("/connectors", { sort: "-name" })).reverse()).toEqual(up);
    const ids = (items: readonly Item[]) => items.map((one) => one.connector_id ?? "");
    expect(ids(up).toSorted()).toEqual(ids(own).toSorted());
    const { next_cursor } = await read("/connectors", { limit: "2" });
    const { status } = await api.call("GET", `/connectors?sort=name&cursor=${next_cursor}`);
    expect(status).toBe(400);
    // The row at which a page ended is gone when the next one is asked for.
    const { connectors } = api.control.services;
    const list = connectors.list.bind(connectors);
    const removed = ids(own)[1];
    Object.assign(connectors, { list: () => list().filter(({ id }) => id !== removed) });
    const rest = await readAll("/connectors", { cursor: next_cursor ?? "" });
    Object.assign(connectors, { list });
    expect(ids(rest)).toEqual(ids(own).slice(2));
  });

  test("give each row once, whatever comes in between two pages", async () => {
    const before = await readAll("/destinations", { sort: "name" });
    const add = async () => {
      for (const name of ["AAA", "orders", "zzz"]) {
        const id = await addDestination(api);
        await api.db.updateTable("destinations").set({ name }).where("id", "=", id).execute();
      }
    };
    const during = await readAll("/destinations", { sort: "name" }, add);
    const ids = during.map((one) => one.destination_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(before.map((one) => one.destination_id)));
  });

  test("give every page of the longest names", async () => {
    const name = "𝒳".repeat(200);
    for (let count = 0; count < 2; count += 1) {
      const id = await addDestination(api);
      await api.db.updateTable("destinations").set({ name }).where("id", "=", id).execute();
    }
    const { next_cursor } = await read("/destinations", { sort: "-name", limit: "1" });
    const { items } = await read("/destinations", {
      sort: "-name",
      limit: "1",
      cursor: next_cursor ?? "",
    });
    expect(inOrder(items)).toEqual([name]);
    expect((next_cursor ?? "").length).toBeLessThan(2_000);
  });

  test("ordered by name are read from an index", async () => {
    const { rows } = await sql<{ indexname: string }>`
      SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%lower(name)%' ORDER BY 1`.execute(
      api.db,
    );
    expect(rows.map((row) => row.indexname)).toEqual([
      "credentials_by_name",
      "destinations_by_name",
      "pipelines_by_name",
      "reverse_etl_activations_by_name",
      "reverse_etl_destinations_by_name",
      "reverse_etl_models_by_name",
      "sources_by_name",
      "workspaces_by_name",
    ]);
    await sql`INSERT INTO sources SELECT 'src_' || i, workspace_id, 'Many ' || i, connector_id, credential_id,
      configuration, status, last_check, created_at, updated_at FROM (SELECT * FROM sources LIMIT 1) AS one, generate_series(1, 500) AS i`
      .execute(api.db)
      .catch(() => undefined);
    const plan = await sql<{
      "QUERY PLAN": string;
    }>`EXPLAIN SELECT * FROM sources WHERE workspace_id = ${api.first.id}
      AND (lower(name) COLLATE "C", id) > (lower('m') COLLATE "C", 'src_1') ORDER BY lower(name) COLLATE "C", id LIMIT 51`.execute(
      api.db,
    );
    expect(JSON.stringify(plan.rows)).toContain("sources_by_name");
  });
});
