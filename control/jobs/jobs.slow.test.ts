/**
 * Promises that only a real PostgreSQL and real processes can show: claims that race, and a worker
 * that is killed.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type MailerSimulator, startMailer } from "../../simulators/mailer/mailer.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob, attemptRows, claim, jobRow } from "../../tests/control-jobs.ts";
import { addDestination, addPipeline, queryDestination } from "../../tests/control-pipelines.ts";
import { firstLine, killed, startProgram } from "../../tests/control-process.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { skipUnlessWhole } from "../../tests/effort.ts";
import type { WorkerOptions } from "../../tests/job-process.ts";
import { soon } from "../../tests/soon.ts";
import type { ControlOptions } from "../create-control.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { createMemoryKeyring, openKeyring } from "../vault/keyring.ts";
import { enqueueJob } from "./enqueue.ts";
import { enqueueDuePipelines } from "./schedules.ts";
import { newSyncJob } from "./sync-job.ts";

describe.skipIf(findPostgres() === undefined)("on PostgreSQL", () => {
  let postgres: PostgresServer;
  let folder: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), "svc-jobs-"));
  });
  afterAll(async () => {
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Servers of one database, with one key. */
  const openServers = async (
    ...options: readonly Partial<ControlOptions>[]
  ): Promise<TestControl[]> => {
    const { url } = await postgres.createDatabase();
    const keyring = createMemoryKeyring();
    const servers: TestControl[] = [];
    for (const one of options)
      servers.push(
        await startTestControl({ database: { url, maxConnections: 8 }, keyring, ...one }),
      );
    return servers;
  };
  const closeAll = (servers: readonly TestControl[]) =>
    Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));

  test("many who claim at once never take one job, nor more than a limit allows", async () => {
    const servers = await openServers({}, {});
    const [api] = servers as [TestControl];
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1)
      ids.push(await addJob(api, { limits: [`credential:${count % 20}`, "provider:one"] }));
    const claims = Array.from({ length: 60 }, (_, index) =>
      claim(servers[index % 2] as TestControl, { perWorkspace: 100, perProvider: 12 }),
    );
    const taken = (await Promise.all(claims)).flatMap((claimed) => (claimed ? [claimed.job] : []));
    expect(new Set(taken.map(({ id }) => id)).size).toBe(12);
    expect(new Set(taken.map(({ limits }) => limits[0])).size).toBe(12);
    expect((await attemptRows(api, String(taken[0]?.id))).length).toBe(1);
    await closeAll(servers);
  });

  test("a job that comes in while its group is emptied is found", async () => {
    const servers = await openServers({}, {});
    const [api] = servers as [TestControl];
    const first = await addJob(api);
    const isAdded = Promise.withResolvers<string>();
    const isEmptied = Promise.withResolvers<void>();
    const adding = api.db.transaction().execute(async (tx) => {
      isAdded.resolve(await addJob({ ...api, db: tx as unknown as TestControl["db"] }));
      await isEmptied.promise;
    });
    const second = await isAdded.promise;
    const [, other] = servers as [TestControl, TestControl];
    expect((await claim(other))?.job.id).toBe(first);
    expect(await claim(other)).toBeUndefined();
    isEmptied.resolve();
    await adding;
    expect((await claim(other))?.job.id).toBe(second);
    await closeAll(servers);
  });

  test("a claim reads no more of the database when more jobs wait", async () => {
    const servers = await openServers({});
    const [api] = servers as [TestControl];
    const add = (count: number) =>
      sql`INSERT INTO jobs (id, workspace_id, kind, subject_id, job_type, status, trigger, options, limits,
          max_attempts, runnable_at, created_at, updated_at)
        SELECT gen_random_uuid(), ${api.first.id}, 'sync', gen_random_uuid(), 'sync', 'pending', 'api', '{}',
          jsonb_build_array('credential:' || n % 1000, 'provider:' || n % 5, 'destination:' || n % 50),
          8, now(), now(), now() FROM generate_series(1, ${count}::int) n`.execute(api.db);
    /** Pages that one claim looks at; its session knows its plans by then. */
    const pages = () =>
      api.db.connection().execute(async (db) => {
        for (let count = 0; ; count += 1) {
          const { rows } = await sql<{ "QUERY PLAN": readonly [{ Plan: Record<string, number> }] }>`
            EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT claimed_fence FROM claim_job(
              now(), 'test', gen_random_uuid()::text, now(), 1000, 1, 1000, 1000, '{}')`.execute(
            db,
          );
          const { Plan } = rows[0]?.["QUERY PLAN"][0] ?? {};
          if (count === 8)
            return (Plan?.["Shared Hit Blocks"] ?? 0) + (Plan?.["Shared Read Blocks"] ?? 0);
        }
      });
    await add(100);
    const few = await pages();
    await add(20_000);
    const many = await pages();
    expect(few).toBeGreaterThan(20);
    expect(many).toBeLessThan(few * 2);
    await closeAll(servers);
  });

  test("servers that look at the same time make one job of a schedule", async () => {
    const servers = await openServers({}, {});
    const [api] = servers as [TestControl];
    const sourceId = await addSource(api, await addCredential(api));
    const { id } = await addPipeline(
      api,
      { sourceId, destinationId: await addDestination(api) },
      [],
      [],
    );
    const schedule = JSON.stringify({ type: "basic", units: 1, time_unit: "hours" });
    const next_run_at = new Date(api.control.services.clock.now() - 1);
    await api.db
      .updateTable("pipelines")
      .set({ schedule, next_run_at })
      .where("id", "=", id)
      .execute();
    // Each job ends at once: that one is open does not keep a second one from being made.
    await sql`CREATE FUNCTION end_at_once() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN NEW.status := 'succeeded'; RETURN NEW; END $$`.execute(api.db);
    await sql`CREATE TRIGGER ending BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION end_at_once()`.execute(
      api.db,
    );
    await Promise.all(
      [...servers, ...servers, ...servers].map(({ control }) =>
        enqueueDuePipelines(control.services),
      ),
    );
    expect(await api.db.selectFrom("jobs").select("pipeline_id").execute()).toEqual([
      { pipeline_id: id },
    ]);
    await closeAll(servers);
  });

  test("servers and workers tell each other of jobs", async () => {
    const seen: string[] = [];
    const runners = {
      sync: async ({ job }: { readonly job: { readonly id: string } }) => {
        seen.push(job.id);
        return { status: "succeeded" as const };
      },
    };
    const [api, ...workers] = (await openServers(
      { jobs: "announce" },
      { jobs: "run", runners },
      { jobs: "run", runners },
    )) as [TestControl, ...TestControl[]];
    const ids: string[] = [];
    for (let count = 0; count < 50; count += 1) ids.push(await addJob(api));
    api.control.services.jobs.wake();
    await vi.waitFor(async () => {
      for (const id of ids) expect((await jobRow(api, id)).status).toBe("succeeded");
    }, soon);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    await closeAll([...workers, api]);
  });

  describe("a worker that is killed in the middle of a sync", () => {
    let mailer: MailerSimulator;
    beforeAll(async () => {
      mailer = await startMailer({
        seed: 3,
        lists: 2,
        subscribersPerList: 600,
        campaigns: 12,
        opensPerCampaign: 120,
      });
    });
    afterAll(() => mailer?.close());

    /** A control layer and the options of workers beside it. */
    async function open() {
      const { url } = await postgres.createDatabase();
      const keyFile = join(folder, `${url.slice(-12)}.json`);
      const warehouses = join(folder, "warehouses");
      const network = { approvedHosts: [mailer.hostname], allowNetworks: ["127.0.0.1/32"] };
      const api = await startTestControl({
        database: { url },
        keyring: await openKeyring(keyFile, { create: true }),
        clock: createScaledClock(1),
        settings: { network, warehouses },
      });
      const options: WorkerOptions = {
        databaseUrl: url,
        keyFile,
        warehouses,
        hostname: mailer.hostname,
        port: mailer.port,
        ca: mailer.seams.ca,
      };
      return { api, options };
    }

    const destinations = {
      duckdb: (api: TestControl) => addDestination(api),
      async postgres(api: TestControl) {
        const { name } = await postgres.createDatabase();
        const connectorId = "conn_postgres_destination";
        const credential = await addCredential(
          api,
          { password: postgres.password },
          { connectorId },
        );
        const configuration = {
          host: "127.0.0.1",
          port: postgres.port,
          database: name,
          username: "postgres",
        };
        return addDestination(api, { connectorId, credential, configuration });
      },
    };

    const places = [
      ["postgres", [12]],
      ["duckdb", [5, 16]],
    ] as const;
    test.for(
      places,
    )("into %s loses its job to another, and nothing else", async (place, context) => {
      skipUnlessWhole(context);
      const [kind, kills] = place;
      const { api, options } = await open();
      await using _api = api;
      const { services } = api.control;
      const catalog = await services.connectors.catalog(
        services.connectors.get("conn_mailer_product_edm"),
      );
      const credential = await addCredential(api, { api_token: mailer.token });
      const sourceId = await addSource(api, credential, { base_url: mailer.baseUrl });
      const destinationId = await destinations[kind](api);
      const streams = ["email_lists", "subscribers", "campaigns", "campaign_opens"];
      const { id } = await addPipeline(api, { sourceId, destinationId }, catalog, streams);
      const pipeline = await findPipeline(api.db, api.first.id, id);
      const now = new Date(services.clock.now());
      const jobId = await enqueueJob(
        api.db,
        await newSyncJob(api.db, pipeline, { trigger: "api" }),
        now,
      );

      let requestCount = 0;
      let onRequest = () => {};
      mailer.observe(() => {
        requestCount += 1;
        onRequest();
      });
      for (const at of kills) {
        const worker = startProgram("job-process.ts", options);
        requestCount = 0;
        onRequest = () => {
          if (requestCount === at) worker.kill("SIGKILL");
        };
        await once(worker, "exit");
        // Its lease would be over in half a minute.
        await api.db
          .updateTable("jobs")
          .set({ lease_until: new Date(services.clock.now() - 1) })
          .where("id", "=", jobId)
          .execute();
      }
      onRequest = () => {};
      const last = startProgram("job-process.ts", options);
      await firstLine(last);
      await vi.waitFor(
        async () => expect((await jobRow(api, jobId)).status).toBe("succeeded"),
        soon,
      );
      expect((await attemptRows(api, jobId)).map(({ status }) => status)).toEqual([
        ...kills.map(() => "lost"),
        "succeeded",
      ]);
      for (const [table, keys, rows] of [
        ["_svc_email_lists", ["uuid"], mailer.truth.email_lists()],
        ["_svc_subscribers", ["uuid"], mailer.truth.subscribers()],
        ["_svc_campaigns", ["uuid"], mailer.truth.campaigns()],
        [
          "_svc_campaign_opens",
          ["campaign_uuid", "subscriber_uuid"],
          mailer.truth.campaign_opens(),
        ],
      ] as const) {
        const found = await queryDestination(
          api,
          destinationId,
          `SELECT ${keys.join(", ")} FROM ${table}`,
        );
        const expected = rows.map((row) =>
          keys.map((key) => (row as Record<string, unknown>)[key]).join(),
        );
        expect(found.map((row) => row.join()).toSorted()).toEqual(expected.toSorted());
      }
      const ended = once(last, "exit");
      last.kill("SIGTERM");
      expect((await ended)[0]).toBe(0);
      await killed(last);
    });
  });
});
