/**
 * Several `svc serve` on one PostgreSQL: they start together, share keys, and outlive the change of
 * them.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPostgres, type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { skipUnlessWhole } from "./effort.ts";
import { administer, type Served, startServe, svc } from "./served.ts";

describe.skipIf(findPostgres() === undefined)("two svc serve on one PostgreSQL", () => {
  let postgres: PostgresServer;
  let database: Awaited<ReturnType<PostgresServer["createDatabase"]>>;
  let cwd: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    database = await postgres.createDatabase();
    cwd = await mkdtemp(join(tmpdir(), "svc-shared-"));
    await writeFile(join(cwd, "database-url.txt"), `${database.url}\n`);
    await writeFile(
      join(cwd, "svc.config.yaml"),
      "key_file: keys.json\ndatabase_url: { $file: database-url.txt }\nlimits: { write: 100000 }\n",
    );
  });
  afterAll(async () => {
    await postgres?.stop();
    await rm(cwd, { recursive: true, force: true });
  });

  const statusOf = async (served: Served) =>
    (await fetch(`${new URL(served.url).origin}/readyz`)).status;

  test("have a port for metrics each, though their settings name one that is taken", async (context) => {
    skipUnlessWhole(context);
    const other = await postgres.createDatabase();
    await writeFile(join(cwd, "other-url.txt"), `${other.url}\n`);
    await writeFile(
      join(cwd, "metrics.yaml"),
      `key_file: keys.json\ndatabase_url: { $file: other-url.txt }\ntelemetry: { metrics: { port: ${postgres.port} } }\n`,
    );
    const settings = ["--settings", "metrics.yaml"];
    await expect(startServe({ cwd }, ...settings)).rejects.toThrow("pass another --metrics-port");
    await using served = await startServe({ cwd }, ...settings, "--metrics-port", "0");
    const [, port] =
      /"port":(\d+).*"metrics"|"metrics".*"port":(\d+)/.exec(served.texts.stderr) ?? [];
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(await answer.text()).toContain("svc_");
  });

  test("are one service", async () => {
    const [first, second] = await Promise.all([startServe({ cwd }), startServe({ cwd })]);
    await using _first = first;
    await using _second = second;
    const tokens = [first.token, second.token].filter((token) => token !== undefined);
    expect(tokens).toHaveLength(1);
    const [token] = tokens;
    const store = (served: Served, name: string) =>
      served.call("POST", "/credentials/mailer/api-token", {
        token,
        body: { api_token: `secret of ${name} 0123456789`, name },
      });
    expect((await store(first, "one")).status).toBe(201);
    expect((await second.call("GET", "/credentials", { token })).body.data.items).toHaveLength(1);

    // Keys change while both are used; the command opens the database itself.
    let isRunning = true;
    const statuses: number[] = [];
    const use = async (served: Served) => {
      while (isRunning) statuses.push((await store(served, "more")).status);
    };
    const using_ = Promise.all([use(first), use(second)]);
    const before = JSON.parse(await readFile(join(cwd, "keys.json"), "utf8")).current as string;
    const rotated = await svc({ cwd }, "keys", "rotate");
    expect(rotated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^kek_\w+ is the key now/),
    });
    // Neither has to have met the new key yet: the old one stays until nothing needs it.
    await administer(cwd, "keys", "rotate");
    await administer(cwd, "keys", "prune");
    isRunning = false;
    await using_;
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(statuses.length).toBeGreaterThan(10);
    await administer(cwd, "keys", "rotate");
    await administer(cwd, "keys", "prune");
    expect((await administer(cwd, "keys", "list")).stdout).not.toContain(before);
    const sealed = await database.query("SELECT DISTINCT kek_id FROM secrets");
    expect(sealed).toHaveLength(1);
    for (const served of [first, second]) expect((await store(served, "last")).status).toBe(201);

    // A session that is ended here is ended there.
    const made = (await administer(cwd, "token", "create")).stdout.trim();
    const { session_id } = (await first.call("GET", "/me", { token: made })).body.data.session;
    await administer(cwd, "token", "revoke", session_id);
    expect((await second.call("GET", "/me", { token: made })).status).toBe(401);

    expect(await statusOf(first)).toBe(200);
    await postgres.stop();
    expect(await statusOf(first)).toBe(503);
    const ended = await first.end("SIGTERM");
    expect(ended.code).toBe(0);
    for (const text of [ended.stdout, ended.stderr]) expect(text).not.toContain(postgres.password);
  });
});
