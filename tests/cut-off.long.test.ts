/**
 * Three workers on three hosts, one PostgreSQL: one of them is cut off from it in the middle of a
 * sync.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type InstalledServer,
  startInstalledServer,
} from "../conformance/target/postgres-server.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { findPostgres } from "../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { attemptRows, jobRow } from "./control-jobs.ts";
import { createNetwork, type Network, whyNoNamespaces } from "./cut-off-network.ts";
import type { AttemptReport, CutOffOptions } from "./cut-off-worker.ts";
import { JobFailed, until } from "./sync-kills.ts";

/** Leases of 30 s end after ten. */
const factor = 3;
const rowCount = 300_000;
const reason =
  findPostgres() === undefined ? "no PostgreSQL server is installed" : whyNoNamespaces();
const program = fileURLToPath(new URL("cut-off-worker.ts", import.meta.url));

interface Worker {
  readonly host: number;
  readonly child: ChildProcess;
  readonly attempts: AttemptReport[];
}

describe.skipIf(reason !== undefined)(
  `a worker that is cut off${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    let network: Network;
    let postgres: InstalledServer;
    let folder: string;
    let api: TestControl;
    let options: CutOffOptions;
    const workers: Worker[] = [];
    const urlOf = (database: string) =>
      `postgres://postgres:${postgres.password}@${network.address}:${postgres.port}/${database}`;

    const query = async (database: string, sql: string) => {
      const client = new Client(urlOf(database));
      await client.connect();
      try {
        const result: unknown = await client.query(sql);
        return (
          (Array.isArray(result) ? result.at(-1) : result) as { rows: Record<string, unknown>[] }
        ).rows;
      } finally {
        await client.end();
      }
    };

    async function start(host: number, its: CutOffOptions): Promise<Worker> {
      const [command = "", ...args] = [
        ...network.on(host),
        process.execPath,
        "--conditions=svc-source",
        program,
        JSON.stringify(its),
      ];
      const child = spawn(command, args, {
        stdio: ["ignore", "pipe", "inherit"],
        env: process.env,
      });
      const worker: Worker = { host, child, attempts: [] };
      workers.push(worker);
      const lines = createInterface(child.stdout);
      const working = once(lines, "line");
      await working;
      lines.on("line", (line) => worker.attempts.push(JSON.parse(line)));
      return worker;
    }

    const ask = async (method: "GET" | "POST", path: string, body?: object) => {
      const answer = await api.call(method, path, body ? { body } : {});
      if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
      return answer.body.data;
    };

    /** A pipeline into the table `_svc_<prefix>orders`. Gives its id. */
    async function createPipeline(prefix: string): Promise<string> {
      const connect = async (path: string, connector_id: string, database: string) => {
        const secrets = { password: postgres.password };
        const { credential_handle } = await ask("POST", "/credentials", {
          connector_id,
          name: "login",
          secrets,
        });
        const configuration = {
          host: network.address,
          port: postgres.port,
          database,
          username: "postgres",
          ssl_mode: "disable",
        };
        return await ask("POST", path, {
          name: database,
          connector_id,
          credential_handle,
          configuration,
        });
      };
      const { source_id } = await connect("/sources", "conn_postgres", "origin");
      const { destination_id } = await connect(
        "/destinations",
        "conn_postgres_destination",
        "target",
      );
      const stream = {
        name: "orders",
        namespace: "public",
        sync_mode: "incremental",
        destination_sync_mode: "append",
        cursor_field: ["id"],
      };
      const { pipeline_id } = await ask("POST", "/pipelines", {
        source_id,
        destination_id,
        prefix,
        streams: [stream],
      });
      return pipeline_id;
    }

    beforeAll(async () => {
      network = createNetwork(3);
      postgres = await startInstalledServer({
        settings: { listen_addresses: network.address },
        accessRules: `host all all ${network.range} scram-sha-256\n`,
      });
      await query("postgres", "CREATE DATABASE control").then(() =>
        query("postgres", "CREATE DATABASE origin"),
      );
      await query("postgres", "CREATE DATABASE target");
      await query(
        "origin",
        `CREATE TABLE orders (id int PRIMARY KEY, note text); INSERT INTO orders SELECT n, repeat('x', 60) FROM generate_series(1, ${rowCount}) n`,
      );
      folder = await mkdtemp(join(tmpdir(), "svc-cut-off-"));
      options = {
        databaseUrl: urlOf("control"),
        keyFile: join(folder, "keys.json"),
        range: network.range,
        factor,
        originMs: Date.now(),
      };
      api = await startTestControl({
        database: { url: options.databaseUrl },
        keyring: await openKeyring(options.keyFile, { create: true }),
        clock: createScaledClock(1),
        sandbox: "inline",
        jobs: "announce",
        settings: { network: { approvedHosts: [], allowNetworks: [network.range] } },
      });
    });
    afterAll(async () => {
      for (const { child } of workers) child.kill("SIGKILL");
      await api?.[Symbol.asyncDispose]();
      await postgres?.[Symbol.asyncDispose]();
      network?.[Symbol.dispose]();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const succeeded = async (jobId: string) => {
      const { status, failure } = await jobRow(api, jobId);
      if (status === "failed") throw new JobFailed(JSON.stringify(failure));
      return status === "succeeded" ? true : undefined;
    };
    /** The first attempt has committed something, and is not at its end. */
    const inTheMiddle = async (table: string) => {
      const [found] = await query("target", `SELECT count(*)::int AS count FROM public.${table}`);
      const count = Number(found?.count);
      return count > 0 && count < rowCount ? true : undefined;
    };
    /**
     * All rows are there; the one at which an attempt went on may be there once more for each
     * attempt, as the source says.
     */
    const expectTruth = async (table: string) => {
      const sql = `SELECT count(DISTINCT id)::int AS ids, count(*)::int - count(DISTINCT id)::int AS more FROM public.${table}`;
      const [found] = await query("target", sql);
      expect(found?.ids).toBe(rowCount);
      expect(found?.more).toBeLessThan(10);
    };
    /**
     * The first attempt was lost, and the last has finished the job. Those between them may have
     * failed or been late with their leases, too: their time runs faster than a busy machine.
     */
    const expectTakenOver = async (jobId: string) => {
      const statuses = (await attemptRows(api, jobId)).map(({ status }) => status);
      expect(statuses.length, `${statuses}`).toBeGreaterThan(1);
      expect([statuses[0], statuses.at(-1)], `${statuses}`).toEqual(["lost", "succeeded"]);
    };
    /** It ends when it is asked to: nothing in it hangs. */
    const end = async ({ child }: Worker) => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    };

    test("gives up by itself while it hears of nobody, and its job is finished elsewhere", async () => {
      const own = await start(0, options);
      const pipelineId = await createPipeline("one_");
      const { job } = await ask("POST", `/pipelines/${pipelineId}/sync`, {});
      await until("the middle", () => inTheMiddle("_svc_one_orders"));
      network.setLink(own.host, "down");
      const others = await Promise.all([start(1, options), start(2, options)]);
      const result = await until(
        "the end of the attempt that is cut off",
        async () => own.attempts[0],
      );
      expect(result).toMatchObject({ attempt: 1, status: "cancelled" });
      await until("the end of the job", () => succeeded(job.job_id));
      await expectTakenOver(job.job_id);
      await expectTruth("_svc_one_orders");

      // Back in the network it takes jobs again.
      network.setLink(own.host, "up");
      for (const other of others) await end(other);
      const { job: next } = await ask("POST", `/pipelines/${pipelineId}/sync`, {});
      await until("a job of the worker that is back", () => succeeded(next.job_id));
      expect(own.attempts.at(-1)).toMatchObject({ status: "succeeded" });
      await expectTruth("_svc_one_orders");
      await end(own);
    });

    test("and comes back in the belief that the job is its own, writes nothing any more", async () => {
      const own = await start(0, { ...options, factor: 1 });
      const pipelineId = await createPipeline("two_");
      const { job } = await ask("POST", `/pipelines/${pipelineId}/sync`, {});
      await until("the middle", () => inTheMiddle("_svc_two_orders"));
      network.setLink(own.host, "down");
      // Their time runs faster: to them its lease is over long before it is to itself.
      const ahead = { ...options, originMs: Date.now() };
      const others = await Promise.all([start(1, ahead), start(2, ahead)]);
      await until("the second attempt", async () =>
        (await jobRow(api, job.job_id)).attempt === 2 ? true : undefined,
      );
      network.setLink(own.host, "up");
      const result = await until("the end of the first attempt", async () => own.attempts[0]);
      // The destination has refused it, or it has seen first that its lease is another's.
      expect([result.status, result.code ?? "OUTPUT_FENCED"]).toEqual([
        expect.stringMatching(/^(failed|cancelled)$/),
        "OUTPUT_FENCED",
      ]);
      await until("the end of the job", () => succeeded(job.job_id));
      await expectTakenOver(job.job_id);
      await expectTruth("_svc_two_orders");
      for (const worker of [own, ...others]) await end(worker);
    });
  },
);
