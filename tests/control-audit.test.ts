import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyAudit } from "../control/audit/verify.ts";
import { type Operation, permissions } from "../control/contract/operation.ts";
import { includesRole } from "../control/door/authorize.ts";
import { operations } from "../control/operations/index.ts";
import type { TestControl } from "./control.ts";
import { operationCases, startTestWorld, type TestWorld } from "./control-operations.ts";

const changing = operations.filter(({ effect, access }) => effect !== "read" && access !== "open");
const writing = changing.filter(({ effect }) => effect === "write");
const deniedToViewers = changing.filter(
  ({ permission }) => !includesRole("viewer", permissions[permission].role),
);

describe("the audit log has one entry", () => {
  let world: TestWorld;
  let api: TestControl;

  beforeAll(async () => {
    world = await startTestWorld();
    api = world.api;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const pathOf = ({ path }: Operation, params: Readonly<Record<string, string>> = {}) =>
    path.replace(/\{(\w+)\}/g, (_, name) =>
      name === "workspace_id"
        ? (params[name] ?? api.first.id)
        : (params[name] ?? `src_${"0".repeat(22)}`),
    );
  const entriesOf = (requestId: string) =>
    api.db.selectFrom("audit_logs").selectAll().where("request_id", "=", requestId).execute();

  test.for(writing)("when $id is done", async (operation) => {
    const { params, ...request } = (await operationCases[operation.id]?.(world)) ?? {};
    const answer = await api.call(operation.method, pathOf(operation, params), request);
    expect([answer.status, answer.body.details]).toEqual([
      "status" in operation ? operation.status : 200,
      undefined,
    ]);
    const entries = await entriesOf(answer.body.request_id);
    // To approve is one thing, what is approved another.
    const own =
      operation.id === "approval.approve"
        ? entries.filter(({ action }) => action === operation.id)
        : entries;
    // The making or deleting of a workspace is in the log of that one too.
    const isOfTwo = operation.workspace === "instance" && operation.area === "Workspaces";
    const logs = isOfTwo ? [api.first.id, own[0]?.resource_id] : [own[0]?.workspace_id];
    expect(own.map((one) => one.workspace_id).sort()).toEqual(logs.sort());
    expect(own.filter((one) => !isOfTwo || one.workspace_id === api.first.id)).toMatchObject([
      { action: operation.id, outcome: "success", resource_id: expect.any(String) },
    ]);
  });

  test.for(deniedToViewers)("when $id is denied", async (operation) => {
    const answer = await api.call(operation.method, pathOf(operation), {
      token: api.first.tokens.viewer,
    });
    expect(answer.body).toMatchObject({ code: "403", message: "permission denied" });
    const entries = await entriesOf(answer.body.request_id);
    expect(entries).toMatchObject([
      { action: operation.id, outcome: "denied", workspace_id: api.first.id },
    ]);
  });

  test.for(writing)("when $id is refused", async (operation) => {
    const answer = await api.call(operation.method, pathOf(operation), {
      body: { not_a_field: true },
    });
    expect(answer.status).toBe(422);
    const entries = await entriesOf(answer.body.request_id);
    expect(entries).toMatchObject([
      { action: operation.id, outcome: "failure", workspace_id: api.first.id },
    ]);
  });

  test("in a chain that is as it was written", async () => {
    const { intact, faults } = await verifyAudit(api.db);
    expect(faults).toEqual([]);
    expect(intact.find(({ workspaceId }) => workspaceId === api.first.id)?.index).toBeGreaterThan(
      writing.length,
    );
  });
});
