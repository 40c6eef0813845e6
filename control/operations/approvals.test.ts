import { createSecretRegistry, systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addSource, type TestCredential } from "../../tests/control-rows.ts";
import { databaseText } from "../../tests/database-text.ts";
import { sweepApprovals } from "../approvals/resolve.ts";
import { endLeases } from "../approvals/sweep.ts";
import { secretOwner } from "../credentials/stored-secret.ts";
import { createSession } from "../members/sessions.ts";

const dayMs = 24 * 3_600_000;
const asProposal = { "x-svc-execution-mode": "proposal" };

describe("approvals", () => {
  let api: TestControl;
  let credential: TestCredential;
  let source: string;
  let aheadMs = 0;

  beforeAll(async () => {
    api = await startTestControl({
      clock: { ...systemClock, now: () => Date.now() + aheadMs },
      sandbox: "inline",
      // No name is known: whatever asks a provider fails.
      seams: { resolve: async () => [] },
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
    });
    credential = await addCredential(api);
  });
  beforeEach(async () => {
    source = await addSource(api, credential);
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const rename = (name: string, options: object = {}) =>
    api.call("PATCH", `/sources/${source}`, { body: { name }, headers: asProposal, ...options });
  const propose = async (name = "New name", options: object = {}): Promise<string> => {
    const { status, body } = await rename(name, options);
    expect([status, body.data?.status]).toEqual([202, "pending"]);
    return body.data.approval_id;
  };
  const decide = (id: string, verb: "approve" | "reject" | "cancel", options: object = {}) =>
    api.call("POST", `/approvals/${id}/${verb}`, options);
  const nameNow = async () => (await api.call("GET", `/sources/${source}`)).body.data.name;
  const audit = (id: string) =>
    api.db
      .selectFrom("audit_logs")
      .select(["action", "outcome", "actor_id", "client", "resource_id"])
      .where("approval_id", "=", id)
      .orderBy("index")
      .execute();

  test("a proposal says what was asked, by whom, and changes nothing", async () => {
    const answer = await rename("New name", { token: api.first.tokens.editor });
    const { approval_id: id } = answer.body.data;
    expect(answer.status).toBe(202);
    expect(answer.headers.location).toBe(`/control/v1/approvals/${id}`);
    expect(answer.body.data).toMatchObject({
      workspace_id: api.first.id,
      operation: "source.update",
      category: "source_change",
      status: "pending",
      source: "api",
      proposal: {
        method: "PATCH",
        path: `/sources/${source}`,
        body_redacted: { name: "New name" },
      },
      resource: { type: "source", id: source, version: 1 },
      requested_by: { user_id: api.first.users.editor },
      decided_by: null,
      result: null,
      error: null,
    });
    const { created_at, expires_at } = answer.body.data;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * dayMs);
    expect(await nameNow()).toBe("Our mailer");
    const read = await api.call("GET", `/approvals/${id}`, { token: api.first.tokens.viewer });
    expect(read.body.data).toEqual(answer.body.data);
  });

  test("approving carries it out once; who approves again is told the same", async () => {
    const id = await propose("New name", { token: api.first.tokens.editor });
    const first = await decide(id, "approve", { body: { comment: "fine" } });
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({
      status: "executed",
      decided_by: api.first.users.admin,
      decision_comment: "fine",
      result: { source_id: source, name: "New name", version: 2 },
      error: null,
    });
    expect(await nameNow()).toBe("New name");
    const again = await decide(id, "approve");
    expect(again.status).toBe(200);
    expect(again.body.data).toEqual({ ...first.body.data, already_resolved: true });
    expect((await api.call("GET", `/sources/${source}`)).body.data.version).toBe(2);
  });

  test("the audit log has both people, tied together by the approval", async () => {
    const id = await propose("New name", { token: api.first.tokens.agent });
    await decide(id, "approve");
    expect(await audit(id)).toEqual([
      {
        action: "approval.create",
        outcome: "success",
        actor_id: api.first.users.editor,
        client: "mcp",
        resource_id: id,
      },
      {
        action: "source.update",
        outcome: "success",
        actor_id: api.first.users.editor,
        client: "mcp",
        resource_id: source,
      },
      {
        action: "approval.approve",
        outcome: "success",
        actor_id: api.first.users.admin,
        client: "api",
        resource_id: id,
      },
    ]);
  });

  test("two who approve at the same moment get the same, and it happens once", async () => {
    const id = await propose();
    const [left, right] = await Promise.all([decide(id, "approve"), decide(id, "approve")]);
    expect([left.status, right.status]).toEqual([200, 200]);
    const strip = ({ already_resolved: _, ...data }: Record<string, unknown>) => data;
    expect(strip(left.body.data)).toEqual(strip(right.body.data));
    expect([left, right].filter(({ body }) => body.data.already_resolved)).toHaveLength(1);
    expect((await audit(id)).filter(({ action }) => action === "source.update")).toHaveLength(1);
  });

  test("what has changed since is not overwritten", async () => {
    const id = await propose();
    await api.call("PATCH", `/sources/${source}`, { body: { name: "Changed meanwhile" } });
    const refused = await decide(id, "approve");
    expect(refused.body).toMatchObject({
      code: "409",
      details: { reason: "resource_changed", version: 2, proposed_version: 1 },
    });
    expect((await api.call("GET", `/approvals/${id}`)).body.data.status).toBe("pending");
    expect(await nameNow()).toBe("Changed meanwhile");
  });

  test("when it is gone, the proposal is cancelled", async () => {
    const id = await propose();
    await api.call("DELETE", `/sources/${source}`);
    const refused = await decide(id, "approve");
    expect(refused.body).toMatchObject({
      code: "409",
      details: { reason: "resource_changed", status: "cancelled" },
    });
    const again = await decide(id, "approve");
    expect(again.body).toMatchObject({
      details: { reason: "approval_not_pending", status: "cancelled" },
    });
    expect((await audit(id)).at(-1)).toMatchObject({ action: "approval.cancel", actor_id: null });
  });

  test("the operation's own rules hold at approval too", async () => {
    const { body } = await api.call("DELETE", `/sources/${source}`, { headers: asProposal });
    const connection = {
      id: `cn_${source}`,
      workspace_id: api.first.id,
      pipeline_id: "pl_x",
      source_id: source,
      created_at: new Date(),
    };
    await api.db
      .insertInto("connections")
      .values(connection as never)
      .execute();
    const refused = await decide(body.data.approval_id, "approve");
    expect(refused.body.details).toMatchObject({ reason: "source_has_connections" });
    expect((await api.call("GET", `/approvals/${body.data.approval_id}`)).body.data.status).toBe(
      "pending",
    );
    await api.db.deleteFrom("connections").where("source_id", "=", source).execute();
    const done = await decide(body.data.approval_id, "approve");
    expect(done.body.data).toMatchObject({ status: "executed", result: { deleted: true } });
  });

  test("rejecting ends it; again is the same, and approving comes too late", async () => {
    const id = await propose();
    const first = await decide(id, "reject", { body: { reason: "not now" } });
    expect(first.body.data).toMatchObject({
      status: "rejected",
      reason: "not now",
      decided_by: api.first.users.admin,
    });
    const again = await decide(id, "reject", { body: { reason: "really" } });
    expect(again.body.data).toEqual({ ...first.body.data, already_resolved: true });
    const late = await decide(id, "approve");
    expect(late.body).toMatchObject({
      code: "409",
      details: { reason: "approval_not_pending", status: "rejected" },
    });
    expect(await nameNow()).toBe("Our mailer");
  });

  test("what was executed cannot be rejected", async () => {
    const id = await propose();
    await decide(id, "approve");
    const late = await decide(id, "reject");
    expect(late.body).toMatchObject({
      code: "409",
      details: { reason: "approval_not_pending", status: "executed" },
    });
  });

  test("only who has proposed it withdraws it", async () => {
    const id = await propose("New name", { token: api.first.tokens.editor });
    expect((await decide(id, "cancel")).status).toBe(403);
    const done = await decide(id, "cancel", { token: api.first.tokens.editor });
    expect(done.body.data).toMatchObject({
      status: "cancelled",
      decided_by: api.first.users.editor,
    });
    expect((await decide(id, "approve")).body.details).toMatchObject({ status: "cancelled" });
  });

  test("after seven days it has expired", async () => {
    const id = await propose();
    aheadMs = 7 * dayMs - 60_000;
    expect((await api.call("GET", `/approvals/${id}`)).body.data.status).toBe("pending");
    aheadMs = 7 * dayMs + 1_000;
    expect((await decide(id, "approve")).body).toMatchObject({
      code: "410",
      details: { reason: "approval_expired" },
    });
    expect((await decide(id, "reject")).status).toBe(410);
    const listed = await api.call("GET", "/approvals?status=expired");
    expect(listed.body.data.items.map((one: { approval_id: string }) => one.approval_id)).toContain(
      id,
    );
    expect((await audit(id)).at(-1)).toMatchObject({
      action: "approval.expire",
      outcome: "success",
      actor_id: null,
    });
    aheadMs = 0;
  });

  test("another digest than the one that was read is not approved", async () => {
    const id = await propose();
    const { payload_digest } = (await api.call("GET", `/approvals/${id}`)).body.data;
    const other = await decide(id, "approve", {
      body: { payload_digest: `sha256:${"0".repeat(64)}` },
    });
    expect(other.body).toMatchObject({ code: "409", details: { reason: "payload_changed" } });
    expect((await decide(id, "approve", { body: { payload_digest } })).body.data.status).toBe(
      "executed",
    );
  });

  test("a payload that was tampered with in the database is not carried out", async () => {
    const id = await propose();
    await api.db
      .updateTable("approvals")
      .set({ body: JSON.stringify({ name: "Forged" }) })
      .where("id", "=", id)
      .execute();
    expect((await decide(id, "approve")).body.details).toMatchObject({ reason: "payload_changed" });
    expect(await nameNow()).toBe("Our mailer");
  });

  test("who may no longer do it does not get it by an approval", async () => {
    const id = await propose("New name", { token: api.first.tokens.editor });
    const setRole = (role: "viewer" | "editor") =>
      api.db
        .updateTable("memberships")
        .set({ role })
        .where("user_id", "=", api.first.users.editor)
        .execute();
    await setRole("viewer");
    const refused = await decide(id, "approve");
    await setRole("editor");
    expect(refused.body).toMatchObject({
      code: "409",
      details: { reason: "requester_no_longer_permitted" },
    });
    expect((await decide(id, "approve")).body.data.status).toBe("executed");
  });

  test("a credential that was revoked meanwhile is told as such", async () => {
    const { id, handle } = await addCredential(api);
    const body = { name: "x", connector_id: "conn_mailer_product_edm", credential_handle: handle };
    const proposed = await api.call("POST", "/sources", {
      body: { ...body, configuration: { base_url: "https://mail.example.com/api" } },
      headers: asProposal,
    });
    expect(proposed.status).toBe(202);
    await api.db
      .updateTable("credentials")
      .set({ status: "revoked" })
      .where("id", "=", id)
      .execute();
    const refused = await decide(proposed.body.data.approval_id, "approve");
    expect(refused.body).toMatchObject({
      code: "424",
      details: { reason: "credential_not_usable" },
    });
  });

  test("an agent approves nothing, whatever its role, and is told where a person can", async () => {
    const { token } = await createSession(
      api.db,
      { userId: api.first.users.admin, client: "mcp" },
      new Date(),
    );
    const id = await propose();
    for (const options of [
      { token },
      { headers: { "x-svc-client": "mcp" } },
      { token, headers: asProposal },
    ]) {
      const refused = await decide(id, "approve", options);
      expect(refused.body).toMatchObject({
        code: "403",
        message: "permission denied",
        details: {
          reason: "agent_cannot_approve",
          review: { path: `/control/v1/approvals/${id}/approve` },
        },
      });
    }
    expect((await decide(id, "reject", { token })).body.data.status).toBe("rejected");
  });

  test("people without the right to approve do not", async () => {
    const id = await propose();
    for (const role of ["viewer", "runner", "editor", "agent"] as const) {
      expect((await decide(id, "approve", { token: api.first.tokens[role] })).status).toBe(403);
    }
    for (const verb of ["approve", "reject", "cancel"] as const) {
      const foreign = await decide(id, verb, { token: api.second.tokens.admin });
      const unknown = await decide("apr_0000000000000000000000", verb, {
        token: api.second.tokens.admin,
      });
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
    }
  });

  test("with the policy for it, nobody approves their own", async () => {
    await api.call("PATCH", "/approval-policies/source_change", {
      body: { require_distinct_approver: true },
    });
    const id = await propose();
    await api.call("PATCH", "/approval-policies/source_change", {
      body: { require_distinct_approver: false },
    });
    const refused = await decide(id, "approve");
    expect(refused.body).toMatchObject({
      code: "403",
      details: { reason: "distinct_approver_required" },
    });
    const userId = api.first.users.editor;
    await api.db
      .updateTable("memberships")
      .set({ role: "admin" })
      .where("user_id", "=", userId)
      .execute();
    const done = await decide(id, "approve", { token: api.first.tokens.editor });
    await api.db
      .updateTable("memberships")
      .set({ role: "editor" })
      .where("user_id", "=", userId)
      .execute();
    expect(done.body.data).toMatchObject({ status: "executed", decided_by: userId });
  });

  test("approving and rejecting can be proposed too; approving that decides the first one", async () => {
    const inner = await propose();
    const outer = await decide(inner, "approve", { headers: asProposal });
    expect(outer.status).toBe(202);
    expect((await api.call("GET", `/approvals/${inner}`)).body.data.status).toBe("pending");
    const done = await decide(outer.body.data.approval_id, "approve");
    expect(done.body.data).toMatchObject({
      status: "executed",
      result: { approval_id: inner, status: "executed", result: { name: "New name" } },
    });
    expect(await nameNow()).toBe("New name");
    const rejection = await decide(await propose(), "reject", { headers: asProposal });
    expect(rejection.body.data).toMatchObject({ status: "pending", operation: "approval.reject" });
  });

  test("an Idempotency-Key makes one proposal", async () => {
    const headers = { ...asProposal, "idempotency-key": "one proposal" };
    const first = await rename("New name", { headers });
    const again = await rename("New name", { headers });
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.data).toEqual(first.body.data);
  });

  test("an If-Match that does not match is refused when it is proposed", async () => {
    expect((await rename("x", { headers: { ...asProposal, "if-match": '"v7"' } })).status).toBe(
      412,
    );
    expect((await rename("x", { headers: { ...asProposal, "if-match": '"v1"' } })).status).toBe(
      202,
    );
  });

  test("an effect that fails leaves a failed approval, nothing else, and is not tried again", async () => {
    const { handle } = await addCredential(api);
    const proposed = await api.call("POST", "/sources", {
      body: {
        name: "Unreachable",
        connector_id: "conn_mailer_product_edm",
        credential_handle: handle,
        configuration: { base_url: "https://mail.example.com/api" },
      },
      headers: asProposal,
    });
    const { approval_id: id } = proposed.body.data;
    const failed = await decide(id, "approve");
    expect(failed.status).toBe(200);
    expect(failed.body.data).toMatchObject({
      status: "failed",
      result: null,
      error: { code: "422", reason: "connection_check_failed" },
    });
    const listed = await api.call("GET", "/sources");
    expect(listed.body.data.items.map((one: { name: string }) => one.name)).not.toContain(
      "Unreachable",
    );
    expect((await decide(id, "approve")).body.details).toMatchObject({
      reason: "approval_not_pending",
      status: "failed",
    });
    expect(await audit(id)).toMatchObject([
      { action: "approval.create" },
      { action: "source.create", outcome: "failure" },
      { action: "approval.approve", outcome: "success" },
    ]);
  });

  test("of approving and rejecting at the same moment one wins, and the other is told", async () => {
    const ends = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      source = await addSource(api, credential);
      const id = await propose();
      const [approved, rejected] = await Promise.all([decide(id, "approve"), decide(id, "reject")]);
      const { status } = (await api.call("GET", `/approvals/${id}`)).body.data;
      ends.add(status);
      expect([status, approved.status, rejected.status, await nameNow()]).toEqual(
        status === "executed"
          ? [status, 200, 409, "New name"]
          : ["rejected", 409, 200, "Our mailer"],
      );
    }
    expect(ends.size).toBeGreaterThan(0);
  });

  test("an effect that is refused only when it is written leaves nothing of itself", async () => {
    const path = `/workspaces/${api.first.id}/members/invitations`;
    const body = { email: "only-once@example.com", role: "viewer" };
    const invite = async () =>
      (await api.call("POST", path, { body, headers: asProposal })).body.data.approval_id;
    const ids = [await invite(), await invite()];
    const answers = await Promise.all(ids.map((id) => decide(id, "approve")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map((answer) => answer.body.data.status).sort()).toEqual(["executed", "failed"]);
    const failed = answers.find((answer) => answer.body.data.status === "failed");
    expect(failed?.body.data.error).toMatchObject({ code: "409", reason: "invitation_exists" });
    const rows = await api.db
      .selectFrom("invitations")
      .select("id")
      .where("email", "=", body.email)
      .execute();
    expect(rows).toHaveLength(1);
  });

  test("one that a dead process has left is carried out once by those who come next", async () => {
    const id = await propose();
    await api.db
      .updateTable("approvals")
      .set({
        status: "executing",
        decided_by: api.first.users.admin,
        lease_id: "dead",
        lease_until: new Date(),
      })
      .where("id", "=", id)
      .execute();
    await endLeases(api.db, new Date(0));
    const [left, right] = await Promise.all([decide(id, "approve"), decide(id, "approve")]);
    expect([left.status, right.status]).toEqual([200, 200]);
    for (const { body } of [left, right])
      expect(body.data).toMatchObject({
        status: "executed",
        result: { name: "New name", version: 2 },
      });
    expect((await audit(id)).filter(({ action }) => action === "source.update")).toHaveLength(1);
  });

  test("the sweep brings on what was left behind, and closes what has expired", async () => {
    const [left, late] = [await propose("Left behind"), await propose("Late")];
    await api.db
      .updateTable("approvals")
      .set({ status: "approved", decided_by: api.first.users.admin, decided_at: new Date(0) })
      .where("id", "=", left)
      .execute();
    aheadMs = 7 * dayMs + 1_000;
    const occasion = () => ({
      services: api.control.services,
      requestId: "r",
      secrets: createSecretRegistry(),
    });
    await sweepApprovals(api.control.services, occasion);
    aheadMs = 0;
    const statusOf = async (id: string) =>
      (
        await api.db
          .selectFrom("approvals")
          .select("status")
          .where("id", "=", id)
          .executeTakeFirstOrThrow()
      ).status;
    expect([await statusOf(left), await statusOf(late), await nameNow()]).toEqual([
      "executed",
      "expired",
      "Left behind",
    ]);
    expect((await audit(left)).at(-1)).toMatchObject({
      action: "approval.approve",
      actor_id: null,
    });
  });

  test("what only administrators may ask for is not shown to others", async () => {
    const path = `/workspaces/${api.first.id}/members/invitations`;
    const { body } = await api.call("POST", path, {
      body: { email: "somebody@example.com", role: "viewer" },
      headers: asProposal,
    });
    const id = body.data.approval_id;
    const seen = async (role: "admin" | "editor" | "viewer") => {
      const token = api.first.tokens[role];
      const { items } = (await api.call("GET", "/approvals?operation=invitation.create", { token }))
        .body.data;
      return [
        items.some((one: { approval_id: string }) => one.approval_id === id),
        (await read(id, token)).status,
      ];
    };
    const read = (approval: string, token: string) =>
      api.call("GET", `/approvals/${approval}`, { token });
    expect([await seen("admin"), await seen("editor"), await seen("viewer")]).toEqual([
      [true, 200],
      [false, 404],
      [false, 404],
    ]);
  });

  test.each([
    ["letters and digits", "Vn3kQ8zL1xW6rT0pB5mY2cJ7hD4fG9sA1eU8iO3tK6wX0"],
    ["everything else", 'qZ"\\/+=&% ä-7xK'],
  ])("a secret of %s is in the vault alone while it waits, and nowhere when it has ended", async (_shape, canary) => {
    const secrets = createSecretRegistry();
    secrets.add(canary);
    const isIn = (text: string) => secrets.contains(Buffer.from(text));
    for (const verb of ["approve", "reject", "cancel", "expire"] as const) {
      const answer = await api.call("POST", "/credentials", {
        body: {
          connector_id: "conn_postgres",
          name: verb,
          secrets: { password: canary },
        },
        headers: asProposal,
      });
      expect(answer.body.data.proposal.body_redacted).toMatchObject({
        name: verb,
        secrets: "[redacted]",
      });
      const { approval_id: id } = answer.body.data;
      const sealed = () =>
        api.db.selectFrom("secrets").select("kind").where("owner_id", "=", id).execute();
      expect([isIn(answer.text), isIn(await databaseText(api.db)), await sealed()]).toEqual([
        false,
        false,
        [{ kind: "proposal" }],
      ]);

      if (verb === "expire") aheadMs = 8 * dayMs;
      const ended =
        verb === "expire" ? await api.call("GET", `/approvals/${id}`) : await decide(id, verb);
      aheadMs = 0;
      expect([isIn(ended.text), isIn(await databaseText(api.db)), await sealed()]).toEqual([
        false,
        false,
        [],
      ]);
      if (verb !== "approve") continue;
      const stored = await api.db
        .selectFrom("credentials")
        .selectAll()
        .where("id", "=", ended.body.data.result.credential_id)
        .executeTakeFirstOrThrow();
      const opened = await api.control.services.vault.open(api.db, secretOwner(stored));
      expect(opened?.value).toEqual({ fields: { password: canary } });
    }
  });

  test("lists filter, and are the workspace's own", async () => {
    const id = await propose("New name", { token: api.first.tokens.agent });
    const ids = async (query: string, token = api.first.tokens.viewer): Promise<string[]> =>
      (await api.call("GET", `/approvals?${query}`, { token })).body.data.items.map(
        (one: { approval_id: string }) => one.approval_id,
      );
    const user = api.first.users.editor;
    expect(
      await ids(`source=mcp&status=pending&requested_by=${user}&operation=source.update`),
    ).toContain(id);
    expect(await ids("category=source_change&limit=200")).toContain(id);
    expect(await ids("category=source_delete")).not.toContain(id);
    expect(await ids("source=cli")).not.toContain(id);
    expect(await ids("created_after=2999-01-01T00:00:00.000Z")).toEqual([]);
    expect(await ids("created_before=2999-01-01T00:00:00.000Z&limit=200")).toContain(id);
    expect(await ids("", api.second.tokens.admin)).toEqual([]);
  });
});
