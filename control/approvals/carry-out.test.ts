import { randomUUID } from "node:crypto";
import { createSecretRegistry, systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { defineWrite, type Operation, type WriteOperation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Id, StrictObject } from "../contract/schemas.ts";
import { createWorkspace } from "../members/workspaces.ts";
import { operations } from "../operations/index.ts";
import { leaseMs } from "./lease.ts";
import { sweepApprovals } from "./resolve.ts";

const data = StrictObject({ workspace_id: Id("workspace") });

describe("carrying out", () => {
  let api: TestControl;
  let aheadMs = 0;
  /** Operations that behave as those of the registry do in their worst moments. */
  const define = (
    id: string,
    parts: Partial<Pick<WriteOperation, "prepare" | "commit" | "announce" | "isRepeatable">>,
  ) =>
    defineWrite({
      id: `test.${id}`,
      area: "Workspaces",
      method: "POST",
      path: `/test/${id}`,
      summary: id,
      permission: "write",
      status: 201,
      resource: "workspace",
      data,
      errors: [],
      commit: (tx, ctx) => make(tx, ctx.now, id),
      ...(parts as object),
    });
  const make = async (tx: Parameters<WriteOperation["commit"]>[0], now: Date, slug: string) => {
    const id = await createWorkspace(tx, { name: slug, slug }, now);
    return { data: { workspace_id: id }, resourceId: id };
  };
  const isMade = async (slug: string) =>
    (await api.db.selectFrom("workspaces").select("id").where("slug", "=", slug).execute()).length >
    0;

  beforeAll(async () => {
    api = await startTestControl({ clock: { ...systemClock, now: () => Date.now() + aheadMs } });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const propose = async (operation: Operation): Promise<string> => {
    Object.assign(api.control.services, { operations: [...operations, operation] });
    const caller = await api.control.authenticate({
      authorization: `Bearer ${api.first.tokens.admin}`,
      client: undefined,
      ip: null,
      userAgent: null,
    });
    const headers = { executionMode: "proposal", workspaceId: api.first.id };
    const signal = new AbortController().signal;
    const answer = await api.control.execute(
      operation,
      { path: "/", params: {}, query: {}, headers, signal },
      caller,
    );
    expect(answer.status).toBe(202);
    return JSON.parse(answer.body).data.approval_id;
  };
  const approve = (id: string) => api.call("POST", `/approvals/${id}/approve`);
  const rowOf = (id: string) =>
    api.db.selectFrom("approvals").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  test("an effect that is refused after it has written something leaves nothing of it", async () => {
    const operation = define("refused", {
      async commit(tx, ctx) {
        await make(tx, ctx.now, "refused");
        throw new ControlError("name_taken");
      },
    });
    const { status, body } = await approve(await propose(operation));
    expect([status, body.data.status, body.data.error.reason]).toEqual([
      200,
      "failed",
      "name_taken",
    ]);
    expect(await isMade("refused")).toBe(false);
  });

  test("an effect that the database refuses is a failed approval, and says nothing of the database", async () => {
    const operation = define("twice", {
      async commit(tx, ctx) {
        await make(tx, ctx.now, "twice");
        return await make(tx, ctx.now, "twice");
      },
    });
    const { status, body, text } = await approve(await propose(operation));
    expect([status, body.data.status, body.data.error.reason]).toEqual([200, "failed", "internal"]);
    expect(text).not.toMatch(/unique|constraint|workspaces_slug/);
    expect(await isMade("twice")).toBe(false);
  });

  test("who has lost the lease meanwhile writes nothing", async () => {
    const operation = define("overtaken", {
      isRepeatable: true,
      async prepare(ctx) {
        const taken = { lease_id: "another", lease_until: new Date(ctx.now.getTime() + leaseMs) };
        await ctx.db
          .updateTable("approvals")
          .set(taken)
          .where("operation", "=", "test.overtaken")
          .execute();
      },
    });
    const id = await propose(operation);
    const { status, body } = await approve(id);
    expect([status, body.details.reason]).toEqual([503, "overloaded"]);
    expect([(await rowOf(id)).status, await isMade("overtaken")]).toEqual(["executing", false]);
  });

  test("a preparation that takes longer than the lease keeps it", async () => {
    let clockMs = 0;
    const operation = define("slow", {
      async prepare(ctx) {
        const { lease_until } = await rowOf(await idOf("test.slow"));
        const before = lease_until?.getTime() ?? 0;
        // Sleeps of the clock end at once; what was renewed meanwhile is what counts.
        while (
          ((await rowOf(await idOf("test.slow"))).lease_until?.getTime() ?? 0) <=
          before + leaseMs
        )
          await new Promise(setImmediate);
        return ctx.now;
      },
    });
    const idOf = async (name: string) =>
      (
        await api.db
          .selectFrom("approvals")
          .select("id")
          .where("operation", "=", name)
          .executeTakeFirstOrThrow()
      ).id;
    const { clock } = api.control.services;
    const instant = {
      now: () => Date.now() + aheadMs + clockMs,
      async sleep(durationMs: number, signal?: AbortSignal) {
        signal?.throwIfAborted();
        clockMs += durationMs;
        await new Promise(setImmediate);
      },
    };
    Object.assign(api.control.services, { clock: instant });
    const { body } = await approve(await propose(operation));
    Object.assign(api.control.services, { clock });
    expect(body.data.status).toBe("executed");
  });

  test("a preparation that a process has died in is not done again, unless it may be", async () => {
    const counts: Record<string, number> = {};
    const dying = (id: string, isRepeatable: boolean) =>
      define(id, {
        ...(isRepeatable ? { isRepeatable: true as const } : {}),
        async prepare() {
          counts[id] = (counts[id] ?? 0) + 1;
        },
      });
    for (const [slug, isRepeatable, end] of [
      ["once", false, "failed"],
      ["again", true, "executed"],
    ] as const) {
      const id = await propose(dying(slug, isRepeatable));
      const dead = {
        status: "executing",
        lease_id: "dead",
        lease_until: new Date(0),
        decided_at: new Date(0),
      } as const;
      await api.db.updateTable("approvals").set(dead).where("id", "=", id).execute();
      const occasion = () => ({
        services: api.control.services,
        requestId: randomUUID(),
        secrets: createSecretRegistry(),
      });
      await sweepApprovals(api.control.services, occasion);
      const { status, error } = await rowOf(id);
      expect([status, error?.reason, await isMade(slug)]).toEqual(
        isRepeatable ? [end, undefined, true] : [end, "outcome_unknown", false],
      );
    }
    expect(counts).toEqual({ again: 1 });
    aheadMs = 0;
  });

  test("what is told to others is told after it was written, and kept with the result", async () => {
    const operation = define("told", {
      async announce(ctx, _input, written) {
        expect(await isMade("told")).toBe(true);
        return { ...written, workspace_id: ctx.workspaceId };
      },
    });
    const id = await propose(operation);
    const { body } = await approve(id);
    expect(body.data.result).toEqual({ workspace_id: api.first.id });
    expect((await rowOf(id)).result).toEqual({ workspace_id: api.first.id });
  });
});
