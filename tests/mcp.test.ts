import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { categories, isStream, type Operation } from "../control/contract/operation.ts";
import { nameTools, routeOf } from "../control/mcp/tools.ts";
import { operations } from "../control/operations/index.ts";
import { operationCases, startTestWorld, type TestWorld } from "./control-operations.ts";
import { choose } from "./effort.ts";

/** A client of each era of the protocol. */
const eras = {
  "the stateless protocol": { pin: "2026-07-28" },
  "the protocol before it": "legacy",
} as const;

const named = nameTools(operations);
/** Operations that have a tool, by method and path. */
const toolRoutes: readonly string[] = named.flatMap(({ operation, change }) =>
  (change ? [operation, change.operation] : [operation]).map(routeOf),
);

const changing = named.filter(({ operation, only }) => operation.effect !== "read" && !only);
/** The tools for the second era, where they do the same. */
const changingAgain = choose({
  quick: changing.filter((_, index) => index % 6 === 0),
  whole: changing,
});

describe.each(Object.entries(eras))("the agent interface over HTTP, with %s", (_era, mode) => {
  let world: TestWorld;
  let api: TestWorld["api"];
  let address: string;
  let agent: Client;

  const connect = async (token: string, headers: Record<string, string> = {}): Promise<Client> => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit }),
    );
    return client;
  };
  /** The tool's answer: its structure, or why there is none. */
  const call = async (name: string, args: object = {}, client = agent) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    const [block] = result.content as { text: string }[];
    const text = JSON.parse(block?.text ?? "null");
    if (result.isError) return { error: text };
    expect(text).toEqual(result.structuredContent);
    // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
    return result.structuredContent as any;
  };

  beforeAll(async () => {
    world = await startTestWorld();
    api = world.api;
    address = await api.server.listen({ port: 0, host: "127.0.0.1" });
    agent = await connect(api.first.tokens.agent);
  });
  afterAll(async () => {
    await agent?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test("lists a tool for each named operation, with all four hints and schemas", async () => {
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name)).toEqual(named.map(({ name }) => name));
    for (const { name, annotations, inputSchema, outputSchema, description } of tools) {
      expect(name).toMatch(/^[a-z_]{1,64}$/);
      expect(description).not.toBe("");
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
      for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint])
        expect(typeof hint).toBe("boolean");
      expect([inputSchema.type, outputSchema?.type]).toEqual(["object", "object"]);
    }
  });

  test("has no tool for policies, people, sessions or secrets", async () => {
    const names = (await agent.listTools()).tools.map(({ name }) => name).join(" ");
    expect(names).not.toMatch(
      /member|invit|session|token|policy_|(create|update|delete)_credential|update_approval/,
    );
    const changesPolicies = (route: string) =>
      /^(POST|PATCH|DELETE) \/(approval-policies|workspaces|sessions)/.test(route);
    expect(toolRoutes.filter(changesPolicies)).toEqual([]);
    expect(
      toolRoutes.filter((route) =>
        /^(POST|PATCH|DELETE) \/credentials(?!\/source\/oauth)/.test(route),
      ),
    ).toEqual([]);
  });

  test("has a tool for everything that can be read once, but people, sessions and where events are sent", async () => {
    const withTool = new Set(toolRoutes);
    const without = operations.filter(
      (operation) =>
        operation.effect !== "write" && !isStream(operation) && !withTool.has(routeOf(operation)),
    );
    const isLeftOut = /^GET \/(workspaces\/|sessions|notification|webhook)/;
    expect(without.map(routeOf).filter((route) => !isLeftOut.test(route))).toEqual([]);
  });

  test("has a tool to delete whatever one may make with a tool, but pipelines, which end with their connection", () => {
    const made = toolRoutes.flatMap((route) => /^PATCH (\S+\})$/.exec(route)?.[1] ?? []);
    const withoutEnd = made.filter((path) => !toolRoutes.includes(`DELETE ${path}`));
    expect([made.length > 5, withoutEnd]).toEqual([true, ["/pipelines/{pipeline_id}"]]);
    expect(toolRoutes).toContain("DELETE /connections/{connection_id}");
  });

  test("follows what happens, but for what only administrators may know", async () => {
    const now = new Date(api.control.services.clock.now());
    const [first, second, hidden] = ["1", "2", "3"].map((digit) => `evt_${digit.repeat(22)}`);
    for (const id of [first, second, hidden])
      await api.db
        .insertInto("events")
        .values({
          id: id ?? "",
          workspace_id: api.first.id,
          type: "pipeline.failed",
          data: JSON.stringify({}),
          for_administrators: id === hidden,
          occurred_at: now,
          created_at: now,
        })
        .execute();
    const { items } = await call("svc_list_events", { after: first });
    expect(items.map(({ event_id }: { event_id: string }) => event_id)).toEqual([second]);
    expect((await call("svc_get_event", { event_id: second })).type).toBe("pipeline.failed");
    expect((await call("svc_get_event", { event_id: hidden })).error.code).toBe("404");
  });

  test("describes its tools by each other, and without contradicting itself", async () => {
    const { tools } = await agent.listTools();
    const about = (name: string) => tools.find((tool) => tool.name === name)?.description ?? "";
    expect(about("svc_run_sync")).toContain("svc_get_job");
    for (const { name, description = "" } of tools) {
      const routes = description.match(/(GET|POST|PATCH|DELETE) \/[\w/{}-]+/g) ?? [];
      expect({ name, routes: routes.filter((route) => toolRoutes.includes(route)) }).toEqual({
        name,
        routes: [],
      });
    }
    expect(about("svc_approve_change")).not.toMatch(/Carries it out|Becomes a proposal/);
    expect(about("svc_rename_source")).not.toContain("tested");
  });

  test("tells every agent where a person approves, whatever its token may", async () => {
    const { params } = (await operationCases["source.update"]?.(world)) ?? {};
    const { approval_id } = (await call("svc_rename_source", { ...params, name: "x" })).approval;
    const review = { method: "POST", path: `/control/v1/approvals/${approval_id}/approve` };
    for (const token of Object.values(api.first.tokens)) {
      const client = await connect(token);
      for (const args of [{}, { execution_mode: "proposal" }]) {
        const answer = await call("svc_approve_change", { approval_id, ...args }, client);
        expect(answer.error).toMatchObject({
          code: "403",
          message: "permission denied",
          details: { reason: "agent_cannot_approve", review },
        });
      }
      await client.close();
    }
    const strange = await call("svc_approve_change", { approval_id: "a word/.." });
    expect(strange.error.details.review.path).toBe("/control/v1/approvals/{approval_id}/approve");
    expect((await call("svc_get_approval", { approval_id })).status).toBe("pending");
  });

  test("finds the job that a sync has become, follows it and ends it", async () => {
    const { params } = (await operationCases["pipeline.sync"]?.(world)) ?? {};
    const { approval } = await call("svc_run_sync", { ...params });
    await api.call("POST", `/approvals/${approval.approval_id}/approve`);
    const { items } = await call("svc_list_jobs", { pipeline_id: params?.pipeline_id });
    expect(items).toHaveLength(1);
    const [{ job_id }] = items;
    expect((await call("svc_get_job", { job_id })).job_id).toBe(job_id);
    expect((await call("svc_get_job_logs", { job_id })).items).toEqual(expect.any(Array));
    expect(await call("svc_cancel_job", { job_id })).toMatchObject({ status: "proposal_created" });
  });

  test("answers what the API answers", async () => {
    const me = await call("svc_get_me");
    expect(me.user_id).toBe(api.first.users.editor);
    const connectors = await call("svc_list_connectors", { type: "source" });
    expect(connectors.items.length).toBeGreaterThan(3);
    const spec = await call("svc_get_connector_spec", { connector_id: "conn_mailer_product_edm" });
    expect(spec.secret_fields).toEqual(["api_token"]);
  });

  test.each(
    mode === "legacy" ? changingAgain : changing,
  )("$name does what it says, or proposes it", async ({ name, operation }) => {
    const request = await operationCases[operation.id]?.(world);
    if (!request) throw new Error(`no request for ${operation.id}`);
    const client = await connect(api.first.tokens.admin);
    const answer = await call(name, { ...request.params, ...request.body }, client);
    await client.close();
    if (operation.effect === "compute") expect(answer.error?.details).toBeUndefined();
    else if (operation.id === "approval.approve") {
      expect(answer.error.details).toMatchObject({
        reason: "agent_cannot_approve",
        review: { method: "POST" },
      });
    } else if (operation.effect === "write" && operation.isFree)
      expect(answer).toMatchObject({ status: "executed" });
    else
      expect(answer).toMatchObject({
        status: "proposal_created",
        approval: { status: "pending", source: "mcp" },
      });
  });

  test("a change becomes a proposal; the agent sees what became of it", async () => {
    const { params } = (await operationCases["source.update"]?.(world)) ?? {};
    const answer = await call("svc_rename_source", { ...params, name: "Named by an agent" });
    const { approval_id } = answer.approval;
    expect(answer.status).toBe("proposal_created");
    expect((await call("svc_get_approval", { approval_id })).status).toBe("pending");
    await api.call("POST", `/approvals/${approval_id}/approve`);
    expect(await call("svc_get_approval", { approval_id })).toMatchObject({
      status: "executed",
      result: { name: "Named by an agent" },
    });
  });

  test("direct does not lift a policy; where there is none, it acts; a proposal can always be asked for", async () => {
    const { params } = (await operationCases["source.update"]?.(world)) ?? {};
    const rename = (execution_mode: string) =>
      call("svc_rename_source", { ...params, name: "x", execution_mode });
    expect((await rename("direct")).status).toBe("proposal_created");
    await api.call("PATCH", "/approval-policies/source_change", {
      body: { requires_approval: false },
    });
    expect(await rename("direct")).toMatchObject({ status: "executed", result: { name: "x" } });
    expect((await rename("proposal")).status).toBe("proposal_created");
    await api.call("PATCH", "/approval-policies/source_change", {
      body: { requires_approval: true },
    });
  });

  test("whoever comes this way is an agent, whatever the token and the headers say", async () => {
    const client = await connect(api.first.tokens.admin, {
      "x-svc-client": "api",
      "x-svc-execution-mode": "direct",
    });
    const { params } = (await operationCases["source.delete"]?.(world)) ?? {};
    expect(await call("svc_delete_source", params, client)).toMatchObject({
      status: "proposal_created",
    });
    await client.close();
  });

  test("the same idempotency_key makes one proposal", async () => {
    const { params } = (await operationCases["source.update"]?.(world)) ?? {};
    const args = { ...params, name: "Once", idempotency_key: `once-${mode}` };
    const first = await call("svc_rename_source", args);
    expect(await call("svc_rename_source", args)).toEqual(first);
  });

  test("bad arguments are told so that they can be put right", async () => {
    const paths = async (name: string, args: object): Promise<string[]> => {
      const { error } = await call(name, args);
      expect(error).toMatchObject({ code: "422", details: { reason: "validation_failed" } });
      return error.details.errors.map(({ path }: { path: string }) => path);
    };
    expect(await paths("svc_rename_source", { source_id: "src_x" })).toEqual(["name"]);
    expect(
      await paths("svc_rename_source", { source_id: "src_x", name: "y", credential_handle: "z" }),
    ).toEqual(["credential_handle"]);
    expect(await paths("svc_list_sources", { limit: 1_000 })).toEqual(["limit"]);
    expect(await paths("svc_list_sources", { execution_mode: "proposal" })).toEqual([
      "execution_mode",
    ]);
    expect(
      await paths("svc_delete_source", { source_id: "src_x", execution_mode: "propose" }),
    ).toEqual(["execution_mode"]);
    expect(await paths("svc_delete_source", { source_id: 7 })).toEqual(["source_id"]);
  });

  test("refusals are results, and repeat no secret", async () => {
    const missing = await call("svc_delete_source", { source_id: "src_0000000000000000000000" });
    expect(missing.error).toMatchObject({ code: "404", details: { reason: "not_found" } });
    const viewer = await connect(api.first.tokens.viewer);
    const { params } = (await operationCases["source.delete"]?.(world)) ?? {};
    expect((await call("svc_delete_source", params, viewer)).error).toMatchObject({
      message: "permission denied",
    });
    await viewer.close();
    const { body } = (await operationCases["source.create"]?.(world)) ?? {};
    const canary = "Zx81kQ0vTn5bWm37";
    const leaking = await call("svc_create_source", {
      ...body,
      configuration: { api_token: canary },
    });
    expect(leaking.error.details.reason).toBe("secret_not_allowed");
    expect(JSON.stringify(leaking)).not.toContain(canary);
  });

  test("an unknown tool is an error of the protocol", async () => {
    await expect(
      agent.callTool({ name: "svc_update_approval_policy", arguments: {} }),
    ).rejects.toMatchObject({
      code: -32602,
    });
    await expect(agent.callTool({ name: "__proto__", arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test("an account is connected when it is proposed, and can be used when it is approved", async () => {
    const redirect_uri = world.social.redirectUri;
    const begin = () =>
      call("svc_get_source_oauth_consent_url", { connector_id: "conn_social", redirect_uri });
    const finish = async () => {
      const { result } = await begin();
      const { searchParams } = new URL(world.social.consent(result.authorization_url));
      const { approval } = await call("svc_complete_source_oauth", {
        query_params: Object.fromEntries(searchParams),
      });
      const id: string = approval.proposal.body_redacted.credential_id;
      const status = async () => (await api.call("GET", `/credentials/${id}`)).body.data?.status;
      return { approval_id: approval.approval_id as string, status };
    };
    const approved = await finish();
    expect(await approved.status()).toBe("pending_approval");
    await api.call("POST", `/approvals/${approved.approval_id}/approve`);
    expect(await approved.status()).toBe("active");
    const rejected = await finish();
    await call("svc_withdraw_change", { approval_id: rejected.approval_id });
    expect(["revoked", undefined]).toContain(await rejected.status());
  });
});

describe("the address of the agent interface", () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await startTestWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const post = (
    headers: Record<string, string>,
    payload: unknown = { jsonrpc: "2.0", id: 1, method: "tools/list" },
  ) =>
    world.api.server.inject({
      method: "POST",
      url: "/mcp",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      payload: JSON.stringify(payload),
    });

  test("asks strangers for a token, and says where it describes itself", async () => {
    for (const authorization of [undefined, "Bearer x", `Bearer svc_at_${"0".repeat(46)}`]) {
      const answer = await post(authorization === undefined ? {} : { authorization });
      expect(answer.statusCode).toBe(401);
      const challenge = String(answer.headers["www-authenticate"]);
      const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
      const described = await world.api.server.inject({ url: new URL(metadata).pathname });
      expect(described.json()).toMatchObject({ resource: new URL("/mcp", metadata).href });
    }
  });

  test("refuses pages of others", async () => {
    const authorization = `Bearer ${world.api.first.tokens.agent}`;
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"])
      expect((await post({ authorization, origin })).statusCode).toBe(403);
    expect((await post({ authorization, origin: "http://localhost:3000" })).statusCode).toBe(200);
    const allowed = await post({ authorization });
    expect([allowed.statusCode, Number(allowed.headers["x-ratelimit-limit"])]).toEqual([
      200, 100_000,
    ]);
  });

  test("takes no token in the address, and refuses what is no request of the protocol", async () => {
    const { agent } = world.api.first.tokens;
    const inQuery = await world.api.server.inject({
      method: "POST",
      url: `/mcp?access_token=${agent}`,
      payload: {},
    });
    expect(inQuery.statusCode).toBe(401);
    const authorization = `Bearer ${agent}`;
    expect((await post({ authorization }, "text")).statusCode).toBe(400);
    expect(
      (
        await post({ authorization }, { jsonrpc: "2.0", id: 1, method: "tools/call", params: 1 })
      ).json(),
    ).toHaveProperty("error");
    for (const method of ["GET", "DELETE"] as const) {
      const answer = await world.api.server.inject({
        method,
        url: "/mcp",
        headers: { authorization },
      });
      expect(answer.statusCode).toBe(405);
    }
  });
});

test("every category of change is that of an operation with a tool, or of one that does not exist yet", () => {
  const withTools = new Set(named.map(({ operation }) => operation));
  const ofCategory = (category: string) =>
    operations.filter((one: Operation) => one.effect === "write" && one.category === category);
  for (const category of Object.keys(categories)) {
    const known = ofCategory(category);
    expect(known.length === 0 || known.some((one) => withTools.has(one))).toBe(true);
  }
});
