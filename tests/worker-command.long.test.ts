/**
 * `svc serve --no-jobs`, `svc worker` and `svc jobs` on one PostgreSQL, as people run them: a sync
 * from one database into another.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import { type Served, startServe, svc } from "./served.ts";
import { soon } from "./soon.ts";

const script = fileURLToPath(new URL("../svc.ts", import.meta.url));
const rowCount = 30_000;

describe.skipIf(findPostgres() === undefined)("svc worker", () => {
  let postgres: PostgresServer;
  let cwd: string;
  let served: Served;
  let own: PostgresDatabase;
  let source: PostgresDatabase;
  let target: PostgresDatabase;
  let pipelineId: string;

  const call = async (method: string, path: string, body?: object) => {
    const answer = await served.call(method, path, body ? { body } : {});
    expect([path, answer.status, answer.body.details]).toEqual([
      path,
      expect.any(Number),
      undefined,
    ]);
    return answer.body.data;
  };
  const connect = async (
    connector_id: string,
    database: string,
    path: "/sources" | "/destinations",
  ) => {
    const secrets = { password: postgres.password };
    const { credential_handle } = await call("POST", "/credentials", {
      connector_id,
      name: "login",
      secrets,
    });
    const configuration = {
      host: "127.0.0.1",
      port: postgres.port,
      database,
      username: "postgres",
    };
    return await call("POST", path, {
      name: database,
      connector_id,
      credential_handle,
      configuration,
    });
  };

  beforeAll(async () => {
    postgres = await startPostgres();
    cwd = await mkdtemp(join(tmpdir(), "svc-worker-"));
    own = await postgres.createDatabase();
    await writeFile(join(cwd, "url.txt"), own.url);
    await writeFile(
      join(cwd, "svc.config.yaml"),
      "key_file: keys.json\ndatabase_url: { $file: url.txt }\nallow_networks: [127.0.0.1/32]\n",
    );
    source = await postgres.createDatabase();
    target = await postgres.createDatabase();
    await source.query(
      `CREATE TABLE orders (id integer PRIMARY KEY, note text); INSERT INTO orders SELECT n, repeat('x', 50) FROM generate_series(1, ${rowCount}) n`,
    );
    served = await startServe({ cwd }, "--no-jobs");
    const { source_id } = await connect("conn_postgres", source.name, "/sources");
    const { destination_id } = await connect(
      "conn_postgres_destination",
      target.name,
      "/destinations",
    );
    const pipeline = { name: "orders", source_id, destination_id, select_all: true };
    ({ pipeline_id: pipelineId } = await call("POST", "/pipelines", pipeline));
  });
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
    await postgres?.stop();
    await rm(cwd, { recursive: true, force: true });
  });

  /** A worker that takes jobs. */
  async function startWorker(): Promise<{ readonly child: ChildProcess; text(): string }> {
    const child = spawn(process.execPath, ["--conditions=svc-source", script, "worker"], {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: cwd,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    await vi.waitFor(() => expect(text).toContain('"working"'), soon);
    return { child, text: () => text };
  }
  const stop = async ({ child }: { readonly child: ChildProcess }) => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    return (await ended)[0];
  };
  const rows = () =>
    target.query(
      "SELECT count(*)::int AS all, count(DISTINCT id)::int AS ids FROM public._svc_orders",
    );

  test("runs what the server was asked for, and people can watch it", async () => {
    const { job } = await call("POST", `/pipelines/${pipelineId}/sync`, {});
    expect((await svc({ cwd }, "jobs", "list")).stdout).toMatch(
      new RegExp(`${job.job_id} +sync +(pending|queued)`),
    );
    const worker = await startWorker();
    const watched = await svc({ cwd }, "jobs", "watch", job.job_id);
    expect(watched).toMatchObject({
      code: 0,
      stdout: `${job.job_id} succeeded: 30,000 rows, 1 attempt\n`,
    });
    expect(await rows()).toEqual([{ all: rowCount, ids: rowCount }]);
    expect(await stop(worker)).toBe(0);
    expect(worker.text()).toContain('"stopped"');
    for (const text of [worker.text(), served.texts.stderr, watched.stderr])
      expect(text).not.toContain(postgres.password);
  });

  test("that is asked to stop gives its job to another one", async () => {
    // Nobody can read the table: the job stays in the middle.
    const holder = new Client(source.url);
    await holder.connect();
    await holder.query("BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE");
    const workers = [await startWorker(), await startWorker()];
    const { job } = await call("POST", `/pipelines/${pipelineId}/sync`, { full_refresh: true });
    const runningIn = async () => {
      const [row] = await own.query(
        `SELECT worker FROM jobs WHERE id = '${job.job_id}' AND status = 'running'`,
      );
      return workers.find(({ child }) => String(row?.worker).endsWith(`:${child.pid}`));
    };
    const busy = await vi.waitFor(
      async () => (await runningIn()) ?? expect.unreachable("nobody runs it"),
      soon,
    );
    expect(await stop(busy)).toBe(0);
    await holder.query("ROLLBACK");
    await holder.end();
    const watched = await svc({ cwd }, "jobs", "watch", job.job_id);
    expect(watched.stdout).toContain("succeeded: 30,000 rows, 2 attempts");
    const { attempts } = await call("GET", `/jobs/${job.job_id}`);
    expect(attempts.map(({ status }: { status: string }) => status)).toEqual([
      "released",
      "succeeded",
    ]);
    expect(await rows()).toEqual([{ all: rowCount, ids: rowCount }]);
    for (const worker of workers) if (worker !== busy) expect(await stop(worker)).toBe(0);
  });

  test("leaves alone what was cancelled before", async () => {
    const { job } = await call("POST", `/pipelines/${pipelineId}/sync`, {});
    expect(await svc({ cwd }, "jobs", "cancel", job.job_id)).toMatchObject({
      code: 0,
      stdout: `${job.job_id} is cancelled\n`,
    });
    expect((await svc({ cwd }, "jobs", "cancel", job.job_id)).code).toBe(1);
    expect((await svc({ cwd }, "jobs", "watch", job.job_id)).code).toBe(1);
    expect((await svc({ cwd }, "jobs", "watch", "job_x")).stderr).toContain("there is no such job");
  });
});

test("svc worker says that an embedded database has one process", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "svc-worker-"));
  const refused = await svc({ cwd }, "worker");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("workers share a PostgreSQL database"),
  ]);
  const serve = await svc({ cwd }, "serve", "--no-jobs");
  expect([serve.code, serve.stderr]).toEqual([
    2,
    expect.stringContaining("--no-jobs needs workers"),
  ]);
  await rm(cwd, { recursive: true });
});
