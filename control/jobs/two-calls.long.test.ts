/**
 * Pairs of calls at random moments of a sync that a worker of its own runs, and that may be killed:
 * what the API has accepted is what becomes of the job, and the next sync brings every row.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type MailerSimulator, startMailer } from "../../simulators/mailer/mailer.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { startTestControl, type TestAnswer, type TestControl } from "../../tests/control.ts";
import { addDestination, addPipeline, queryDestination } from "../../tests/control-pipelines.ts";
import { firstLine, killed, startProgram } from "../../tests/control-process.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import type { WorkerOptions } from "../../tests/job-process.ts";
import { soon } from "../../tests/soon.ts";
import {
  type CallName,
  call,
  callNames,
  enable,
  jobCalls,
  type Scene,
} from "../../tests/two-calls.ts";
import { openKeyring } from "../vault/keyring.ts";

const samples = Number(process.env.SAMPLES ?? 12);
const streams = ["email_lists", "campaigns", "subscribers"] as const;
/** Those that need no streams of a database. */
const names = callNames.filter(
  (name) => !["change the streams", "change the cursor"].includes(name),
);

describe.skipIf(findPostgres() === undefined)("two calls and a worker", () => {
  let postgres: PostgresServer;
  let mailer: MailerSimulator;
  let folder: string;
  let api: TestControl;
  let options: WorkerOptions;
  beforeAll(async () => {
    postgres = await startPostgres();
    mailer = await startMailer({
      seed: 5,
      lists: 2,
      subscribersPerList: 250,
      campaigns: 12,
      opensPerCampaign: 2,
    });
    folder = await mkdtemp(join(tmpdir(), "svc-two-calls-"));
    const { url } = await postgres.createDatabase();
    const keyFile = join(folder, "keys.json");
    const warehouses = join(folder, "warehouses");
    api = await startTestControl({
      database: { url },
      keyring: await openKeyring(keyFile, { create: true }),
      clock: createScaledClock(1),
      jobs: "announce",
      settings: {
        network: { approvedHosts: [mailer.hostname], allowNetworks: ["127.0.0.1/32"] },
        warehouses,
      },
    });
    options = {
      databaseUrl: url,
      keyFile,
      warehouses,
      hostname: mailer.hostname,
      port: mailer.port,
      ca: mailer.seams.ca,
    };
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.close();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  let worker: ReturnType<typeof startProgram> | undefined;
  const startWorker = async () => {
    worker = startProgram("job-process.ts", options);
    await firstLine(worker);
  };
  /** kill -9; its lease would be over in half a minute. */
  const killWorker = async () => {
    if (worker) await killed(worker);
    const lease_until = new Date(api.control.services.clock.now() - 1);
    await api.db.updateTable("jobs").set({ lease_until }).where("status", "=", "running").execute();
    await startWorker();
  };
  const openJobs = () =>
    api.db
      .selectFrom("jobs")
      .select("id")
      .where("status", "not in", ["succeeded", "failed", "cancelled"])
      .execute();

  let fileCount = 0;
  async function play(
    steps: readonly { readonly name: CallName | "kill"; readonly after: number }[],
  ): Promise<void> {
    await api.db.deleteFrom("jobs").execute();
    await enable(api, true);
    fileCount += 1;
    const credential = await addCredential(api, { api_token: mailer.token });
    const sourceId = await addSource(api, credential, { base_url: mailer.baseUrl });
    const destinationId = await addDestination(api, { configuration: { file: `f${fileCount}` } });
    const { services } = api.control;
    const catalog = await services.connectors.catalog(
      services.connectors.get("conn_mailer_product_edm"),
    );
    const { id: pipelineId, connectionId } = await addPipeline(
      api,
      { sourceId, destinationId },
      catalog,
      streams,
    );
    const scene: Scene = { sourceId, pipelineId, connectionId, jobId: "" };
    const begin = async () => {
      const { status, body } = await api.call("POST", `/pipelines/${pipelineId}/sync`);
      expect([status, body.details]).toEqual([202, undefined]);
      return body.data.job.job_id as string;
    };

    let requests = 0;
    mailer.observe(() => {
      requests += 1;
    });
    const first = await begin();
    /** Jobs of which the API has said that they are cancelled. */
    const cancelled = new Set<string>();
    let latest = first;
    const take = (name: CallName, { status, body }: TestAnswer) => {
      if (status >= 300) return;
      if (jobCalls.some((one) => one === name)) latest = body.data.job.job_id;
      if (name === "cancel") cancelled.add(latest);
      if (body.data?.cancelled_job_id) cancelled.add(body.data.cancelled_job_id);
    };
    for (const { name, after } of steps) {
      const until = requests + after;
      // After so many requests, or when nothing runs any more.
      await vi.waitFor(
        async () => {
          if (requests < until && (await openJobs()).length > 0) throw new Error("later");
        },
        { ...soon, interval: 5 },
      );
      if (name === "kill") await killWorker();
      else {
        const answer = await call(api, name, { ...scene, jobId: latest });
        expect([name, answer.status < 500]).toEqual([name, true]);
        take(name, answer);
      }
    }
    await vi.waitFor(async () => expect(await openJobs()).toEqual([]), soon);

    const { items } = (await api.call("GET", `/jobs?pipeline_id=${pipelineId}`)).body.data;
    for (const { job_id } of items) {
      const { data } = (await api.call("GET", `/jobs/${job_id}`)).body;
      const isCancelled = cancelled.has(job_id);
      expect([data.status === "cancelled", data.cancel_requested]).toEqual([
        isCancelled,
        isCancelled,
      ]);
      expect([data.failure === null, data.ended_at === null]).toEqual([
        data.status === "succeeded",
        false,
      ]);
      if (data.status === "failed") expect(data.failure.code).toBe("CONNECTOR_DISABLED");
      const stream_stats: { status: string }[] = data.stream_stats;
      expect(stream_stats.map(({ status }) => status)).not.toContain("running");
      if (data.status === "succeeded")
        expect(new Set(stream_stats.map(({ status }) => status))).toEqual(new Set(["complete"]));
    }
    if ((await api.call("GET", `/pipelines/${pipelineId}`)).status === 404) return;
    await enable(api, true);
    await call(api, "resume", scene);
    const last = await begin();
    await vi.waitFor(async () => expect(await openJobs()).toEqual([]), soon);
    expect((await api.call("GET", `/jobs/${last}`)).body.data).toMatchObject({
      status: "succeeded",
      failure: null,
    });
    const { prefix } = (await api.call("GET", `/pipelines/${pipelineId}`)).body.data;
    for (const stream of streams) {
      const rows = await queryDestination(
        api,
        destinationId,
        `SELECT uuid FROM _svc_${prefix}${stream}`,
      );
      const truth = mailer.truth[stream]().map((row) => (row as { uuid: string }).uuid);
      expect(rows.map(([uuid]) => uuid).toSorted()).toEqual(truth.toSorted());
    }
  }

  test("never end in a lie", async () => {
    await startWorker();
    const step = fc.record({
      name: fc.constantFrom(...names, "kill" as const),
      after: fc.integer({ min: 0, max: 8 }),
    });
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 2 }), play), {
      numRuns: samples,
      endOnFailure: true,
    });
    if (!worker) return;
    const ended = once(worker, "exit");
    worker.kill("SIGTERM");
    await ended;
  });
});
