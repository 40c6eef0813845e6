import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../simulators/postgres-server.ts";
import { type SmtpServer, startSmtpServer } from "../../simulators/smtp-server.ts";
import { startTestControl, type TestControl, type TestWorkspace } from "../../tests/control.ts";
import { verifyAudit } from "../audit/verify.ts";
import { createMemoryKeyring } from "../vault/keyring.ts";
import { createSession } from "./sessions.ts";
import { addMember, createUser } from "./workspaces.ts";

describe("two servers on one PostgreSQL", () => {
  let postgres: PostgresServer;
  let mails: SmtpServer;
  let one: TestControl;
  let other: TestControl;
  let workspace: TestWorkspace;

  beforeAll(async () => {
    postgres = await startPostgres();
    const { url } = await postgres.createDatabase();
    mails = await startSmtpServer();
    const options = {
      database: { url },
      keyring: createMemoryKeyring(),
      settings: {
        mail: { smtp: { host: "127.0.0.1", port: mails.port }, from: "svc <svc@example.com>" },
      },
    };
    one = await startTestControl(options);
    other = await startTestControl(options);
    workspace = one.first;
  });
  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await mails?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const now = () => new Date(one.control.services.clock.now());

  test("a session that one revokes ends at once on the other", async () => {
    const { sessionId, token } = await createSession(
      one.db,
      { userId: workspace.users.editor, client: "cli" },
      now(),
    );
    expect((await other.call("GET", "/sessions", { token })).status).toBe(200);
    expect((await one.call("POST", `/sessions/${sessionId}/revoke`)).status).toBe(200);
    expect((await other.call("GET", "/sessions", { token })).status).toBe(401);
  });

  test("somebody whom one removes is gone at once on the other", async () => {
    const token = workspace.tokens.runner;
    expect((await other.call("GET", "/sessions", { token })).status).toBe(200);
    const members = await one.call("GET", `/workspaces/${workspace.id}/members?role=runner`);
    await one.call(
      "DELETE",
      `/workspaces/${workspace.id}/members/${members.body.data.items[0].member_id}`,
    );
    expect((await other.call("GET", "/sessions", { token })).status).toBe(401);
  });

  test("of administrators who remove each other at the same moment one is left, each time", async () => {
    const userId = await createUser(one.db, { email: "second@example.com", name: "Second" }, now());
    const rounds = 20;
    for (let round = 0; round < rounds; round += 1) {
      const { id, tokens, users } = await one.addWorkspace(`round-${round}`);
      const second = await addMember(one.db, { workspaceId: id, userId, role: "admin" }, now());
      const { token } = await createSession(
        one.db,
        { userId, workspaceId: id, client: "cli" },
        now(),
      );
      const [first] = await one.db
        .selectFrom("memberships")
        .select("id")
        .where("workspace_id", "=", id)
        .where("user_id", "=", users.admin)
        .execute();
      const path = `/workspaces/${id}/members`;
      // Half of them are demoted: that is the same loss.
      const demotes = round % 2 === 1;
      const answers = await Promise.all([
        one.call("DELETE", `${path}/${second}`, { token: tokens.admin }),
        demotes
          ? other.call("PATCH", `${path}/${first?.id}`, { token, body: { role: "viewer" } })
          : other.call("DELETE", `${path}/${first?.id}`, { token }),
      ]);
      const left = await one.db
        .selectFrom("memberships")
        .select("id")
        .where("workspace_id", "=", id)
        .where("role", "=", "admin")
        .execute();
      expect(left).toHaveLength(1);
      // Who was too late is told so: the last one stays, or has just been shown the door.
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });

  test("one person is invited once, and becomes a member once, wherever it is asked", async () => {
    const path = `/workspaces/${workspace.id}/members/invitations`;
    const body = { email: "new@example.com", role: "viewer" };
    const servers = [one, other, one, other];
    const token = workspace.tokens.admin;
    const answers = await Promise.all(
      servers.map((api) => api.call("POST", path, { token, body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test("an invitation is accepted or revoked, never both", async () => {
    const path = `/workspaces/${workspace.id}/members/invitations`;
    for (let round = 0; round < 20; round += 1) {
      const body = { email: `round${round}@example.com`, role: "viewer" };
      const invited = await one.call("POST", path, { body });
      const token = /svc_inv_\w+/.exec(mails.mails.at(-1)?.text ?? "")?.[0];
      const answers = await Promise.all([
        other.call("POST", "/invitations/accept", { body: { token } }),
        one.call("POST", `${path}/${invited.body.data.invitation_id}/revoke`),
        other.call("POST", "/invitations/accept", { body: { token } }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    }
  });

  test("fifty writes at once through both leave one chain without gaps", async () => {
    const { id, tokens } = await one.addWorkspace("busy");
    const path = `/workspaces/${id}/members/invitations`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        (at % 2 ? one : other).call("POST", path, {
          token: tokens.admin,
          body: { email: `person${at}@example.com`, role: "viewer" },
        }),
      ),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(await verifyAudit(one.db, id)).toMatchObject({ faults: [], intact: [{ index: 50 }] });
  });

  test("a chain that grows while it is verified is intact", async () => {
    const { id, tokens } = await one.addWorkspace("growing");
    const path = `/workspaces/${id}/members/invitations`;
    const writes = Array.from({ length: 30 }, (_, at) =>
      other.call("POST", path, {
        token: tokens.admin,
        body: { email: `person${at}@example.com`, role: "viewer" },
      }),
    );
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => verifyAudit(one.db, id)));
    await Promise.all(writes);
    expect(verdicts.flatMap(({ faults }) => faults)).toEqual([]);
    expect(await verifyAudit(one.db, id)).toMatchObject({ intact: [{ index: 30 }] });
  });
});
