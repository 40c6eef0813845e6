/** Jobs that empty tables, of the mailer's simulator in a DuckDB file, one attempt at a time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CatalogStream, createHost, type Host } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MailerSimulator, startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { claim, jobRow } from "../../tests/control-jobs.ts";
import {
  addDestination,
  addPipeline,
  queryDestination,
  type TestPipeline,
} from "../../tests/control-pipelines.ts";
import { addCredential, addSource, type TestCredential } from "../../tests/control-rows.ts";
import type { JobRow, JobRunner } from "../contract/job.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { takeOverLost } from "./attempts.ts";
import { enqueueJob } from "./enqueue.ts";
import { runJob } from "./run.ts";
import { createSyncRunner } from "./run-sync.ts";
import { newSyncJob, type SyncOptions } from "./sync-job.ts";

describe("what is cleared", () => {
  let mailer: MailerSimulator;
  let folder: string;
  let api: TestControl;
  let host: Host;
  let sync: JobRunner;
  let catalog: readonly CatalogStream[];
  let credential: TestCredential;
  let sourceId: string;
  beforeAll(async () => {
    mailer = await startMailer({
      seed: 7,
      campaigns: 4,
      lists: 2,
      subscribersPerList: 5,
      opensPerCampaign: 6,
    });
    folder = await mkdtemp(join(tmpdir(), "svc-clears-"));
    const network = { approvedHosts: [mailer.hostname], allowNetworks: [] };
    api = await startTestControl({
      seams: mailer.seams,
      sandbox: "inline",
      settings: { network, warehouses: folder },
    });
    const { services } = api.control;
    host = createHost({
      settings: network,
      seams: mailer.seams,
      clock: services.clock,
      sandbox: "inline",
    });
    sync = createSyncRunner(host);
    catalog = await services.connectors.catalog(services.connectors.get("conn_mailer_product_edm"));
  });
  afterAll(async () => {
    await host?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
    await mailer?.close();
    await rm(folder, { recursive: true, force: true });
  });
  let fileCount = 0;
  beforeEach(async () => {
    await api.db.deleteFrom("jobs").execute();
    await api.db.deleteFrom("connector_settings").execute();
    credential = await addCredential(api, { api_token: mailer.token });
    sourceId = await addSource(api, credential, { base_url: mailer.baseUrl, lookback_days: 1 });
    fileCount += 1;
  });

  const pipelineOf = async (streams: readonly string[], known = catalog, changes = {}) => {
    const destinationId = await addDestination(api, {
      configuration: { file: `warehouse-${fileCount}` },
    });
    return addPipeline(api, { sourceId, destinationId }, known, streams, changes);
  };
  /** Makes a job of a type and runs its first attempt. Gives its row afterwards. */
  const run = async (
    { id }: TestPipeline,
    jobType: JobRow["job_type"],
    options: SyncOptions = {},
    runner = sync,
  ) => {
    const pipeline = await findPipeline(api.db, api.first.id, id);
    const job = await newSyncJob(api.db, pipeline, { trigger: "api", options, jobType });
    return await again(await enqueueJob(api.db, job, now()), runner);
  };
  const again = async (jobId: string, runner = sync) => {
    await api.db.updateTable("jobs").set({ runnable_at: now() }).where("id", "=", jobId).execute();
    const claimed = await claim(api);
    if (claimed?.job.id !== jobId) throw new Error("another job was claimed");
    const runners = { sync: runner, reverse_etl: runner };
    await runJob(api.control.services, claimed, runners, new AbortController().signal);
    return await jobRow(api, jobId);
  };
  const now = () => new Date(api.control.services.clock.now());
  const keys = async ({ destinationId }: TestPipeline, table: string) =>
    (await queryDestination(api, destinationId, `SELECT uuid FROM ${table} ORDER BY uuid`)).map(
      ([uuid]) => uuid,
    );
  const truth = (rows: readonly object[]) =>
    rows.map((row) => (row as { uuid: string }).uuid).toSorted();
  const streamsOf = (id: string) =>
    api.db.selectFrom("job_streams").selectAll().where("job_id", "=", id).orderBy("name").execute();
  const count = async ({ destinationId }: TestPipeline, table: string) =>
    Number((await queryDestination(api, destinationId, `SELECT count(*) FROM ${table}`))[0]?.[0]);

  test("is empty, without asking the source, and is read from the beginning by the next sync", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    await run(pipeline, "sync");
    const asked = mailer.requests.length;
    const job = await run(pipeline, "clear");
    expect(job).toMatchObject({ status: "succeeded", job_type: "clear", records_emitted: 0 });
    expect(mailer.requests.length).toBe(asked);
    expect(await streamsOf(job.id)).toMatchObject([
      { name: "campaigns", status: "complete" },
      { name: "email_lists", status: "complete" },
    ]);
    expect(await count(pipeline, "_svc_campaigns")).toBe(0);
    expect(await count(pipeline, "_svc_email_lists")).toBe(0);
    expect(await run(pipeline, "sync")).toMatchObject({ status: "succeeded", records_emitted: 6 });
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
  });

  test("is what was chosen, and nothing else", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    await run(pipeline, "sync");
    const job = await run(pipeline, "clear", { streams: [{ name: "campaigns" }] });
    expect((await streamsOf(job.id)).map(({ name }) => name)).toEqual(["campaigns"]);
    expect(await count(pipeline, "_svc_campaigns")).toBe(0);
    expect(await keys(pipeline, "_svc_email_lists")).toEqual(truth(mailer.truth.email_lists()));
  });

  test("needs neither the source's connector nor its credential", async () => {
    const pipeline = await pipelineOf(["campaigns"]);
    await run(pipeline, "sync");
    await api.db.updateTable("credentials").set({ status: "needs_reauth" }).execute();
    const setting = { connector_id: "conn_mailer_product_edm", enabled: false, updated_at: now() };
    await api.db.insertInto("connector_settings").values(setting).execute();
    expect(await run(pipeline, "clear")).toMatchObject({ status: "succeeded" });
    expect(await count(pipeline, "_svc_campaigns")).toBe(0);
  });

  test("is done, and a stream that the pipeline has no more is told", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    await run(pipeline, "sync");
    const streams = [{ name: "campaigns" }, { name: "left" }];
    expect(await run(pipeline, "clear", { streams })).toMatchObject({
      status: "failed",
      failure: { code: "STREAM_UNKNOWN" },
    });
    expect(await count(pipeline, "_svc_campaigns")).toBe(0);
  });

  test("never holds an older attempt's rows: its writer is fenced off", async () => {
    const pipeline = await pipelineOf(["campaigns"]);
    await run(pipeline, "sync");
    const row = await findPipeline(api.db, api.first.id, pipeline.id);
    const jobId = await enqueueJob(
      api.db,
      await newSyncJob(api.db, row, { trigger: "api", jobType: "clear" }),
      now(),
    );
    const old = await claim(api);
    if (old?.job.id !== jobId) throw new Error("another job was claimed");
    // Its worker is taken for dead; another one does it, and a sync comes after that.
    await api.db.updateTable("jobs").set({ lease_until: now() }).where("id", "=", jobId).execute();
    await takeOverLost(api.control.services);
    expect(await again(jobId)).toMatchObject({ status: "succeeded", attempt: 2 });
    await run(pipeline, "sync");
    const runners = { sync, reverse_etl: sync };
    await runJob(api.control.services, old, runners, new AbortController().signal);
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
  });

  test("stays as it was, or is empty, when its job is cancelled", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    await run(pipeline, "sync");
    const cancelling: JobRunner = (attempt) => sync({ ...attempt, signal: AbortSignal.abort() });
    await run(pipeline, "clear", {}, async (attempt) => {
      await api.db
        .updateTable("jobs")
        .set({ cancel_requested_at: now() })
        .where("id", "=", attempt.job.id)
        .execute();
      return await cancelling(attempt);
    });
    expect(await jobsOf(pipeline)).toContainEqual(["clear", "cancelled"]);
    expect([0, 4]).toContain(await count(pipeline, "_svc_campaigns"));
  });

  const jobsOf = async ({ id }: TestPipeline) =>
    (
      await api.db
        .selectFrom("jobs")
        .select(["job_type", "status"])
        .where("pipeline_id", "=", id)
        .execute()
    ).map((job) => [job.job_type, job.status]);

  describe("by a reset", () => {
    const anew: SyncOptions = { full_refresh: true };

    test("has all rows again, and none that the source has no more", async () => {
      const pipeline = await pipelineOf(["campaigns"]);
      await run(pipeline, "sync");
      const job = await run(pipeline, "reset", anew);
      expect(job).toMatchObject({ status: "succeeded", job_type: "reset", records_emitted: 4 });
      expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
      expect(Number((await run(pipeline, "sync")).records_emitted)).toBeLessThan(4);
    });

    test("is empty first: what cannot be read leaves no old rows, and another attempt reads what is left", async () => {
      const pipeline = await pipelineOf(["email_lists", "campaigns"]);
      await run(pipeline, "sync");
      mailer.faults.inject({ type: "status", status: 400 }, { path: "/api/campaigns" });
      const job = await run(pipeline, "reset", anew);
      expect(job).toMatchObject({ status: "incomplete", failure: { origin: "source" } });
      expect(await count(pipeline, "_svc_campaigns")).toBe(0);
      expect(await count(pipeline, "_svc_email_lists")).toBe(2);
      const before = mailer.requests.length;
      expect(await again(job.id)).toMatchObject({ status: "succeeded", records_committed: 6 });
      const asked = mailer.requests.slice(before);
      expect(asked.filter(({ path }) => path.includes("email-lists"))).toEqual([]);
      expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
    });

    test.each([
      "before",
      "after",
    ])("holds each row once when its worker dies %s all is read", async (when) => {
      const pipeline = await pipelineOf(["email_lists", "campaigns"]);
      await run(pipeline, "sync");
      const dying: JobRunner = async (attempt) => {
        const dead =
          when === "before it can write" ? { ...attempt, fence: attempt.fence - 1 } : attempt;
        // Whatever it said, nobody hears of it.
        await sync({ ...dead, progress: { ...attempt.progress, status: () => undefined } });
        await api.db
          .updateTable("jobs")
          .set({ lease_until: now() })
          .where("id", "=", attempt.job.id)
          .execute();
        await takeOverLost(api.control.services);
        return { status: "succeeded" };
      };
      const job = await run(pipeline, "reset", anew, dying);
      expect(job.status).toBe("incomplete");
      expect(await again(job.id)).toMatchObject({ status: "succeeded", attempt: 2 });
      expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
      expect(await keys(pipeline, "_svc_email_lists")).toEqual(truth(mailer.truth.email_lists()));
    });
  });
});
