import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SmtpServer, startSmtpServer } from "../../simulators/smtp-server.ts";
import { startTestControl, type TestControl, type TestWorkspace } from "../../tests/control.ts";
import { verifyAudit } from "../audit/verify.ts";
import { createLog } from "../services/log.ts";

const dayMs = 86_400_000;

describe("invitations", () => {
  let api: TestControl;
  let server: SmtpServer;
  let workspace: TestWorkspace;
  let other: TestWorkspace;
  let offsetMs = 0;
  let logged = "";
  let mailsBefore = 0;

  beforeAll(async () => {
    server = await startSmtpServer();
    api = await startTestControl({
      clock: { now: () => Date.now() + offsetMs, sleep: () => Promise.resolve() },
      log: createLog({
        write: (line) => {
          logged += line;
        },
      }),
      settings: {
        mail: { smtp: { host: "127.0.0.1", port: server.port }, from: "svc <svc@example.com>" },
        publicUrl: "https://svc.example.com",
      },
    });
    other = api.second;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    offsetMs = 0;
    server.refuseRecipients(false);
    mailsBefore = server.mails.length;
    workspace = await api.addWorkspace("inviting");
  });

  const call: TestControl["call"] = (method, path, options = {}) =>
    api.call(method, path, { token: workspace.tokens.admin, ...options });
  const mails = () => server.mails.slice(mailsBefore);
  const path = (rest = "") => `/workspaces/${workspace.id}/members/invitations${rest}`;
  const invite = (body: object = {}, options: object = {}) =>
    call("POST", path(), {
      body: { email: "new@example.com", role: "editor", ...body },
      ...options,
    });
  const accept = (token: string, body: object = {}, options: object = {}) =>
    call("POST", "/invitations/accept", { token: "", body: { token, ...body }, ...options });
  const tokenIn = (text = mails().at(-1)?.text ?? "") =>
    /https:\/\/svc\.example\.com\/#\/sign-in\/(svc_inv_\w+)/.exec(text)?.[1] ?? "";
  const list = async () => (await call("GET", path())).body.data.items;

  test("go by mail, and who accepts is a member with a session of that role", async () => {
    const invited = await invite({ email: "New@Example.com", message: "Come in\nand stay" });
    expect(invited.status).toBe(201);
    expect(invited.body.data).toMatchObject({
      email: "new@example.com",
      role: "editor",
      status: "pending",
      delivery: "sent",
      directly_added: false,
      inviter_user_id: workspace.users.admin,
    });
    const { created_at, expires_at } = invited.body.data;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(7 * dayMs);
    expect(mails()).toMatchObject([{ to: ["new@example.com"] }]);
    expect(mails()[0]?.text).toMatch(/admin of inviting \(admin@.*> Come in\s+> and stay/s);

    const accepted = await accept(tokenIn(), { name: "New One" });
    expect(accepted.status).toBe(200);
    const { session, member_id, ...rest } = accepted.body.data;
    expect(rest).toMatchObject({
      workspace_id: workspace.id,
      email: "new@example.com",
      role: "editor",
    });
    const members = await call("GET", `/workspaces/${workspace.id}/members`, {
      token: session.token,
    });
    expect(members.body.data.items[0]).toMatchObject({
      member_id,
      name: "New One",
      role: "editor",
      status: "active",
    });
    const denied = await call("GET", path(), { token: session.token });
    expect(denied.status).toBe(403);
    expect(await list()).toMatchObject([{ status: "accepted" }]);
  });

  test("their token is nowhere but in the mail", async () => {
    const invited = await invite();
    const token = tokenIn();
    expect(token).toMatch(/^svc_inv_\w{46}$/);
    const resent = await call("POST", path(`/${invited.body.data.invitation_id}/resend`));
    const second = tokenIn();
    expect(second).not.toBe(token);
    const accepted = await accept(second);
    const session = accepted.body.data.session.token;
    const tables = await api.db.introspection.getTables();
    const rows = await Promise.all(
      tables.map(({ name }) =>
        api.db
          .selectFrom(name as "users")
          .selectAll()
          .execute(),
      ),
    );
    const everything = [
      JSON.stringify(rows),
      logged,
      invited.text,
      resent.text,
      JSON.stringify(accepted.headers),
    ].join();
    expect(everything).toContain("invitation.accept");
    for (const secret of [token, second, session])
      expect(everything).not.toContain(secret.slice(8));
  });

  test("an existing user becomes a member here too, with a session for this workspace alone", async () => {
    const [user] = await api.db
      .selectFrom("users")
      .selectAll()
      .where("id", "=", other.users.admin)
      .execute();
    await invite({ email: user?.email.toUpperCase(), role: "viewer" });
    const { body } = await accept(tokenIn(), { name: "Somebody else" });
    expect(body.data.user_id).toBe(other.users.admin);
    const { token } = body.data.session;
    expect((await call("GET", `/workspaces/${other.id}/members`, { token })).status).toBe(404);
    expect((await call("GET", `/workspaces/${workspace.id}/members`, { token })).status).toBe(200);
    const [after] = await api.db
      .selectFrom("users")
      .selectAll()
      .where("id", "=", other.users.admin)
      .execute();
    expect(after?.name).toBe(user?.name);
    // The tokens that the user had reach the workspace too.
    const own = await call("GET", `/workspaces/${workspace.id}/members`, {
      token: other.tokens.admin,
    });
    expect(own.status).toBe(200);
  });

  test("are accepted once, by whoever is first", async () => {
    await invite();
    const token = tokenIn();
    const answers = await Promise.all([accept(token), accept(token), accept(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await accept(token)).body).toMatchObject({
      code: "409",
      details: { reason: "invitation_not_pending" },
    });
    const members = await call("GET", `/workspaces/${workspace.id}/members`);
    expect(
      members.body.data.items.filter((one: { email: string }) => one.email === "new@example.com"),
    ).toHaveLength(1);
  });

  test("nobody else's token opens one", async () => {
    await invite();
    const token = tokenIn();
    for (const wrong of [
      `${token}0`,
      token.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
      "x",
      workspace.tokens.admin,
    ]) {
      expect((await accept(wrong)).body).toMatchObject({
        code: "404",
        details: { reason: "not_found" },
      });
    }
    expect((await accept(token, { role: "admin" })).status).toBe(422);
    expect(await list()).toMatchObject([{ status: "pending" }]);
  });

  test("end after their days, and another one can be made then", async () => {
    const invited = await invite({ expires_in_days: 2 });
    const token = tokenIn();
    offsetMs += 2 * dayMs + 1_000;
    expect((await accept(token)).body).toMatchObject({
      code: "410",
      details: { reason: "invitation_expired" },
    });
    expect(await list()).toMatchObject([{ status: "expired" }]);
    const resent = await call("POST", path(`/${invited.body.data.invitation_id}/resend`));
    expect(resent.body.details.reason).toBe("invitation_expired");
    expect((await invite()).status).toBe(201);
    expect((await accept(token)).status).toBe(410);
    expect((await accept(tokenIn())).status).toBe(200);
    const ofStatus = async (status: string) =>
      (await call("GET", `${path()}?status=${status}`)).body.data.items.length;
    expect([
      await ofStatus("expired"),
      await ofStatus("accepted"),
      await ofStatus("pending"),
    ]).toEqual([1, 1, 0]);
  });

  test("are refused for members and for who is invited already, also when both come at once", async () => {
    const answers = await Promise.all([invite(), invite({ email: "NEW@example.com" })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await invite()).body.details).toMatchObject({
      reason: "invitation_exists",
      invitation_id: expect.stringMatching(/^inv_/),
    });
    expect(mails()).toHaveLength(1);
    await accept(tokenIn());
    expect((await invite()).body.details.reason).toBe("already_member");
  });

  test("can be revoked, again and again, until they are accepted", async () => {
    const { invitation_id: id } = (await invite()).body.data;
    const revoked = await call("POST", path(`/${id}/revoke`));
    expect(revoked.body.data.status).toBe("revoked");
    expect((await call("POST", path(`/${id}/revoke`))).body.data).toEqual(revoked.body.data);
    expect((await accept(tokenIn())).body.details).toEqual({
      reason: "invitation_not_pending",
      status: "revoked",
    });
    expect((await call("POST", path(`/${id}/resend`))).body.details.reason).toBe(
      "invitation_not_pending",
    );
    const second = (await invite()).body.data.invitation_id;
    await accept(tokenIn());
    expect((await call("POST", path(`/${second}/revoke`))).body.details.reason).toBe(
      "invitation_not_pending",
    );
  });

  test("a mail that fails is told, and can be sent again with another link", async () => {
    server.refuseRecipients(true);
    const headers = { "idempotency-key": "k" };
    const invited = await invite({}, { headers });
    expect(invited.body.data).toMatchObject({ status: "pending", delivery: "failed" });
    expect(invited.status).toBe(201);
    expect((await invite({}, { headers })).body.data).toEqual(invited.body.data);
    expect(await list()).toMatchObject([{ delivery: "failed" }]);
    server.refuseRecipients(false);
    offsetMs += dayMs;
    const resent = await call("POST", path(`/${invited.body.data.invitation_id}/resend`));
    expect(resent.body.data.delivery).toBe("sent");
    expect(
      Date.parse(resent.body.data.expires_at) - Date.parse(invited.body.data.expires_at),
    ).toBeGreaterThanOrEqual(dayMs);
    const first = tokenIn();
    await call("POST", path(`/${invited.body.data.invitation_id}/resend`));
    expect((await accept(first)).status).toBe(404);
    expect((await accept(tokenIn())).status).toBe(200);
  });

  test("end with the rights of who gave them", async () => {
    await invite({ role: "admin" });
    await accept(tokenIn());
    const members = (await call("GET", `/workspaces/${workspace.id}/members?role=admin`)).body.data
      .items;
    const newcomer = members.find((one: { email: string }) => one.email === "new@example.com");
    await invite({ email: "friend@example.com" });
    const own = members.find((one: { user_id: string }) => one.user_id === workspace.users.admin);
    await api.db
      .updateTable("memberships")
      .set({ role: "editor" })
      .where("id", "=", own.member_id)
      .execute();
    expect((await accept(tokenIn())).body.details.reason).toBe("inviter_no_longer_permitted");
    expect(newcomer.role).toBe("admin");
  });

  test("of another workspace do not exist", async () => {
    const { invitation_id: id } = (await invite()).body.data;
    const token = other.tokens.admin;
    const unknown = "inv_0000000000000000000000";
    for (const verb of ["revoke", "resend"]) {
      const foreign = `/workspaces/${other.id}/members/invitations`;
      const answers = await Promise.all([
        call("POST", `${foreign}/${id}/${verb}`, { token }),
        call("POST", `${foreign}/${unknown}/${verb}`, { token }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect({ ...answers[0]?.body, request_id: "" }).toEqual({
        ...answers[1]?.body,
        request_id: "",
      });
      expect((await call("POST", path(`/${id}/${verb}`), { token })).status).toBe(404);
    }
    expect((await call("GET", path(), { token })).status).toBe(404);
  });

  test("are for administrators, and to addresses that are one", async () => {
    for (const role of ["viewer", "runner", "editor", "agent"] as const)
      expect((await invite({}, { token: workspace.tokens[role] })).status).toBe(403);
    for (const email of [
      "",
      "x",
      "a@b",
      "a@example.com,b@example.com",
      "a@example.com\r\nBcc: b@example.com",
      "é@example.com",
    ])
      expect((await invite({ email })).body.details.errors).toMatchObject([{ path: "email" }]);
    expect((await invite({ role: "owner" })).status).toBe(422);
    expect((await invite({ expires_in_days: 31 })).status).toBe(422);
    expect(mails()).toEqual([]);
  });

  test("are accepted by no proposal, and by no more tries than a stranger has", async () => {
    await invite();
    const proposed = await accept(
      tokenIn(),
      {},
      { headers: { "x-svc-execution-mode": "proposal" } },
    );
    expect(proposed.body).toMatchObject({ code: "403", message: "permission denied" });
    expect(await list()).toMatchObject([{ status: "pending" }]);
    await using strict = await startTestControl({
      settings: { limits: { read: 9, write: 9, provider: 9, anonymous: 2 } },
    });
    const tries = [1, 2, 3].map(() =>
      strict.call("POST", "/invitations/accept", { body: { token: "x" } }),
    );
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([404, 404, 429]);
  });

  test("give their link to who invites where no mail server brings it, once", async () => {
    const outbox = await mkdtemp(join(tmpdir(), "svc-outbox-"));
    await using own = await startTestControl({
      settings: { mail: { outbox }, ownUrl: "http://127.0.0.1:8080" },
    });
    const at = `/workspaces/${own.first.id}/members/invitations`;
    const body = { email: "new@example.com", role: "viewer" };
    const headers = { "idempotency-key": "invite-once" };
    const made = await own.call("POST", at, { body, headers });
    expect([made.status, made.body.data.delivery]).toEqual([201, "kept"]);
    const [, token = ""] =
      /^http:\/\/127\.0\.0\.1:8080\/#\/sign-in\/(svc_inv_\w+)$/.exec(made.body.data.link) ?? [];
    const again = await own.call("POST", at, { body, headers });
    expect(again.body.data).toEqual({ ...made.body.data, link: null });
    expect((await own.call("GET", at)).text).not.toContain(token);
    const [file = ""] = await readdir(outbox);
    expect(await readFile(join(outbox, file), "utf8")).toContain(made.body.data.link);
    const accepted = await own.call("POST", "/invitations/accept", { token: "", body: { token } });
    expect(accepted.status).toBe(200);
    await rm(outbox, { recursive: true });
  });

  test("of an instance with a mail server show no link to anybody", async () => {
    const made = await invite();
    expect(made.body.data).toMatchObject({ delivery: "sent", link: null });
    expect(made.text).not.toContain(tokenIn());
  });

  test("fifty at once are fifty entries of one chain", async () => {
    const emails = Array.from({ length: 50 }, (_, at) => `person${at}@example.com`);
    const answers = await Promise.all(emails.map((email) => invite({ email })));
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(await verifyAudit(api.db, workspace.id)).toMatchObject({
      faults: [],
      intact: [{ index: 50 }],
    });
  });
});
