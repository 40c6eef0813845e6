/** `svc serve` and the commands beside it, as processes on an embedded database. */
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { request as requestOverTls } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../simulators/certificates.ts";
import { choose, skipUnlessWhole } from "./effort.ts";
import { prepareInstance } from "./instance.ts";
import { administer, type Served, startServe, svc } from "./served.ts";

/** Of kills. */
const rounds = choose({ quick: 1, whole: 3 });
const canary = "canary-of-a-mailer-token-0123456789-abcdefghij";

describe("svc serve", () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), "svc-serve-"));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));

  const linkOf = ({ texts }: Served) =>
    /#\/sign-in\/(svc_in_\w{46})\n/.exec(texts.stdout)?.[1] ?? "none";
  const isLine = (text: string) => expect(text).toMatch(/^svc: [^\n]+\n$/);

  test("starts from nothing, answers, says once what its first token is, and stops in peace", async () => {
    await using first = await startServe({ cwd });
    const { token = "none" } = first;
    const me = await first.call("GET", "/me");
    expect(me).toMatchObject({ status: 200, body: { data: { email: "admin@localhost" } } });
    const stored = await first.call("POST", "/credentials/mailer/api-token", {
      body: { api_token: canary },
    });
    expect(stored.status).toBe(201);
    const origin = new URL(first.url).origin;
    expect(await (await fetch(`${origin}/healthz`)).json()).toMatchObject({
      data: { status: "alive" },
    });
    const ready = { status: "ready", database: "embedded", sandbox: "process" };
    expect(await (await fetch(`${origin}/readyz`)).json()).toMatchObject({
      request_id: expect.any(String),
      data: ready,
    });
    for (const name of ["keys.json", "admin.sock"])
      expect((await stat(join(cwd, ".svc", name))).mode & 0o777, name).toBe(0o600);
    // Everything that can be seen of a process from outside.
    const [key] = JSON.parse(await readFile(join(cwd, ".svc/keys.json"), "utf8")).keys as {
      key: string;
    }[];
    if (process.platform === "linux") {
      for (const name of ["cmdline", "environ"]) {
        const seen = await readFile(`/proc/${first.child.pid}/${name}`, "latin1");
        for (const secret of [token, canary, key?.key ?? "none"])
          expect(seen).not.toContain(secret);
      }
    }
    const code = linkOf(first);
    const signIn = () =>
      fetch(`${origin}/console/session`, {
        method: "POST",
        headers: { origin, "x-svc-console": "1", "content-type": "application/json" },
        body: JSON.stringify({ secret: code }),
      });
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).toBe(401);
    const ended = await first.end("SIGTERM");
    expect(ended.code).toBe(0);
    expect(ended.stdout.split(token)).toHaveLength(2);
    for (const secret of [token, code, canary, key?.key ?? "none"])
      expect(ended.stderr).not.toContain(secret);
    for (const line of ended.stderr.trim().split("\n"))
      expect(JSON.parse(line)).toHaveProperty("msg");

    await using second = await startServe({ cwd });
    expect(second.token).toBeUndefined();
    // Another link: on one's own machine one comes in by starting it.
    expect(linkOf(second)).not.toBe(code);
    const again = await second.call("GET", `/credentials/${stored.body.data.credential_id}`, {
      token,
    });
    expect(again).toMatchObject({ status: 200, body: { data: { status: "active" } } });
    expect((await second.end("SIGINT")).code).toBe(0);
  });

  test("lets a request end that runs when the signal comes", async (context) => {
    skipUnlessWhole(context);
    await prepareInstance(cwd);
    await using served = await startServe({ cwd });
    const body = JSON.stringify({ api_token: canary });
    const running = request(`${served.url}/credentials/mailer/api-token`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${served.token}`,
        "content-type": "application/json",
        "content-length": body.length,
      },
    });
    running.write(body.slice(0, 5));
    // The server has taken the request up when it answers a later one.
    await served.call("GET", "/me");
    const ended = served.end("SIGTERM");
    while (!served.texts.stderr.includes('"stopping"'))
      await once(served.child.stderr as NodeJS.ReadableStream, "data");
    running.end(body.slice(5));
    const [response] = await once(running, "response");
    expect(response.statusCode).toBe(201);
    expect((await ended).code).toBe(0);
  });

  test("keeps everything that it has acknowledged when it is killed in the middle of writes", async () => {
    await prepareInstance(cwd);
    let token: string | undefined;
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await using served = await startServe({ cwd });
      token ??= served.token;
      const before = acknowledged.length;
      const write = async () => {
        while (served.child.signalCode === null && !served.child.killed) {
          const body = { api_token: canary, name: `round ${round}` };
          const stored = await served
            .call("POST", "/credentials/mailer/api-token", { token, body })
            .catch(() => undefined);
          if (stored?.status !== 201) return;
          acknowledged.push(stored.body.data.credential_id);
          if (acknowledged.length - before >= 15) served.child.kill("SIGKILL");
        }
      };
      await Promise.all([write(), write(), write(), write()]);
      expect(acknowledged.length - before).toBeGreaterThanOrEqual(15);
    }
    await using served = await startServe({ cwd });
    for (const id of acknowledged)
      expect((await served.call("GET", `/credentials/${id}`, { token })).status).toBe(200);
    await served.end("SIGTERM");
    expect(await administer(cwd, "audit", "verify")).toMatchObject({ code: 0 });
  });

  test("is administered while it runs, and afterwards", async () => {
    await prepareInstance(cwd);
    await using served = await startServe({ cwd });
    const made = await svc(
      { cwd },
      "token",
      "create",
      "--role",
      "viewer",
      "--client",
      "mcp",
      "--name",
      "an agent",
    );
    expect(made.code).toBe(0);
    const token = made.stdout.trim();
    expect(made.stderr).not.toContain(token);
    expect((await served.call("GET", "/me", { token })).body.data.memberships).toMatchObject([
      { role: "viewer" },
    ]);

    expect((await svc({ cwd }, "workspaces", "create", "Acme GmbH")).stdout).toMatch(
      /^ws_\w{22} {2}acme-gmbh, /,
    );
    const workspaces = await served.call("GET", "/workspaces");
    expect(workspaces.body.data.items.map(({ slug }: { slug: string }) => slug).sort()).toEqual([
      "acme-gmbh",
      "default",
    ]);
    const bound = await administer(
      cwd,
      "token",
      "create",
      "--workspace",
      "acme-gmbh",
      "--days",
      "1",
    );
    const session = await served.call("GET", "/me", { token: bound.stdout.trim() });
    expect(session.body.data.memberships).toMatchObject([{ role: "editor" }]);

    expect((await administer(cwd, "connectors", "disable", "mailer")).code).toBe(0);
    const body = { api_token: canary, workspace_id: session.body.data.default_workspace_id };
    const refused = await served.call("POST", "/credentials/mailer/api-token", { body });
    expect(refused.body.details.reason).toBe("connector_disabled");
    expect((await administer(cwd, "connectors", "enable", "mailer")).code).toBe(0);
    expect((await served.call("POST", "/credentials/mailer/api-token", { body })).status).toBe(201);

    expect((await administer(cwd, "keys", "rotate")).stdout).toMatch(
      /^kek_\w+ is the key now; \d+ values/,
    );
    expect((await administer(cwd, "keys", "prune")).stdout).toMatch(/^kek_\w+ is removed\n$/);
    expect((await administer(cwd, "keys", "list")).stdout).toMatch(
      /^key .*\nkek_\w+ +current +\d+ .*\n$/,
    );
    expect((await served.call("POST", "/credentials/mailer/api-token", { body })).status).toBe(201);

    const { session_id } = (await served.call("GET", "/me", { token })).body.data.session;
    expect((await administer(cwd, "token", "revoke", session_id)).code).toBe(0);
    expect((await served.call("GET", "/me", { token })).status).toBe(401);
    await served.end("SIGTERM");
    const listed = await administer(cwd, "token", "list");
    expect(listed.stdout).toMatch(
      new RegExp(`${session_id} .* viewer .* mcp .* revoked .* an agent`),
    );
    expect(await svc({ cwd }, "audit", "verify")).toMatchObject({ code: 0 });
  });

  test("says in one line what is wrong", async () => {
    const none = await administer(cwd, "token", "list");
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no instance in"),
    });
    await prepareInstance(cwd);
    await using served = await startServe({ cwd });

    const second = await administer(cwd, "serve", "--port", "0");
    expect(second).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is in use by another svc"),
    });
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const { port } = busy.address() as { port: number };
    await prepareInstance(cwd, "other");
    const taken = await svc({ cwd }, "serve", "--data", "other", "--port", String(port));
    busy.close();
    expect(taken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`port ${port} of 127.0.0.1 is in use`),
    });
    const everywhere = ["--port", "0", "--host", "0.0.0.0"];
    const open = await administer(cwd, "serve", "--data", "third", ...everywhere);
    expect(open).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("access tokens must not travel in the clear"),
    });
    const misspelt = await administer(cwd, "token", "crate");
    expect(misspelt).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "create"?'),
    });
    const unknown = await administer(cwd, "token", "revoke", "ses_none");
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no session of that id"),
    });
    await served.end("SIGTERM");
    for (const { stderr } of [none, second, taken, open, misspelt, unknown]) isLine(stderr);
  });

  test("does not start with keys that are damaged, open to others, or gone", async (context) => {
    skipUnlessWhole(context);
    await prepareInstance(cwd);
    const keys = join(cwd, ".svc/keys.json");
    await using served = await startServe({ cwd });
    await served.end("SIGTERM");
    const text = await readFile(keys, "utf8");
    await chmod(keys, 0o644);
    const open = await administer(cwd, "serve", "--port", "0");
    expect(open).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is open to other users"),
    });
    await chmod(keys, 0o600);
    await writeFile(keys, text.slice(0, 50));
    const damaged = await administer(cwd, "serve", "--port", "0");
    expect(damaged).toMatchObject({ code: 2, stderr: expect.stringContaining("is damaged") });
    await rm(keys);
    const gone = await administer(cwd, "serve", "--port", "0");
    expect(gone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("restore it from your backup"),
    });
    // Other keys are no keys.
    await rm(join(cwd, "other"), { recursive: true, force: true });
    const id = "kek_0123456789abcdef";
    const others = { current: id, keys: [{ id, key: Buffer.alloc(32).toString("base64") }] };
    await writeFile(keys, JSON.stringify(others), { mode: 0o600 });
    const wrong = await administer(cwd, "serve", "--port", "0");
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the key file lacks kek_"),
    });
    for (const { stderr } of [open, damaged, gone, wrong]) isLine(stderr);
  });

  test("does not touch a database of a newer version", async (context) => {
    skipUnlessWhole(context);
    await prepareInstance(cwd);
    await using served = await startServe({ cwd });
    await served.end("SIGTERM");
    const database = await PGlite.create({ dataDir: join(cwd, ".svc/database") });
    await database.query(
      "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', now()::text)",
    );
    await database.close();
    const refused = await administer(cwd, "serve", "--port", "0");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("newer version of svc"),
    });
    isLine(refused.stderr);
  });

  test("says that a PostgreSQL database cannot be reached, without its URL", async (context) => {
    skipUnlessWhole(context);
    const env = { DATABASE_URL: `postgres://svc:${canary}@127.0.0.1:1/svc` };
    const unnamed = await svc({ cwd, env }, "serve", "--port", "0");
    expect(unnamed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("name the key file"),
    });
    await writeFile(join(cwd, "svc.config.yaml"), "key_file: keys.json\n");
    const refused = await svc({ cwd, env }, "serve", "--port", "0");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the database refuses the connection"),
    });
    for (const { stderr } of [unnamed, refused]) {
      isLine(stderr);
      expect(stderr).not.toContain(canary);
    }
  });

  test("serves over TLS, also to other machines", async (context) => {
    skipUnlessWhole(context);
    await prepareInstance(cwd);
    const authority = await createCertificateAuthority();
    const { key, cert } = await authority.issue(["localhost"]);
    await writeFile(join(cwd, "key.pem"), key);
    await writeFile(join(cwd, "cert.pem"), cert);
    await writeFile(
      join(cwd, "svc.config.yaml"),
      "server: { host: 0.0.0.0, tls: { key: key.pem, cert: cert.pem } }\n",
    );
    await using served = await startServe({ cwd });
    const { port } = new URL(served.url);
    const asked = requestOverTls({
      ...{
        host: "127.0.0.1",
        port,
        servername: "localhost",
        ca: authority.caPem,
        path: "/control/v1/me",
      },
      headers: { authorization: `Bearer ${served.token}` },
    }).end();
    const [response] = await once(asked, "response");
    expect(response.statusCode).toBe(200);
    response.resume();
    expect((await served.end("SIGTERM")).code).toBe(0);
  });
});
