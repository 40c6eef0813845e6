import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SmtpServer, startSmtpServer } from "../../simulators/smtp-server.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createInvitationToken, createLinkCode } from "../contract/ids.ts";
import { hashToken } from "../door/authenticate.ts";
import { createSession } from "../members/sessions.ts";
import { addConsole } from "./console.ts";

describe("the console's session", () => {
  let api: TestControl;
  let offsetMs = 0;
  let post: SmtpServer;
  beforeAll(async () => {
    post = await startSmtpServer();
    api = await startTestControl({
      clock: { now: () => Date.now() + offsetMs, sleep: () => Promise.resolve() },
      settings: {
        ownUrl: "https://svc.example.com",
        mail: { smtp: { host: "127.0.0.1", port: post.port }, from: "svc <svc@example.com>" },
      },
    });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await post?.[Symbol.asyncDispose]();
  });

  const now = () => new Date(api.control.services.clock.now());
  const own = { host: "svc.test:8080", origin: "http://svc.test:8080", "x-svc-console": "1" };
  const session = (
    method: "POST" | "DELETE",
    secret?: unknown,
    headers: Record<string, string> = {},
    drop: readonly string[] = [],
  ) => {
    const all = Object.entries({
      ...own,
      ...(secret === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    }).filter(([name]) => !drop.includes(name));
    return api.server.inject({
      method,
      url: "/console/session",
      headers: Object.fromEntries(all),
      ...(secret === undefined ? {} : { payload: JSON.stringify({ secret }) }),
    });
  };
  const cookieOf = (answer: { headers: Record<string, unknown> }) =>
    String(answer.headers["set-cookie"]).split(";")[0] ?? "";
  const ask = (
    cookie: string,
    headers: Record<string, string> = own,
    method: "GET" | "POST" = "GET",
    url = "/control/v1/me",
  ) => api.server.inject({ method, url, headers: { ...headers, cookie } });
  const link = async (lifetimeMs = 900_000) => {
    const code = createLinkCode();
    const userId = api.first.users.admin;
    await createSession(api.db, { userId, client: "cli", token: code, lifetimeMs }, now());
    return code;
  };
  const reasonOf = (answer: { payload: string }) => JSON.parse(answer.payload).details?.reason;

  test("begins with a link that is good once, and is in a cookie that no script reads", async () => {
    const code = await link();
    const first = await session("POST", code);
    expect(first.statusCode).toBe(201);
    expect(first.headers["set-cookie"]).toMatch(
      /^svc_console_8080=svc_cs_\w{46}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(first.payload).not.toMatch(/svc_(cs|at|in)_/);
    const me = await ask(cookieOf(first));
    expect(JSON.parse(me.payload).data.user_id).toBe(api.first.users.admin);
    const again = await session("POST", code);
    expect(again.statusCode).toBe(401);
    expect(again.headers["set-cookie"]).toBeUndefined();
  });

  test("a link is taken by one of those who open it at the same time", async () => {
    const code = await link();
    const answers = await Promise.all([1, 2, 3, 4].map(() => session("POST", code)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 401, 401, 401]);
  });

  describe("a link by mail", () => {
    const askForLink = (email: unknown, headers: Record<string, string> = {}) =>
      api.server.inject({
        method: "POST",
        url: "/console/link",
        headers: { ...own, "content-type": "application/json", ...headers },
        payload: JSON.stringify({ email }),
      });
    let seen = 0;
    /** The mails that have come when nothing is under way any more. */
    const mailed = async (count: number) => {
      while (post.mails.length < seen + count)
        await new Promise((resolve) => setImmediate(resolve));
      const come = post.mails.slice(seen);
      seen = post.mails.length;
      return come;
    };

    test("signs in, once, whoever has an account here, and tells nobody who has", async () => {
      const { email } = await api.db
        .selectFrom("users")
        .select("email")
        .where("id", "=", api.first.users.viewer)
        .executeTakeFirstOrThrow();
      const unknown = await askForLink("nobody@example.com");
      const known = await askForLink(email.toUpperCase());
      for (const answer of [unknown, known])
        expect([answer.statusCode, JSON.parse(answer.payload).data]).toEqual([
          202,
          { reaches: "recipients" },
        ]);
      const [mail, ...more] = await mailed(1);
      expect([mail?.to, more]).toEqual([[email], []]);
      const code = /https:\/\/svc\.example\.com\/#\/sign-in\/(svc_in_\w+)/.exec(
        mail?.text ?? "",
      )?.[1];
      const signedIn = await session("POST", code);
      const me = await ask(cookieOf(signedIn));
      expect(JSON.parse(me.payload).data.user_id).toBe(api.first.users.viewer);
      expect((await session("POST", code)).statusCode).toBe(401);
    });

    test("comes once a minute, however often it is asked for", async () => {
      const ask = async () => {
        const { email } = await api.db
          .selectFrom("users")
          .select("email")
          .where("id", "=", api.first.users.runner)
          .executeTakeFirstOrThrow();
        await Promise.all([askForLink(email), askForLink(email), askForLink(email)]);
      };
      await ask();
      expect(await mailed(1)).toHaveLength(1);
      offsetMs = 61_000;
      await ask();
      expect(await mailed(1)).toHaveLength(1);
      offsetMs = 0;
    });

    test.each([
      ["another site's page", "x@example.com", { origin: "https://evil.example.com" }, 403],
      ["no address", 7, {}, 422],
    ])("is refused to %s", async (_what, email, headers, status) => {
      expect((await askForLink(email, headers)).statusCode).toBe(status);
    });
  });

  test("a link ends by itself", async () => {
    const code = await link();
    offsetMs = 900_001;
    expect((await session("POST", code)).statusCode).toBe(401);
    offsetMs = 0;
  });

  test("neither a link's code nor what is in the cookie is an access token, nor the other way round", async () => {
    const code = await link();
    const bearer = (token: string) =>
      api.server.inject({ url: "/control/v1/me", headers: { authorization: `Bearer ${token}` } });
    expect((await bearer(code)).statusCode).toBe(401);
    expect((await ask(`svc_console_8080=${code}`)).statusCode).toBe(401);
    const [, value = ""] = cookieOf(await session("POST", code)).split("=");
    expect((await bearer(value)).statusCode).toBe(401);
    expect((await session("POST", value)).statusCode).toBe(401);
    expect((await ask(`svc_console_8080=${api.first.tokens.admin}`)).statusCode).toBe(401);
  });

  test.each([
    ["of another origin", { origin: "https://evil.test" }, []],
    ["of another port of this host", { origin: "http://svc.test:9090" }, []],
    ["that a sandboxed frame sends", { origin: "null" }, []],
    ["that a site of the same domain sends", { "sec-fetch-site": "same-site" }, []],
    ["that another site sends", { "sec-fetch-site": "cross-site" }, []],
    ["without the console's header", {}, ["x-svc-console"]],
    ["that does not say where it comes from", {}, ["origin"]],
  ])("does not begin by a request %s, which takes no link away", async (_, headers, drop) => {
    const code = await link();
    const refused = await session("POST", code, headers as Record<string, string>, drop);
    expect(refused.statusCode).toBe(403);
    expect(reasonOf(refused)).toBe("origin_not_allowed");
    expect(refused.headers["set-cookie"]).toBeUndefined();
    expect((await session("POST", code)).statusCode).toBe(201);
  });

  test.each([
    ["without the console's header", { host: own.host, origin: own.origin }],
    ["from another origin", { ...own, origin: "https://evil.test" }],
    ["from another site", { ...own, "sec-fetch-site": "cross-site" }],
    ["from a link on another page", { host: own.host, "sec-fetch-site": "none" }],
  ])("counts for nothing at the API %s", async (_, headers) => {
    const cookie = cookieOf(await session("POST", await link()));
    expect((await ask(cookie)).statusCode).toBe(200);
    expect((await ask(cookie, headers as typeof own)).statusCode).toBe(401);
    expect((await ask(cookie, headers as typeof own, "POST", "/mcp")).statusCode).not.toBe(200);
  });

  test("a write must say from where it comes", async () => {
    const cookie = cookieOf(await session("POST", await link()));
    const { origin: _, ...silent } = own;
    const write = (headers: Record<string, string>) =>
      ask(cookie, headers, "POST", "/control/v1/sessions/ses_x/revoke");
    expect((await write(silent)).statusCode).toBe(401);
    expect((await write({ ...silent, "sec-fetch-site": "same-origin" })).statusCode).toBe(404);
  });

  test("is no way to the tools of agents", async () => {
    const cookie = cookieOf(await session("POST", await link()));
    expect((await ask(cookie, own, "POST", "/mcp")).statusCode).not.toBe(200);
  });

  test("is never one that the browser brought along, and ends the one before", async () => {
    const planted = `svc_console_8080=svc_cs_${"a".repeat(46)}`;
    const first = cookieOf(await session("POST", await link(), { cookie: planted }));
    expect(first).not.toBe(planted);
    const second = cookieOf(await session("POST", await link(), { cookie: first }));
    expect((await ask(first)).statusCode).toBe(401);
    expect((await ask(second)).statusCode).toBe(200);
    expect((await ask(`${second}; ${first}`)).statusCode).toBe(401);
  });

  test("an Authorization header says who asks, whatever the cookie says", async () => {
    const cookie = cookieOf(await session("POST", await link()));
    const headers = { ...own, authorization: `Bearer ${api.second.tokens.viewer}` };
    expect(JSON.parse((await ask(cookie, headers)).payload).data.user_id).toBe(
      api.second.users.viewer,
    );
    expect((await ask(cookie, { ...own, authorization: "Bearer x" } as never)).statusCode).toBe(
      401,
    );
  });

  test("of a token may do what the token may, and ends with it", async () => {
    const made = await createSession(
      api.db,
      {
        userId: api.first.users.admin,
        workspaceId: api.first.id,
        role: "viewer",
        client: "mcp",
        lifetimeMs: 60_000,
      },
      now(),
    );
    const cookie = cookieOf(await session("POST", made.token));
    const me = JSON.parse((await ask(cookie)).payload).data;
    expect(me.memberships).toEqual([{ workspace_id: api.first.id, role: "viewer" }]);
    expect(me.session.client).toBe("mcp");
    expect(Date.parse(me.session.expires_at)).toBeLessThanOrEqual(now().getTime() + 60_000);
    await api.call("POST", `/sessions/${made.sessionId}/revoke`);
    expect((await ask(cookie)).statusCode).toBe(401);
  });

  test("of an invitation leaves no token behind that nobody has", async () => {
    const token = createInvitationToken();
    const invited = await api.call("POST", `/workspaces/${api.first.id}/members/invitations`, {
      body: { email: "new@example.com", role: "runner" },
    });
    const id = invited.body.data.invitation_id;
    await api.db
      .updateTable("invitations")
      .set({ token_hash: hashToken(token) })
      .where("id", "=", id)
      .execute();
    const answer = await session("POST", token);
    expect(answer.statusCode).toBe(201);
    const me = JSON.parse((await ask(cookieOf(answer))).payload).data;
    expect(me).toMatchObject({ email: "new@example.com", memberships: [{ role: "runner" }] });
    const rows = await api.db
      .selectFrom("sessions")
      .select(["name", "revoked_at"])
      .where("user_id", "=", me.user_id)
      .execute();
    expect(rows.filter((row) => row.revoked_at === null)).toMatchObject([{ name: "Console" }]);
    const twice = await session("POST", token);
    expect([twice.statusCode, reasonOf(twice)]).toEqual([409, "invitation_not_pending"]);
  });

  test("ends by signing out, at once and for good; twice is no failure", async () => {
    const cookie = cookieOf(await session("POST", await link()));
    const out = await session("DELETE", undefined, { cookie });
    expect(out.headers["set-cookie"]).toMatch(/^svc_console_8080=; Path=\/; Max-Age=0/);
    expect((await ask(cookie)).statusCode).toBe(401);
    expect((await session("DELETE", undefined, { cookie })).statusCode).toBe(200);
    const log = await api.call("GET", "/audit-logs?limit=2");
    expect(log.body.data.items.map(({ summary }: { summary: string }) => summary)).toEqual([
      "Sign out of the console",
      "Sign in to the console",
    ]);
  });

  test("signing out, or in again, leaves the tokens that were made meanwhile; revoking the session does not", async () => {
    const bearer = async (token: string) =>
      (
        await api.server.inject({
          url: "/control/v1/me",
          headers: { authorization: `Bearer ${token}` },
        })
      ).statusCode;
    const cookie = cookieOf(await session("POST", await link()));
    const me = JSON.parse((await ask(cookie)).payload).data;
    const made = await api.server.inject({
      method: "POST",
      url: "/control/v1/sessions",
      headers: { ...own, cookie, "content-type": "application/json" },
      payload: JSON.stringify({ workspace_id: api.first.id, name: "Agent", role: "editor" }),
    });
    const { token } = JSON.parse(made.payload).data;
    const again = cookieOf(await session("POST", await link(), { cookie }));
    expect((await ask(cookie)).statusCode).toBe(401);
    expect(await bearer(token)).toBe(200);
    await session("DELETE", undefined, { cookie: again });
    expect(await bearer(token)).toBe(200);
    await api.call("POST", `/sessions/${me.session.session_id}/revoke`);
    expect(await bearer(token)).toBe(401);
  });

  test.each([
    [null],
    [{}],
    ["x"],
    ["svc_at_"],
    [`svc_in_${"a".repeat(46)}`],
    [7],
  ])("does not begin with %j, which is repeated nowhere", async (secret) => {
    const answer = await session("POST", secret);
    expect([answer.statusCode, reasonOf(answer)]).toEqual([401, "unauthenticated"]);
  });

  test("who tries secrets is slowed down", async () => {
    await using strict = await startTestControl({
      settings: { limits: { read: 9, write: 9, provider: 9, anonymous: 3 } },
    });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const headers = { ...own, "content-type": "application/json" };
      const payload = JSON.stringify({ secret: createLinkCode() });
      statuses.push(
        (await strict.server.inject({ method: "POST", url: "/console/session", headers, payload }))
          .statusCode,
      );
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});

describe("the console's page", () => {
  const serve = async (folder: string) => {
    const server = Fastify();
    addConsole(server, { services: { settings: {} } } as never, folder);
    await server.ready();
    return server;
  };

  test("has a policy that lets nothing in; files are kept for good, the page never", async () => {
    const folder = await mkdtemp(join(tmpdir(), "console-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), "<p>console</p>");
    await writeFile(join(folder, "assets/index-abc.js"), "export {};");
    await writeFile(join(folder, "secret.txt"), "no");
    const server = await serve(folder);
    const page = await server.inject("/");
    expect(page.payload).toBe("<p>console</p>");
    expect(page.headers["cache-control"]).toBe("no-store");
    const policy = String(page.headers["content-security-policy"]);
    for (const part of [
      "default-src 'none'",
      "script-src 'self';",
      "style-src 'self';",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain("unsafe");
    const file = await server.inject("/assets/index-abc.js");
    expect(file.headers["cache-control"]).toContain("immutable");
    for (const path of ["/assets/../secret.txt", "/secret.txt", "/assets/%2e%2e/secret.txt"])
      expect((await server.inject(path)).statusCode).not.toBe(200);
    await server.close();
    await rm(folder, { recursive: true });
  });

  test("says how to build it in a checkout that has none", async () => {
    const server = await serve("/nowhere");
    expect((await server.inject("/")).payload).toContain("npm run build");
    await server.close();
  });
});
