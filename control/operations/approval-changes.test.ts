import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  operationCases,
  startTestWorld,
  type TestWorld,
  type ValidRequest,
} from "../../tests/control-operations.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import type { Operation } from "../contract/operation.ts";
import { operations } from "./index.ts";

interface Change {
  readonly path: readonly string[];
  readonly change: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly is_secret: boolean;
}

const proposable = operations.filter(
  ({ effect, access }) => effect !== "read" && access === undefined,
);

describe("what a proposal would change", () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await startTestWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const admin = () => world.api.first.tokens.admin;
  const propose = async (operation: Operation, request: ValidRequest): Promise<string> => {
    const { params = {}, body, token = admin(), headers } = request;
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
    const answer = await world.api.call(operation.method, path, {
      token,
      headers: { ...headers, "x-svc-execution-mode": "proposal" },
      ...(body === undefined ? {} : { body }),
    });
    expect([operation.id, answer.status, answer.body.details]).toEqual([
      operation.id,
      202,
      undefined,
    ]);
    return answer.body.data.approval_id;
  };
  const changesOf = async (id: string, { token = admin(), headers = {} }: ValidRequest = {}) => {
    const answer = await world.api.call("GET", `/approvals/${id}/changes`, { token, headers });
    expect([answer.status, answer.body.details]).toEqual([200, undefined]);
    return { ...answer.body.data, text: answer.text } as {
      readonly kind: string;
      readonly changes: readonly Change[];
      readonly is_stale: boolean;
      readonly problem: string | null;
      readonly text: string;
    };
  };
  const approve = (id: string, { token = admin(), headers = {} }: ValidRequest = {}) =>
    world.api.call("POST", `/approvals/${id}/approve`, { token, headers });
  const operationOf = (id: string) => {
    const found = operations.find((one) => one.id === id);
    if (!found) throw new Error(`no operation ${id}`);
    return found;
  };
  const arrange = async (id: string): Promise<ValidRequest> => {
    const request = await operationCases[id]?.(world);
    if (!request) throw new Error(`no request for ${id}`);
    return request;
  };

  test.each(
    proposable.map((operation) => [operation.id, operation] as const),
  )("of %s is told without its secrets, and leaves nothing to change once it is carried out", async (_id, operation) => {
    const request = await arrange(operation.id);
    const id = await propose(operation, request);
    const changes = await changesOf(id, request);
    expect([changes.is_stale, changes.problem]).toEqual([false, null]);
    for (const secret of ["Qm4kT8vZ1xR6wL3n", "Hn7pD2sJ9cV5bG8y", "Wt3rY6uK0oP4aS1d"])
      expect(changes.text).not.toContain(secret);
    // Its request asks for what is so already.
    const isNothing = operation.id === "approval_policy.update";
    if (operation.method === "PATCH" || operation.method === "DELETE")
      expect([operation.id, changes.changes.length > 0]).toEqual([operation.id, !isNothing]);
    if (changes.kind !== "update") return;
    const open = changes.changes.filter((one) => !one.is_secret);
    const done = await approve(id, request);
    expect(done.body.data.status).toBe("executed");
    // Whoever reads it later sees what it has changed, …
    expect((await changesOf(id, request)).changes).toEqual(changes.changes);
    // … which is all that there is now.
    await world.api.db
      .updateTable("approvals")
      .set({ changes: null })
      .where("id", "=", id)
      .execute();
    const left = (await changesOf(id, request)).changes.filter((one) => !one.is_secret);
    expect({ id: operation.id, left }).toEqual({ id: operation.id, left: [] });
    if (!isNothing && operation.id !== "credential.update") expect(open.length).toBeGreaterThan(0);
  });

  test("names each field with both values, merges configurations, and shows no secret of either side", async () => {
    const { api, mailer } = world;
    const credential = await addCredential(api, { api_token: mailer.token });
    const source_id = await addSource(api, credential, {
      base_url: mailer.baseUrl,
      connection_method: "self_hosted",
    });
    const body = { name: "Renamed", configuration: { connection_method: null } };
    const id = await propose(operationOf("source.update"), { params: { source_id }, body });
    const { changes } = await changesOf(id);
    expect(changes).toEqual([
      {
        path: ["name"],
        change: "change",
        before: expect.any(String),
        after: "Renamed",
        is_secret: false,
      },
      {
        path: ["configuration", "connection_method"],
        change: "remove",
        before: "self_hosted",
        after: null,
        is_secret: false,
      },
    ]);
    const update = await propose(
      operationOf("credential.update"),
      await arrange("credential.update"),
    );
    expect((await changesOf(update)).changes).toContainEqual({
      path: ["secrets"],
      change: "change",
      before: null,
      after: null,
      is_secret: true,
    });
  });

  test("of a deletion still says what was deleted, once it is gone", async () => {
    const request = await arrange("source.delete");
    const id = await propose(operationOf("source.delete"), request);
    const before = await changesOf(id, request);
    expect((await approve(id, request)).body.data.status).toBe("executed");
    const later = await changesOf(id, request);
    expect(later.changes).toEqual(before.changes);
    expect(later.changes).toContainEqual(
      expect.objectContaining({ path: ["name"], change: "remove", before: expect.any(String) }),
    );
    expect([later.is_stale, later.problem]).toEqual([false, null]);
  });

  test("replaces a schedule as a whole", async () => {
    const { params } = await arrange("pipeline.update");
    const body = { schedule: { type: "basic", units: 6, time_unit: "hours" } };
    const id = await propose(operationOf("pipeline.update"), { params: params ?? {}, body });
    const { changes } = await changesOf(id);
    expect(changes.map(({ path, change }) => [path.join("."), change])).toEqual(
      expect.arrayContaining([
        ["schedule.type", "change"],
        ["schedule.cron_expression", "remove"],
        ["schedule.units", "add"],
      ]),
    );
  });

  test("is stale once its target has changed or gone, and says what to do", async () => {
    const request = await arrange("source.update");
    const id = await propose(operationOf("source.update"), request);
    const path = `/sources/${request.params?.source_id}`;
    await world.api.call("PATCH", path, { body: { name: "Meanwhile" } });
    expect(await changesOf(id)).toMatchObject({
      is_stale: true,
      problem: expect.stringContaining("propose it again"),
      changes: [{ path: ["name"], before: "Meanwhile" }],
    });
    expect((await world.api.call("DELETE", path)).status).toBe(200);
    expect(await changesOf(id)).toMatchObject({
      is_stale: true,
      problem: expect.stringContaining("does not exist"),
    });
  });

  test("is nobody else's", async () => {
    const id = await propose(operationOf("source.delete"), await arrange("source.delete"));
    const token = world.api.second.tokens.admin;
    const answer = await world.api.call("GET", `/approvals/${id}/changes`, { token });
    expect(answer.status).toBe(404);
  });
});
