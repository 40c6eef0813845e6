/**
 * One control layer on PostgreSQL for tests of kills: its API in this process, its workers in
 * others.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScaledClock } from "svc-connectors/host";
import { openKeyring } from "../control/vault/keyring.ts";
import type { MailerSimulator } from "../simulators/mailer/mailer.ts";
import { type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { startTestControl } from "./control.ts";
import { attemptRows, jobRow } from "./control-jobs.ts";
import { queryDestination } from "./control-pipelines.ts";
import {
  type Ask,
  JobFailed,
  type KillsWorker,
  type Place,
  startKillsWorker,
  until,
} from "./sync-kills.ts";
import { warehouseQuery } from "./sync-truth.ts";

export type Bench = Awaited<ReturnType<typeof openBench>>;

/** How long a job may stand still before its worker's lease is let run out. */
const patienceMs = 8_000;

export interface BenchOptions {
  readonly mailer?: MailerSimulator;
  /** Workers that stand by to take the place of a dead one. */
  readonly spareCount?: number;
}

export async function openBench({ mailer, spareCount = 0 }: BenchOptions = {}) {
  // Commits outlive the server here.
  const postgres: PostgresServer = await startPostgres({ settings: { synchronous_commit: "on" } });
  const folder = await mkdtemp(join(tmpdir(), "svc-sync-kills-"));
  const warehouses = join(folder, "warehouses");
  await mkdir(warehouses);
  const { url } = await postgres.createDatabase();
  const keyFile = join(folder, "keys.json");
  const api = await startTestControl({
    database: { url },
    keyring: await openKeyring(keyFile, { create: true }),
    clock: createScaledClock(1),
    sandbox: "inline",
    jobs: "announce",
    settings: {
      network: { approvedHosts: mailer ? [mailer.hostname] : [], allowNetworks: ["127.0.0.1/32"] },
      warehouses,
    },
  });
  const provider = mailer && { hostname: mailer.hostname, port: mailer.port, ca: mailer.seams.ca };
  const start = () =>
    startKillsWorker({
      databaseUrl: url,
      keyFile,
      warehouses,
      ...(provider ? { provider } : {}),
    });
  const spares = Array.from({ length: spareCount }, start);
  let worker: KillsWorker | undefined;
  let aheadMs = 0;

  const ask: Ask = async (method, path, body) => {
    const answer = await api.call(method, path, body ? { body } : {});
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.data;
  };

  return {
    postgres,
    folder,
    warehouses,
    api,
    ask,
    /**
     * Gives the running worker its order, and how many moments there were since the last one, if it
     * lives; the first one, and one in place of one that has died, begins in the time after all
     * leases.
     */
    async order(order: {
      readonly momentAt: number;
      readonly delayMs?: number;
      readonly action?: "die" | "tell";
    }) {
      if (!worker) {
        worker = spares.shift() ?? start();
        if (spares.length < spareCount) spares.push(start());
        aheadMs += 31_000;
      }
      const ordered = worker;
      const momentCount = await ordered.order({ delayMs: 0, action: "die", ...order, aheadMs });
      if (momentCount === undefined) worker = undefined;
      api.control.services.jobs.wake();
      return { momentCount, worker: ordered };
    },
    forgetWorker: () => {
      worker = undefined;
    },
    async finished(jobId: string): Promise<true | undefined> {
      const { status, failure } = await jobRow(api, jobId);
      if (status === "failed") throw new JobFailed(`the job failed: ${JSON.stringify(failure)}`);
      return status === "succeeded" ? true : undefined;
    },
    /**
     * The job goes on with the worker that is there: time passes until it may, and until the lease
     * of a lost attempt is over.
     */
    async untilFinished(jobId: string): Promise<void> {
      let stillSince = { text: "", atMs: 0 };
      await until("the end of the job", async () => {
        const finished = await this.finished(jobId);
        if (finished) return finished;
        const { status, attempt, runnable_at, records_committed } = await jobRow(api, jobId);
        const text = [status, attempt, records_committed].join(" ");
        if (stillSince.text !== text) stillSince = { text, atMs: performance.now() };
        const waitMs = runnable_at.getTime() - Date.now() - aheadMs;
        if (status === "incomplete" && waitMs > 0) aheadMs += waitMs + 1;
        else if (performance.now() - stillSince.atMs > patienceMs) {
          aheadMs += 31_000;
          stillSince.atMs = performance.now();
        } else return undefined;
        await this.order({ momentAt: 0 });
        return undefined;
      });
    },
    /**
     * @param type of the job that has succeeded
     * @throws AssertionError when the warehouse is not what its source says
     */
    async checkTruth(
      place: Place,
      jobId: string,
      type: "sync" | "clear" | "reset" = "sync",
    ): Promise<void> {
      const { truth, target, destinationId } = place;
      place.attemptCount += (await attemptRows(api, jobId)).length;
      if (type !== "sync") truth.cleared();
      if (type !== "clear") await truth.synced();
      const rows = target
        ? (await target.query(warehouseQuery)).map(({ stream, line }) => [stream, line])
        : await queryDestination(api, destinationId, warehouseQuery);
      truth.compare(
        rows.map(([stream, line]) => [String(stream), String(line)]),
        place.attemptCount,
      );
    },
    async [Symbol.asyncDispose]() {
      for (const one of [...spares, ...(worker ? [worker] : [])]) await one.kill();
      await api[Symbol.asyncDispose]();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
