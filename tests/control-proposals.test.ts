import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tableOf } from "../control/approvals/targets.ts";
import type { Operation } from "../control/contract/operation.ts";
import { operations } from "../control/operations/index.ts";
import type { TestControl } from "./control.ts";
import {
  operationCases,
  startTestWorld,
  type TestWorld,
  type ValidRequest,
} from "./control-operations.ts";
import { databaseDigests } from "./database-text.ts";
import { choose } from "./effort.ts";

/**
 * Everything but what reads, and what anonymous callers may do: nobody could be named as the one
 * who proposes it.
 */
const proposable = operations.filter(
  ({ effect, access }) => effect !== "read" && access !== "open",
);
const asProposal = { "x-svc-execution-mode": "proposal" };
/** Tables whose rows have none. */
const withoutVersion = [
  "approvals",
  "invitations",
  "connections",
  "jobs",
  "reverse_etl_runs",
  "event_deliveries",
];
/** Where a proposal may write. */
const tablesOfProposals = [
  "approvals",
  "audit_logs",
  "audit_heads",
  "event_facts",
  "secrets",
  "idempotency_keys",
];

test("every operation that can be proposed has a request that succeeds", () => {
  const lacking = proposable.map(({ id }) => id).filter((id) => !(id in operationCases));
  expect(lacking, "add them to tests/control-operations.ts").toEqual([]);
});

/** Ids in paths that name no row whose version could be kept: the operation's guard looks at them. */
const unversioned = ["workspace_id", "session_id", "category", "connector_id"];

test("every id in a path is one whose row is known, or is listed as none", () => {
  const params = proposable.flatMap(({ path }) =>
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ""),
  );
  const isKnown = (param: string) =>
    unversioned.includes(param) || tableOf({ [param]: "any" }) !== undefined;
  expect(params.filter((param) => !isKnown(param))).toEqual([]);
});

describe("every operation", () => {
  let api: TestControl;
  let world: TestWorld;

  beforeAll(async () => {
    world = await startTestWorld();
    api = world.api;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const send = (
    operation: Operation,
    request: ValidRequest,
    headers: Record<string, string> = {},
  ) => {
    const { params = {}, body, token = api.first.tokens.admin } = request;
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
    const options = {
      token,
      headers: { ...request.headers, ...headers },
      ...(body === undefined ? {} : { body }),
    };
    return api.call(operation.method, path, options);
  };
  const approve = (id: string, { token = api.first.tokens.admin, headers = {} }: ValidRequest) =>
    api.call("POST", `/approvals/${id}/approve`, { token, headers });
  /** The effect's own entries; of an approval, not those of approving itself. */
  const effectsOf = async (id: string, operation: Operation) => {
    const entries = await api.db
      .selectFrom("audit_logs")
      .select(["workspace_id", "action", "outcome"])
      .where("approval_id", "=", id)
      .where("action", "=", operation.id)
      .where((eb) => eb.or([eb("resource_id", "is", null), eb("resource_id", "!=", id)]))
      .execute();
    // An entry of two workspaces stands once in the log of each.
    return entries
      .filter(({ workspace_id }) => workspace_id === entries[0]?.workspace_id)
      .map(({ action, outcome }) => ({ action, outcome }));
  };
  const snapshot = async () => {
    const digests = await databaseDigests(api.db);
    return Object.fromEntries(
      Object.entries(digests).filter(([name]) => !tablesOfProposals.includes(name)),
    );
  };

  const known = proposable.filter(({ id }) => id in operationCases);
  const spelt = choose({ quick: known.filter((_, index) => index % 8 === 0), whole: known });
  describe.each(known)("$id", (operation) => {
    const arrange = async () => {
      const request = await operationCases[operation.id]?.(world);
      if (!request) throw new Error(`no request for ${operation.id}`);
      return request;
    };
    const propose = async (request: ValidRequest) => {
      const answer = await send(operation, request, asProposal);
      expect([answer.status, answer.body.details]).toEqual([202, undefined]);
      return answer.body.data;
    };

    test("as a proposal changes nothing, holds no secret, is no stranger's, and is carried out once when it is approved", async () => {
      const request = await arrange();
      const before = await snapshot();
      const proposal = await propose(request);
      expect(proposal).toMatchObject({ operation: operation.id, status: "pending" });
      const isHeld = operation.effect === "write" && operation.hold !== undefined;
      if (!isHeld) expect(await snapshot()).toEqual(before);
      const secrets = secretsOf(operation, request.body);
      const { rows } = await sql<{
        text: string;
      }>`SELECT approvals::text AS text FROM approvals`.execute(api.db);
      for (const secret of secrets)
        expect(rows.some(({ text }) => text.includes(secret))).toBe(false);

      const path = `/approvals/${proposal.approval_id}`;
      const otherAdmin = { token: api.second.tokens.admin };
      expect((await api.call("GET", path, otherAdmin)).status).toBe(404);
      expect((await api.call("POST", `${path}/approve`, otherAdmin)).status).toBe(404);
      expect(await effectsOf(proposal.approval_id, operation)).toEqual([]);

      const [left, right] = await Promise.all([
        approve(proposal.approval_id, request),
        approve(proposal.approval_id, request),
      ]);
      expect([left?.status, right?.status]).toEqual([200, 200]);
      expect(left?.body.data).toMatchObject({ status: "executed", error: null });
      expect(right?.body.data).toMatchObject({
        status: "executed",
        result: left?.body.data.result,
      });
      expect(await effectsOf(proposal.approval_id, operation)).toEqual([
        { action: operation.id, outcome: "success" },
      ]);
      const sealed = await api.db
        .selectFrom("secrets")
        .select("owner_id")
        .where("owner_id", "=", proposal.approval_id)
        .execute();
      expect(sealed).toEqual([]);

      const direct = await send(operation, await arrange());
      expect([direct.status, direct.body.details]).toEqual([
        operation.effect === "write" ? operation.status : 200,
        undefined,
      ]);
      expect(Object.keys(left?.body.data.result).sort()).toEqual(
        Object.keys(direct.body.data).sort(),
      );
    });

    test("is not carried out when what it acts on has changed", async () => {
      const request = await arrange();
      const table = tableOf(request.params ?? {});
      if (table === undefined || withoutVersion.includes(table)) return;
      const proposal = await propose(request);
      await sql`UPDATE ${sql.table(table)} SET version = version + 1 WHERE id = ${proposal.resource.id}`.execute(
        api.db,
      );
      const refused = await approve(proposal.approval_id, request);
      expect(refused.body).toMatchObject({ code: "409", details: { reason: "resource_changed" } });
      expect(await effectsOf(proposal.approval_id, operation)).toEqual([]);
    });

    if (spelt.includes(operation))
      test("is proposed however the header is spelt, and never carried out by a slip of the pen", async () => {
        let request = await arrange();
        for (const spelling of [
          "Proposal",
          " PROPOSAL ",
          "direct, proposal",
          "proposal,proposal",
          ",proposal",
        ]) {
          const answer = await send(operation, request, { "x-svc-execution-mode": spelling });
          expect([spelling, answer.status]).toEqual([spelling, 202]);
          // A request that takes effect when it is proposed cannot be made twice.
          if (operation.effect === "write" && operation.hold) request = await arrange();
        }
        const before = await snapshot();
        for (const slip of ["proposals", "propose", "proposal;", "true", "direct proposal"]) {
          const answer = await send(operation, request, { "x-svc-execution-mode": slip });
          expect([slip, answer.body.details?.reason]).toEqual([slip, "invalid_execution_mode"]);
        }
        expect(await snapshot()).toEqual(before);
      });
  });
});

/** Texts in the declared secret fields of a body. */
function secretsOf(operation: Operation, body: object | undefined): string[] {
  const fields = operation.effect === "write" ? (operation.secretFields ?? []) : [];
  const textsOf = (value: unknown): string[] =>
    typeof value === "string"
      ? [value]
      : Object.values((typeof value === "object" ? value : null) ?? {}).flatMap(textsOf);
  const texts = fields.flatMap((field) =>
    textsOf((body as Record<string, unknown> | undefined)?.[field]),
  );
  // A callback also has parameters that everybody may know.
  return texts.filter((text) => /^[\w.-]{14,}$/.test(text));
}
