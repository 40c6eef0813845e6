/**
 * The PostgreSQL connectors through an SSH server: a pipeline of the Control API from one database
 * into another, and the command line.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import { hasSshServer, type SshServer, startSshServer } from "../simulators/ssh-server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { skipUnlessWhole } from "./effort.ts";
import { svc } from "./served.ts";

const canRun = findPostgres() !== undefined && hasSshServer();
if (!canRun) console.warn("skipped: connectors through SSH need postgresql and openssh-server");

describe.skipIf(!canRun)("a database behind an SSH server", () => {
  let server: PostgresServer;
  let bastion: SshServer;
  let shop: PostgresDatabase;
  beforeAll(async () => {
    server = await startPostgres();
    bastion = await startSshServer();
    shop = await server.createDatabase();
    await shop.query("CREATE TABLE orders (id int PRIMARY KEY, total numeric(9, 2))");
    await shop.query("INSERT INTO orders SELECT i, i FROM generate_series(1, 1000) i");
  });
  afterAll(async () => {
    await bastion?.[Symbol.asyncDispose]();
    await server?.stop();
  });

  const configurationOf = ({ name }: PostgresDatabase, changes: object = {}) => ({
    host: "localhost",
    port: server.port,
    database: name,
    username: "postgres",
    tunnel_host: "127.0.0.1",
    tunnel_port: bastion.port,
    tunnel_user: bastion.user,
    tunnel_host_key: bastion.fingerprint,
    ...changes,
  });
  const keyLines = () => bastion.privateKey.split("\n").filter((line) => line.length > 20);

  describe("in the Control API", () => {
    let api: TestControl;
    beforeAll(async () => {
      api = await startTestControl({
        jobs: "run",
        settings: { network: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] } },
      });
    });
    afterAll(() => api?.[Symbol.asyncDispose]());

    const post = async (path: string, body: object) => {
      const answer = await api.call("POST", path, { body });
      for (const line of keyLines()) expect(answer.text).not.toContain(line);
      return answer;
    };
    const made = async (path: string, body: object) => {
      const { status, text, body: answer } = await post(path, body);
      if (status >= 300) throw new Error(text);
      return answer.data;
    };
    const credentialOf = async (connector_id: string, changes: object = {}) => {
      const secrets = {
        password: server.password,
        tunnel_private_key: bastion.privateKey,
        ...changes,
      };
      const stored = await made("/credentials", { connector_id, name: "Shop", secrets });
      return stored.credential_handle as string;
    };

    test("is read and written by a pipeline", async (context) => {
      skipUnlessWhole(context);
      const warehouse = await server.createDatabase();
      const source = await made("/sources", {
        name: "Shop",
        connector_id: "conn_postgres",
        credential_handle: await credentialOf("conn_postgres"),
        configuration: configurationOf(shop),
      });
      const destination = await made("/destinations", {
        name: "Warehouse",
        connector_id: "conn_postgres_destination",
        credential_handle: await credentialOf("conn_postgres_destination"),
        configuration: configurationOf(warehouse),
      });
      const { pipeline_id } = await made("/pipelines", {
        source_id: source.source_id,
        destination_id: destination.destination_id,
        streams: [{ name: "orders", namespace: "public" }],
      });
      const { job } = await made(`/pipelines/${pipeline_id}/sync`, {});
      const statusOf = async () => (await api.call("GET", `/jobs/${job.job_id}`)).body.data;
      await expect.poll(async () => (await statusOf()).status).toMatch(/succeeded|failed/);
      expect(await statusOf()).toMatchObject({ status: "succeeded", failure: null });
      expect(await warehouse.query("SELECT count(*)::int AS n FROM _svc_orders")).toEqual([
        { n: 1000 },
      ]);
      await expect.poll(() => bastion.connectionCount).toBe(0);
    });

    test("is not saved without the server's key, which the answer shows", async () => {
      const handle = await credentialOf("conn_postgres");
      const { status, body } = await post("/sources", {
        name: "Shop",
        connector_id: "conn_postgres",
        credential_handle: handle,
        configuration: configurationOf(shop, { tunnel_host_key: undefined }),
      });
      expect([status, body.details.reason]).toEqual([422, "connection_check_failed"]);
      expect(body.details.check).toMatchObject({
        error: "CONFIG_INVALID",
        message: expect.stringContaining(bastion.fingerprint),
      });
    });

    test("a key has lines; other secrets have none", async () => {
      const broken = await post("/credentials", {
        connector_id: "conn_postgres",
        secrets: { password: "a\nb", tunnel_private_key: "a\nb\u0007" },
      });
      expect(broken.status).toBe(422);
      expect(broken.body.details.errors).toMatchObject([
        { path: "secrets.password", message: expect.stringContaining("line breaks") },
        { path: "secrets.tunnel_private_key", message: "must not hold control characters" },
      ]);
    });
  });

  test("is read by the command line, with the key in a file", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "svc-tunnel-"));
    await writeFile(join(cwd, "key"), bastion.privateKey);
    const config = {
      ...configurationOf(shop),
      password: server.password,
      tunnel_private_key: { $file: "./key" },
    };
    await writeFile(join(cwd, "c.yaml"), JSON.stringify(config));
    const read = await svc({ cwd }, "read", "postgres", "--config", "c.yaml", "--out", "out");
    expect([read.code, read.stderr]).toEqual([0, expect.any(String)]);
    const rows = (await readFile(join(cwd, "out/public.orders.jsonl"), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(1_000);
    await writeFile(join(cwd, "d.yaml"), JSON.stringify({ ...config, tunnel_user: "nobody" }));
    const refused = await svc({ cwd }, "check", "postgres", "--config", "d.yaml");
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toContain(
      "the SSH server does not accept the user with this key or password",
    );
    for (const line of keyLines())
      expect(read.stderr + refused.stdout + refused.stderr).not.toContain(line);
    await rm(cwd, { recursive: true });
  });
});
