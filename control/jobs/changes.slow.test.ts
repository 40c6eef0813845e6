/**
 * Pipelines that read PostgreSQL's log, from the API to the warehouse: sandboxed workers on a real
 * server.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob, attemptRows, jobRow } from "../../tests/control-jobs.ts";
import { firstLine, killed, startProgram } from "../../tests/control-process.ts";
import { skipUnlessWhole } from "../../tests/effort.ts";
import type { WorkerOptions } from "../../tests/job-process.ts";
import { soon } from "../../tests/soon.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { jobStreams } from "../pipelines/selection.ts";
import { loadSelection } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import { readReplicationLag } from "../telemetry/replication-lag.ts";
import { openKeyring } from "../vault/keyring.ts";
import { follow } from "./follow.ts";
import { startJobs } from "./worker.ts";

describe.skipIf(findPostgres() === undefined)("a pipeline that reads the log", () => {
  let postgres: PostgresServer;
  let folder: string;
  let api: TestControl;
  let workers: WorkerOptions;
  beforeAll(async () => {
    postgres = await startPostgres({
      settings: { wal_level: "logical", max_replication_slots: "10", max_wal_senders: "10" },
    });
    folder = await mkdtemp(join(tmpdir(), "svc-changes-"));
    const { url } = await postgres.createDatabase();
    const keyFile = join(folder, "keys.json");
    const warehouses = join(folder, "warehouses");
    const hostname = "mail.example.com";
    workers = {
      databaseUrl: url,
      keyFile,
      warehouses,
      hostname,
      port: postgres.port,
      ca: postgres.caPem,
    };
    api = await startTestControl({
      database: { url },
      keyring: await openKeyring(keyFile, { create: true }),
      clock: createScaledClock(1),
      jobs: "announce",
      seams: { dial: (target) => connect(target.port, target.address) },
      settings: {
        network: { approvedHosts: [hostname], allowNetworks: ["127.0.0.1/32"] },
        warehouses,
      },
    });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function ask(method: "GET" | "POST" | "PATCH", path: string, body?: object) {
    const answer = await api.call(method, path, body ? { body } : {});
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.data;
  }

  /** A database as one end of a pipeline. */
  async function addEnd(
    path: "/sources" | "/destinations",
    connector_id: string,
    { name }: PostgresDatabase,
    more: object,
  ) {
    const secrets = { password: postgres.password };
    const login = { connector_id, name: "login", secrets };
    const { credential_handle } = await ask("POST", "/credentials", login);
    const { host, port } = postgres;
    const configuration = {
      host,
      port,
      database: name,
      username: "postgres",
      ssl_mode: "disable",
      ...more,
    };
    return await ask("POST", path, { name, connector_id, credential_handle, configuration });
  }

  /** The pipeline's schedule says that it is time; gives the job that this makes. */
  async function due(pipelineId: string): Promise<string> {
    const of = () =>
      api.db
        .selectFrom("jobs")
        .select(["id", "trigger"])
        .where("pipeline_id", "=", pipelineId)
        .orderBy("created_at", "desc")
        .execute();
    const before = (await of()).length;
    await api.db
      .updateTable("pipelines")
      .set({ next_run_at: new Date(api.control.services.clock.now() - 1) })
      .where("id", "=", pipelineId)
      .execute();
    const jobs = await vi.waitFor(async () => {
      const found = await of();
      expect(found.length).toBe(before + 1);
      return found;
    }, soon);
    expect(jobs[0]?.trigger).toBe("schedule");
    return String(jobs[0]?.id);
  }

  const succeeded = (jobId: string) =>
    vi.waitFor(async () => {
      const job = await ask("GET", `/jobs/${jobId}`);
      expect([job.status, job.failure]).toEqual(["succeeded", null]);
      return job;
    }, soon);

  test("runs by its schedule, keeps its place, tells deleted rows, outlives a kill and a lost slot", async () => {
    const source = await postgres.createDatabase();
    const target = await postgres.createDatabase();
    await source.query(`
      CREATE TABLE orders (id int PRIMARY KEY, v int); INSERT INTO orders SELECT i, 0 FROM generate_series(1, 20) i;
      CREATE TABLE people (id int PRIMARY KEY, v int); INSERT INTO people SELECT i, 0 FROM generate_series(1, 20) i;
      CREATE PUBLICATION svc FOR TABLE orders, people`);
    const replication = { publication: "svc", slot: "svc_job" };
    const { source_id } = await addEnd("/sources", "conn_postgres", source, { replication });
    const { destination_id } = await addEnd(
      "/destinations",
      "conn_postgres_destination",
      target,
      {},
    );
    const { pipeline_id } = await ask("POST", "/pipelines", {
      name: "changes",
      source_id,
      destination_id,
      schedule: { type: "basic", units: 1, time_unit: "hours" },
      streams: [
        { name: "orders", namespace: "public" },
        { name: "people", namespace: "public", detect_deletes: "soft" },
      ],
    });
    const found = async (table: string) =>
      (
        await target.query(
          `SELECT concat_ws('/', id, v, CASE WHEN _ab_cdc_deleted_at IS NOT NULL THEN 'gone' END) AS row FROM _svc_${table} ORDER BY id`,
        )
      ).map(({ row }) => row);
    const rows = async (table: string, gone: readonly string[] = []) => [
      ...(await source.query(`SELECT concat_ws('/', id, v) AS row FROM ${table} ORDER BY id`)).map(
        ({ row }) => row as string,
      ),
      ...gone,
    ];
    const expectSame = async (gone: readonly string[]) => {
      expect(await found("orders")).toEqual(await rows("orders"));
      expect((await found("people")).toSorted()).toEqual((await rows("people", gone)).toSorted());
    };
    const work =
      "UPDATE {} SET v = v + 1 WHERE id % 2 = 0; DELETE FROM {} WHERE id = 3; INSERT INTO {} VALUES (100, 1)";

    {
      await using _worker = await startJobs(api.control.services);
      await succeeded(await due(pipeline_id));
      await expectSame([]);
      for (const table of ["orders", "people"]) await source.query(work.replaceAll("{}", table));
      const second = await succeeded(await due(pipeline_id));
      // Only what has changed: the state was kept.
      expect(second.records_synced).toBe(24);
      // The log since the first read, told before the server was let forget it.
      expect(second.replication_lag_bytes).toBeGreaterThan(0);
      const { replication_lag_bytes } = await ask("GET", `/pipelines/${pipeline_id}`);
      expect(replication_lag_bytes).toBe(second.replication_lag_bytes);
      expect(await readReplicationLag(api.db)).toEqual([
        {
          name: "svc_replication_lag_bytes",
          labels: { source: "conn_postgres" },
          value: replication_lag_bytes,
        },
      ]);
      await expectSame(["3/0/gone"]);
    }

    // A job whose worker is killed between the tables brings both of them to one transaction.
    await source.query("UPDATE orders SET v = 50; UPDATE people SET v = 60");
    const worker = startProgram("job-process.ts", workers);
    await firstLine(worker);
    const locked = target
      .query("BEGIN; LOCK TABLE _svc_people IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)")
      .catch(() => undefined);
    const killedJob = await due(pipeline_id);
    await vi.waitFor(async () => {
      const waiting = await target.query("SELECT FROM pg_locks WHERE NOT granted");
      expect(waiting.length).toBeGreaterThan(0);
      const done = await api.db
        .selectFrom("job_streams")
        .select("name")
        .where("job_id", "=", killedJob)
        .where("status", "=", "complete")
        .execute();
      expect(done).toEqual([{ name: "orders" }]);
    }, soon);
    await killed(worker);
    await source.query("UPDATE orders SET v = 51; UPDATE people SET v = 61");
    await target.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()",
    );
    await locked;
    await api.db
      .updateTable("jobs")
      .set({ lease_until: new Date(api.control.services.clock.now() - 1) })
      .where("id", "=", killedJob)
      .execute();
    await using _worker = await startJobs(api.control.services);
    await succeeded(killedJob);
    expect((await attemptRows(api, killedJob)).map(({ status }) => status)).toEqual([
      "lost",
      "succeeded",
    ]);
    await expectSame(["3/0/gone"]);
    await source.query("DELETE FROM people WHERE id = 4");
    await succeeded(await due(pipeline_id));
    await expectSame(["3/0/gone", "4/61/gone"]);

    // A slot that is gone: the job says so, and its next attempt reads the tables anew.
    await source.query(
      "SELECT pg_drop_replication_slot('svc_job'); DELETE FROM orders WHERE id = 5",
    );
    const lost = await due(pipeline_id);
    await vi.waitFor(async () => {
      const job = await ask("GET", `/jobs/${lost}`);
      expect([job.status, job.failure?.code, job.failure?.retryable]).toEqual([
        "incomplete",
        "CHANGES_LOST",
        true,
      ]);
      expect(job.failure.message).toContain("the replication slot is gone");
    }, soon);
    await api.db
      .updateTable("jobs")
      .set({ runnable_at: new Date(api.control.services.clock.now()) })
      .where("id", "=", lost)
      .execute();
    api.control.services.jobs.wake();
    await succeeded(lost);
    expect((await jobRow(api, lost)).attempt).toBe(2);
    await expectSame([]);
  });

  describe("that is continuous", () => {
    let source: PostgresDatabase;
    let target: PostgresDatabase;
    let ends: { readonly source_id: string; readonly destination_id: string };
    const schedule = { type: "continuous" };
    const streams = [{ name: "orders", namespace: "public" }];
    beforeAll(async () => {
      source = await postgres.createDatabase();
      target = await postgres.createDatabase();
      await source.query(
        "CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE plain (id int PRIMARY KEY); CREATE PUBLICATION svc FOR TABLE orders",
      );
      const replication = { publication: "svc", slot: "svc_on" };
      const { source_id } = await addEnd("/sources", "conn_postgres", source, { replication });
      const connector = "conn_postgres_destination";
      const { destination_id } = await addEnd("/destinations", connector, target, {});
      ends = { source_id, destination_id };
    });

    const jobsOf = (pipelineId: string) =>
      api.db
        .selectFrom("jobs")
        .selectAll()
        .where("pipeline_id", "=", pipelineId)
        .orderBy("created_at")
        .execute();

    test("is refused where a stream is read by queries, also when it comes later", async () => {
      const body = { ...ends, name: "mixed", schedule };
      const queried = [...streams, { name: "plain", namespace: "public" }];
      const refused = await api.call("POST", "/pipelines", { body: { ...body, streams: queried } });
      expect(refused.body.details).toMatchObject({
        reason: "invalid_schedule",
        errors: [{ path: "schedule.type", message: expect.stringContaining("public.plain") }],
      });
      const { pipeline_id } = await ask("POST", "/pipelines", {
        ...body,
        schedule: { type: "manual" },
        streams: queried,
        prefix: "mixed_",
      });
      const changed = await api.call("PATCH", `/pipelines/${pipeline_id}`, { body: { schedule } });
      expect(changed.body.details).toMatchObject({ reason: "invalid_schedule" });
      await ask("PATCH", `/pipelines/${pipeline_id}`, { streams, schedule });
      const back = await api.call("PATCH", `/pipelines/${pipeline_id}`, {
        body: { streams: queried },
      });
      expect(back.body.details).toMatchObject({ reason: "invalid_schedule" });
      await ask("POST", `/pipelines/${pipeline_id}/pause`, {});
    });

    test("brings changes while one job runs, lets the server forget, and ends when it is paused", async (context) => {
      skipUnlessWhole(context);
      await using _worker = await startJobs(api.control.services);
      const { pipeline_id } = await ask("POST", "/pipelines", { ...ends, schedule, streams });
      /** Gives the place in the log of a row that has come to the warehouse. */
      const arrives = async (id: number) => {
        const [inserted] = await source.query(
          `INSERT INTO orders VALUES (${id}) RETURNING pg_current_wal_insert_lsn()::text AS place`,
        );
        await vi.waitFor(
          async () =>
            expect(await target.query(`SELECT FROM _svc_orders WHERE id = ${id}`)).toHaveLength(1),
          soon,
        );
        return String(inserted?.place);
      };
      /** A round begins by confirming the one before it. */
      const roundFollows = (place: string) =>
        vi.waitFor(async () => {
          const slot = `SELECT FROM pg_replication_slots WHERE slot_name = 'svc_on'
            AND confirmed_flush_lsn > '${place}'`;
          expect(await source.query(slot)).toHaveLength(1);
        }, soon);
      await vi.waitFor(async () => {
        const isRead = "SELECT FROM pg_replication_slots WHERE slot_name = 'svc_on' AND active";
        expect(await source.query(isRead)).toHaveLength(1);
      }, soon);
      await arrives(1);
      await arrives(2);
      await roundFollows(await arrives(3));
      const [job, ...others] = await jobsOf(pipeline_id);
      expect([job?.status, others]).toEqual(["running", []]);
      await ask("POST", `/pipelines/${pipeline_id}/pause`, {});
      await source.query("INSERT INTO orders VALUES (4)");
      await succeeded(String(job?.id));
      expect(await jobsOf(pipeline_id)).toHaveLength(1);
      expect(await target.query("SELECT FROM _svc_orders")).toHaveLength(4);
    });

    test("lasts its slice of time, a short one when others wait, and begins its next job itself", async () => {
      const { pipeline_id } = await ask("POST", "/pipelines", {
        ...ends,
        name: "slices",
        schedule,
        streams,
        prefix: "slices_",
      });
      const { services } = api.control;
      let nowMs = services.clock.now();
      const clock = { ...services.clock, now: () => nowMs };
      const pipeline = await findPipeline(api.db, api.first.id, pipeline_id);
      const { agreed } = await loadSelection(api.db, pipeline_id);
      const chosen = jobStreams(namingOf(pipeline), agreed, {});
      const start = (isPart = false, minRoundMs = 0) =>
        follow(
          {
            services: { ...services, clock },
            job: { workspace_id: api.first.id, job_type: "sync" },
            signal: new AbortController().signal,
          } as never,
          { pipeline, destination: { minRoundMs } },
          {
            ...chosen,
            isPart,
            failures: [],
            restarting: [],
            selectionVersion: pipeline.selection_version,
          },
        );
      const alone = start();
      expect(await alone.nextWait()).toBe(20_000);
      nowMs += 595_000;
      expect(await alone.nextWait()).toBe(5_000);
      nowMs += 5_000;
      expect(await alone.nextWait()).toBeUndefined();
      expect(await start(true).nextWait()).toBeUndefined();

      const shared = start();
      const waiting = await addJob(api);
      nowMs += 29_000;
      expect(await shared.nextWait()).toBe(20_000);
      nowMs += 1_000;
      expect(await shared.nextWait()).toBeUndefined();
      await api.db.deleteFrom("jobs").where("id", "=", waiting).execute();

      const end = async (following = shared) => {
        const result = following.end({ status: "succeeded" });
        if (result.status === "succeeded")
          await api.db.transaction().execute(async (tx) => result.commit?.(tx));
        return (await jobsOf(pipeline_id)).map(({ status, trigger }) => [status, trigger]);
      };
      const next = [["pending", "schedule"]];
      expect(await end()).toEqual(next);
      expect(await end(), "one that is under way already is the next one").toEqual(next);
      await api.db.deleteFrom("jobs").where("pipeline_id", "=", pipeline_id).execute();

      // A destination to which each round has a price: one round a job, the next one by schedule.
      const begunMs = nowMs;
      const slow = start(false, 900_000);
      nowMs += 3_000;
      expect(await slow.nextWait()).toBeUndefined();
      expect(await end(slow)).toEqual([]);
      const { next_run_at } = await findPipeline(api.db, api.first.id, pipeline_id);
      expect(next_run_at?.getTime()).toBe(begunMs + 900_000);

      await ask("POST", `/pipelines/${pipeline_id}/pause`, {});
      expect(await end()).toEqual([]);
      expect(await shared.nextWait()).toBeUndefined();
    });
  });
});
