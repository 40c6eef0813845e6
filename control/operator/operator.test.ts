import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob } from "../../tests/control-jobs.ts";
import { anonymousCaller } from "../door/authenticate.ts";
import { nameTools } from "../mcp/tools.ts";
import { createOpenApi } from "../openapi/document.ts";
import { operations, operatorOperations } from "../operations/index.ts";
import { openKeyring } from "../vault/keyring.ts";
import { askInstance } from "./ask.ts";
import { connectOperator, serveOperator } from "./channel.ts";
import { createOperator, type Operator } from "./operator.ts";
import { OperatorError } from "./operator-error.ts";

const ownOperations = operatorOperations.filter(({ access }) => access === "operator");

describe("the operator", () => {
  let folder: string;
  let api: TestControl;
  let operator: Operator;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-operator-"));
    const keyFile = join(folder, "keys.json");
    const keyring = await openKeyring(keyFile, { create: true });
    api = await startTestControl({ keyring, keyFile });
    operator = createOperator(askInstance(api.control.services));
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const entries = (action: string) =>
    api.db
      .selectFrom("audit_logs")
      .select(["workspace_id", "actor_type", "actor_id", "actor_display", "client", "resource_id"])
      .where("action", "=", action)
      .execute();
  const createToken = (changes: object = {}) =>
    operator.run("session.create", { body: { role: "viewer", client: "cli", ...changes } });

  test("makes a workspace and a token for it, and the logs of the workspaces tell of both", async () => {
    const made = await operator.run("workspace.create", { body: { name: "Acme GmbH" } });
    expect(made.slug).toBe("acme-gmbh");
    const again = await operator.run("workspace.create", { body: { name: "Acme GmbH" } });
    expect(again.slug).toBe("acme-gmbh-2");
    const { token, session_id } = await createToken({ workspace: "acme-gmbh" });
    const me = await api.call("GET", "/me", { token });
    expect(me.body.data.memberships).toMatchObject([{ workspace_id: made.workspace_id }]);
    const actor = {
      actor_type: "system",
      actor_id: null,
      actor_display: "operator",
      client: "cli",
    };
    const workspace_id = made.workspace_id;
    expect((await entries("workspace.create"))[0]).toEqual({
      ...actor,
      workspace_id,
      resource_id: workspace_id,
    });
    expect(await entries("session.create")).toEqual([
      { ...actor, workspace_id, resource_id: session_id },
    ]);
  });

  test("ends a token in all of its workspaces at once, and only once", async () => {
    const user = `admin@${(await api.db.selectFrom("workspaces").select("slug").where("id", "=", api.first.id).executeTakeFirstOrThrow()).slug}.example.com`;
    const { token, session_id } = await createToken({ user });
    const params = { session_id };
    expect(await operator.run("session.revoke", { params })).toEqual({ session_id, changed: true });
    expect(await operator.run("session.revoke", { params })).toEqual({
      session_id,
      changed: false,
    });
    expect((await api.call("GET", "/me", { token })).status).toBe(401);
    const reached = (await entries("session.revoke")).map(({ workspace_id }) => workspace_id);
    expect(reached).toContain(api.first.id);
    expect(new Set(reached).size).toBe(reached.length);
  });

  test("changes the keys, and says which connectors may be used", async () => {
    const { current } = await operator.run("key.rotate", {});
    expect((await operator.run("key.list", {})).keys).toMatchObject([
      { key_id: current, current: true },
      { current: false },
    ]);
    expect((await operator.run("key.prune", {})).removed).toHaveLength(1);
    const body = { connector: "SOURCE:social", enabled: false };
    expect(await operator.run("connector.set", { body })).toEqual({
      connector_id: "conn_social",
      enabled: false,
    });
    expect((await api.call("GET", "/connectors/conn_social")).body.data.enabled).toBe(false);
  });

  test("sees the audit log as it was written, and no token when there is a workspace", async () => {
    const { intact, faults } = await operator.run("audit_log.verify", { query: {} });
    expect([intact.length > 0, faults]).toEqual([true, []]);
    expect(await operator.run("instance.bootstrap", {})).toEqual({ token: null });
  });

  test("works with the API's own operations on a job of any workspace", async () => {
    const id = await addJob(api, { workspaceId: api.second.id });
    const params = { job_id: id };
    const [listed] = (await operator.run("job.list", { query: {} })).jobs;
    expect(listed).toMatchObject({ job_id: id, workspace_id: api.second.id });
    const job = await operator.run("job.get", { params, query: { include: "" } });
    expect(job).toEqual(listed);
    expect((await operator.run("job.cancel", { params })).status).toBe("cancelled");
    expect(await entries("job.cancel")).toMatchObject([
      { workspace_id: api.second.id, actor_type: "system", resource_id: id },
    ]);
    const refused = operator.run("job.cancel", { params: { job_id: "job_unknown" } });
    await expect(refused).rejects.toThrow("there is no such job; svc jobs list shows them");
  });

  test.each([
    [() => createToken({ workspace: "nowhere" }), "there is no workspace of that id or slug"],
    [() => createToken({ user: "nobody@example.com" }), "there is nobody of that e-mail address"],
    [
      () => operator.run("session.revoke", { params: { session_id: "ses_1" } }),
      "there is no session of that id; svc token list shows them",
    ],
    [
      () => operator.run("connector.set", { body: { connector: "socail", enabled: true } }),
      /^there is no such connector.*social/,
    ],
    [
      () => operator.run("instance.destroy" as "key.list", {}),
      "the server that runs is of another version: stop it first",
    ],
    [
      () => operator.run("source.create" as "key.list", {}),
      "the server that runs is of another version: stop it first",
    ],
  ])("is told in one line what is not there", async (ask, line) => {
    await expect(ask()).rejects.toThrow(OperatorError);
    await expect(ask()).rejects.toThrow(line);
  });

  test("asks a server that runs the same way, over its socket", async () => {
    const path = join(folder, "admin.sock");
    await using _served = await serveOperator(path, askInstance(api.control.services));
    const ask = await connectOperator(path);
    if (!ask) throw new Error("nobody listens");
    const distant = createOperator(ask);
    expect(await distant.run("key.list", {})).toEqual(await operator.run("key.list", {}));
    const refused = distant.run("session.revoke", { params: { session_id: "ses_1" } });
    await expect(refused).rejects.toThrow("there is no session of that id");
  });

  describe("alone may do what is the operator's", () => {
    test("there is something that is", () => expect(ownOperations.length).toBeGreaterThan(10));

    test.each(
      ownOperations.map((operation) => [operation.id, operation] as const),
    )("%s has no route, no place in the documents and no tool", async (_id, operation) => {
      expect(operations).not.toContain(operation);
      expect(Object.keys(createOpenApi(operations).paths)).not.toContain(operation.path);
      expect(nameTools(operations).map((tool) => tool.operation)).not.toContain(operation);
      const answer = await api.call(operation.method, operation.path, { body: {} });
      expect(answer.status).toBe(404);
    });

    test.each(
      ownOperations.map((operation) => [operation.id, operation] as const),
    )("%s is denied to an administrator, to an agent and without a token, even if there were a route", async (_id, operation) => {
      const facts = { client: undefined, ip: null, userAgent: null };
      const callerOf = (token: string) =>
        api.control.authenticate({ ...facts, authorization: `Bearer ${token}` });
      const request = {
        path: operation.path,
        params: {},
        query: {},
        headers: {},
        signal: new AbortController().signal,
      };
      for (const caller of [
        await callerOf(api.first.tokens.admin),
        await callerOf(api.first.tokens.agent),
        anonymousCaller({ ...facts, authorization: undefined }),
      ]) {
        expect(caller.kind).not.toBe("operator");
        const answer = await api.control.execute(operation, request, caller);
        expect([answer.status, answer.reason]).toEqual([403, "permission_denied"]);
      }
    });

    test("no header makes an operator of a caller", async () => {
      const headers = { "x-svc-client": "operator" };
      const answer = await api.call("GET", "/me", { headers });
      expect([answer.status, answer.body.details.reason]).toEqual([400, "invalid_header"]);
    });
  });
});
