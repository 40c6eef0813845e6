/** Sessions with a real PostgreSQL through a real OpenSSH server. */
import type { Duplex } from "node:stream";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { hasSshServer, type SshServer, startSshServer } from "../../simulators/ssh-server.ts";
import { postgresServer } from "../contract/postgres-settings.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { asSocket } from "../wire/as-socket.ts";
import { createPostgresBroker } from "./postgres-broker.ts";

const canRun = findPostgres() !== undefined && hasSshServer();
if (!canRun) console.warn("skipped: sessions through SSH need postgresql and openssh-server");

describe.skipIf(!canRun)("a database behind an SSH server", () => {
  let database: PostgresServer;
  let bastion: SshServer;
  beforeAll(async () => {
    database = await startPostgres();
    bastion = await startSshServer();
  });
  afterAll(async () => {
    await bastion?.[Symbol.asyncDispose]();
    await database?.stop();
  });

  function createRun(
    changes: Record<string, string | number> = {},
    { through = bastion, allowNetworks = ["127.0.0.1/32"] } = {},
  ) {
    const secrets = createSecretRegistry();
    const names: string[] = [];
    const broker = createPostgresBroker({
      declaration: postgresServer(),
      config: {
        // As the SSH server knows it: nobody here looks it up.
        host: "localhost",
        port: database.port,
        database: "postgres",
        username: "postgres",
        password: database.password,
        ssl_mode: "disable",
        tunnel_host: "bastion.example.test",
        tunnel_port: through.port,
        tunnel_user: through.user,
        tunnel_private_key: through.privateKey,
        tunnel_host_key: through.fingerprint,
        ...changes,
      },
      secrets,
      clock: systemClock,
      settings: { approvedHosts: [], allowNetworks },
      seams: {
        resolve: async (name) => {
          names.push(name);
          return [{ address: "127.0.0.1", family: 4 }];
        },
      },
    });
    const signal = new AbortController().signal;
    return {
      broker,
      secrets,
      names,
      async client() {
        const stream: Duplex = await broker.connect(signal);
        const client = new Client({
          stream: () => asSocket(stream) as never,
          ssl: false,
          user: "x",
        });
        client.on("error", () => {});
        await client.connect();
        return client;
      },
      [Symbol.asyncDispose]: () => broker.close(),
    };
  }

  test.each(["disable", "prefer", "require"])("is read with ssl_mode %s", async (ssl_mode) => {
    await using run = createRun({ ssl_mode });
    const client = await run.client();
    const { rows } = await client.query(
      "SELECT ssl, (SELECT count(*)::int FROM generate_series(1, 3)) AS n FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    );
    expect(rows).toEqual([{ ssl: ssl_mode !== "disable", n: 3 }]);
    expect(run.names).toEqual(["bastion.example.test"]);
    await client.end();
    await expect.poll(() => bastion.connectionCount).toBe(0);
  });

  test("its certificate is verified for its own name, whatever the SSH server is called", async () => {
    const trusted = { ssl_mode: "verify-full", ssl_root_certificate: database.caPem };
    await using run = createRun(trusted);
    await (await run.client()).end();
    const otherAuthority = (await createCertificateAuthority()).caPem;
    await using other = createRun({ ...trusted, ssl_root_certificate: otherAuthority });
    await expect(other.client()).rejects.toMatchObject({ code: "TLS_FAILED" });
  });

  test("large results pass unchanged, four sessions at a time", async () => {
    await using run = createRun();
    const clients = await Promise.all([1, 2, 3, 4].map(() => run.client()));
    const sql = "SELECT i, repeat(md5(i::text), 50) AS v FROM generate_series(1, 5000) i";
    const results = await Promise.all(clients.map((client) => client.query(sql)));
    for (const { rows } of results) {
      expect(rows).toHaveLength(5_000);
      expect(rows.every(({ v }) => v.length === 1_600)).toBe(true);
      expect(rows).toEqual(results[0]?.rows);
    }
    await run.broker.close();
    await expect.poll(() => bastion.connectionCount).toBe(0);
  });

  test("the whole key in the settings does as well as its fingerprint; another one gets nothing", async () => {
    for (const tunnel_host_key of [bastion.hostKey, `bastion.example.test ${bastion.hostKey}`]) {
      await using run = createRun({ tunnel_host_key });
      await (await run.client()).end();
    }
    const missing = createRun({ tunnel_host_key: "" });
    await expect(missing.client()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: {
        path: "tunnel_host_key",
        problem: expect.stringContaining(`the SSH server shows ${bastion.fingerprint}`),
      },
    });
    await using otherServer = await startSshServer();
    const changed = createRun(
      {},
      { through: { ...otherServer, fingerprint: bastion.fingerprint } },
    );
    await expect(changed.client()).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      details: { reason: expect.stringContaining(`shows the key ${otherServer.fingerprint}`) },
    });
  });

  test("failures say who must act", async () => {
    await using strict = await startSshServer({ permitOpen: "localhost:1" });
    const cases: [string, ReturnType<typeof createRun>][] = [
      [
        "TUNNEL_FAILED: the SSH server does not let this user forward",
        createRun({}, { through: strict }),
      ],
      [
        "TUNNEL_FAILED: the SSH server does not accept the user",
        createRun({ tunnel_private_key: strict.privateKey }),
      ],
      [
        "TUNNEL_FAILED: the SSH server does not accept the user",
        createRun({ tunnel_user: "nobody-here" }),
      ],
      ["CONNECTION_FAILED: SSH server: it cannot reach", createRun({ port: 1 })],
      ["CONNECTION_FAILED: SSH server: refused", createRun({ tunnel_port: 1 })],
      ["TUNNEL_FAILED: what answers is no SSH server", createRun({ tunnel_port: database.port })],
      ["ADDRESS_REFUSED: ", createRun({}, { allowNetworks: [] })],
      ["CREDENTIALS_REJECTED: ", createRun({ password: "wrong-password" })],
    ];
    for (const [expected, run] of cases) {
      const error = await run.client().catch((thrown: unknown) => thrown);
      const { code, details } = error as { code: string; details: { reason?: string } };
      expect(`${code}: ${details?.reason ?? ""}`).toContain(expected);
      for (const line of bastion.privateKey.split("\n").filter((one) => one.length > 20))
        expect(JSON.stringify(error)).not.toContain(line);
      await run.broker.close();
    }
    await expect.poll(() => bastion.connectionCount + strict.connectionCount).toBe(0);
  });

  test("a key is searched for in all that leaves, line by line", async () => {
    await using run = createRun();
    for (const line of bastion.privateKey.split("\n").slice(1, -2))
      expect(run.secrets.contains(Buffer.from(line))).toBe(true);
  });

  test("a cut connection ends the session with an error, and the run goes on with a new one", async () => {
    await using run = createRun();
    const client = await run.client();
    const querying = client.query("SELECT pg_sleep(600)");
    querying.catch(() => {});
    bastion.cutOff();
    await expect(querying).rejects.toThrow();
    await (await run.client()).end();
  });
});
