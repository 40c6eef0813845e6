/** Syncs from the mailer's simulator into a DuckDB file, one attempt at a time. */

import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CatalogStream, createHost, type Host } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { takingLines } from "../../fixtures/taking-lines.ts";
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
import type { JobRunner } from "../contract/job.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { openHashKey } from "../vault/hash-key.ts";
import { enqueueJob } from "./enqueue.ts";
import { runJob } from "./run.ts";
import { createSyncRunner } from "./run-sync.ts";
import { newSyncJob, type SyncOptions } from "./sync-job.ts";

describe("a sync", () => {
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
    folder = await mkdtemp(join(tmpdir(), "svc-syncs-"));
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
  /** Makes a job and runs its first attempt. Gives its row afterwards. */
  const run = async ({ id }: TestPipeline, options: SyncOptions = {}, runner = sync) => {
    const pipeline = await findPipeline(api.db, api.first.id, id);
    const jobId = await enqueueJob(
      api.db,
      await newSyncJob(api.db, pipeline, { trigger: "api", options }),
      now(),
    );
    return await again(jobId, runner);
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
  const messages = async (id: string) =>
    (await api.db.selectFrom("job_logs").select("message").where("job_id", "=", id).execute()).map(
      (one) => one.message,
    );

  test("brings all rows, and says so by stream", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    const job = await run(pipeline);
    expect(job).toMatchObject({
      status: "succeeded",
      failure: null,
      records_emitted: 6,
      records_committed: 6,
    });
    expect(await keys(pipeline, "_svc_email_lists")).toEqual(truth(mailer.truth.email_lists()));
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
    expect(await streamsOf(job.id)).toMatchObject([
      { name: "campaigns", status: "complete", records_emitted: 4, records_committed: 4 },
      { name: "email_lists", status: "complete", records_emitted: 2, records_committed: 2 },
    ]);
    const ids = await queryDestination(
      api,
      pipeline.destinationId,
      "SELECT DISTINCT _svc_job_id FROM _svc_campaigns",
    );
    expect(ids).toEqual([[job.id]]);
  });

  test("leaves hashes under the workspace's key in the place of what is to be hashed", async () => {
    const pipeline = await pipelineOf(["campaigns"]);
    const hashed = ["name", "sent_to_number_of_subscribers"];
    await api.db
      .updateTable("pipeline_streams")
      .set({ hashed_fields: JSON.stringify([...hashed, "gone_since"]) })
      .where("pipeline_id", "=", pipeline.id)
      .execute();
    expect(await run(pipeline)).toMatchObject({ status: "succeeded", failure: null });
    const key = await openHashKey(api.db, api.control.services.vault, api.first.id);
    const hashOf = (value: unknown) =>
      value === null ? null : createHmac("sha256", key).update(String(value)).digest("hex");
    const sql = `SELECT ${hashed.join(", ")} FROM _svc_campaigns`;
    const rows = await queryDestination(api, pipeline.destinationId, sql);
    const wanted = mailer.truth
      .campaigns()
      .map((row) => hashed.map((field) => hashOf((row as Record<string, unknown>)[field])));
    expect(rows.toSorted()).toEqual(wanted.toSorted());
    expect(rows.length).toBeGreaterThan(0);
    const other = await openHashKey(api.db, api.control.services.vault, "ws_other");
    expect(Buffer.from(other).equals(key)).toBe(false);
  });

  test("reads as many streams at the same time as its pipeline says", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"], catalog, {
      parallel_streams: 2,
    });
    const asked: unknown[] = [];
    const watched = createSyncRunner({
      ...host,
      read: (reference, request, sink, options) => {
        asked.push(request.parallelStreams);
        return host.read(reference, request, sink, options);
      },
    });
    expect(await run(pipeline, {}, watched)).toMatchObject({
      status: "succeeded",
      records_committed: 6,
    });
    expect(asked).toEqual([2]);
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
  });

  test("tells of a column that has another type at the destination, so that every value fits", async () => {
    const pipeline = await pipelineOf(["email_lists"]);
    // As the source was before: counts in the place of names.
    const [lists] = catalog.filter(({ name }) => name === "email_lists") as [CatalogStream];
    const schema = lists.json_schema as { readonly properties: Record<string, object> };
    const properties = { ...schema.properties, name: { type: "integer" } };
    const counted = { ...lists, json_schema: { ...lists.json_schema, properties } };
    const before = createSyncRunner({
      ...host,
      discover: async () => [counted],
      async read(reference, request, { writeBatch, ...sink }, options) {
        const taking = takingLines(
          { ...sink, ...(writeBatch && { writeBatch }) },
          request.catalog.streams,
        );
        const row = Buffer.from('{"uuid":"a","name":7}\n');
        return host.read(
          reference,
          request,
          { ...sink, write: (stream) => taking.write(stream, row, 1) },
          options,
        );
      },
    });
    expect(await run(pipeline, {}, before)).toMatchObject({ status: "succeeded" });
    const job = await run(pipeline, { full_refresh: true });
    expect(await messages(job.id)).toContain(
      "A column of the destination has another type now, so that every value fits.",
    );
    const facts = await api.db
      .selectFrom("event_facts")
      .select("facts")
      .where("type", "=", "schema.changed")
      .where("subject_id", "=", pipeline.id)
      .execute();
    expect(facts).toMatchObject([
      {
        facts: {
          changes: [{ stream: "email_lists", column: "name", from: "BIGINT", to: "VARCHAR" }],
        },
      },
    ]);
  });

  test("tells of values that the destination cannot hold: in the log, and once as an event", async () => {
    const pipeline = await pipelineOf(["email_lists"]);
    const [lists] = catalog.filter(({ name }) => name === "email_lists") as [CatalogStream];
    const schema = lists.json_schema as { readonly properties: Record<string, object> };
    const decimal = { type: "number", airbyte_type: "big_number", precision: 12, scale: 2 };
    const properties = { ...schema.properties, name: decimal };
    // Both rows come with each of the two pages.
    const endless = createSyncRunner({
      ...host,
      discover: async () => [{ ...lists, json_schema: { ...lists.json_schema, properties } }],
      async read(reference, request, { writeBatch, ...sink }, options) {
        const taking = takingLines(
          { ...sink, ...(writeBatch && { writeBatch }) },
          request.catalog.streams,
        );
        const rows = Buffer.from('{"uuid":"a","name":"NaN"}\n{"uuid":"b","name":"-Infinity"}\n');
        return host.read(
          reference,
          request,
          { ...sink, write: (stream) => taking.write(stream, rows, 2) },
          options,
        );
      },
    });
    const job = await run(pipeline, {}, endless);
    expect(job).toMatchObject({ status: "succeeded", failure: null });
    const sql = "SELECT uuid FROM _svc_email_lists WHERE name IS NULL ORDER BY uuid";
    expect(await queryDestination(api, pipeline.destinationId, sql)).toEqual([["a"], ["b"]]);
    expect(await messages(job.id)).toContain(
      "Values that did not fit were left empty; see _svc_meta.",
    );
    const facts = await api.db
      .selectFrom("event_facts")
      .select("facts")
      .where("type", "=", "pipeline.degraded")
      .where("subject_id", "=", pipeline.id)
      .execute();
    expect(facts).toMatchObject([
      { facts: { job_id: job.id, left_out: [{ stream: "email_lists", values: 4, columns: [] }] } },
    ]);
  });

  test("goes on from the state of the one before, unless all is wanted anew", async () => {
    const pipeline = await pipelineOf(["campaigns"]);
    await run(pipeline);
    const next = await run(pipeline);
    expect(next).toMatchObject({ status: "succeeded" });
    expect(Number(next.records_emitted)).toBeLessThan(4);
    const anew = await run(pipeline, { full_refresh: true });
    expect(anew).toMatchObject({ status: "succeeded", job_type: "refresh", records_emitted: 4 });
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
  });

  test("reads a stream once from the beginning when its pipeline says so", async () => {
    const pipeline = await pipelineOf(["campaigns"]);
    await run(pipeline);
    await api.db.updateTable("pipeline_streams").set({ is_restart: true }).execute();
    expect(await run(pipeline)).toMatchObject({ status: "succeeded", records_emitted: 4 });
    expect(Number((await run(pipeline)).records_emitted)).toBeLessThan(4);
  });

  test("reads only the streams that were asked for", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    const job = await run(pipeline, { streams: [{ name: "email_lists" }] });
    expect((await streamsOf(job.id)).map(({ name }) => name)).toEqual(["email_lists"]);
  });

  test("reads in its next attempt only what is not done", async () => {
    const pipeline = await pipelineOf(["email_lists", "campaigns"]);
    mailer.faults.inject({ type: "status", status: 400 }, { path: "/api/campaigns" });
    const job = await run(pipeline, { full_refresh: true });
    expect(job).toMatchObject({
      status: "incomplete",
      records_committed: 2,
      failure: { origin: "source", code: "REQUEST_REJECTED" },
    });
    expect(await streamsOf(job.id)).toMatchObject([
      { name: "campaigns", status: "incomplete", failure: { code: "REQUEST_REJECTED" } },
      { name: "email_lists", status: "complete" },
    ]);
    const before = mailer.requests.length;
    expect(await again(job.id)).toMatchObject({
      status: "succeeded",
      records_committed: 6,
      failure: null,
    });
    expect(
      mailer.requests.slice(before).filter(({ path }) => path.includes("email-lists")),
    ).toEqual([]);
    expect(await keys(pipeline, "_svc_campaigns")).toEqual(truth(mailer.truth.campaigns()));
    expect(await keys(pipeline, "_svc_email_lists")).toEqual(truth(mailer.truth.email_lists()));
  });

  test("that is not let in fails for its user, and is noted with the credential", async () => {
    credential = await addCredential(api, { api_token: mailer.badToken });
    sourceId = await addSource(api, credential, { base_url: mailer.baseUrl, lookback_days: 1 });
    const job = await run(await pipelineOf(["email_lists"]));
    expect(job).toMatchObject({
      status: "failed",
      failure: { origin: "source", type: "auth_error" },
    });
    const row = await api.db
      .selectFrom("credentials")
      .select("last_error")
      .where("id", "=", credential.id)
      .executeTakeFirst();
    expect(row?.last_error).toMatchObject({ reason: "credentials_rejected" });
    expect(JSON.stringify([job, await messages(job.id)])).not.toContain(mailer.badToken);
  });

  test("does not begin with a connector that is disabled, and ends when it has begun", async () => {
    const pipeline = await pipelineOf(["email_lists"]);
    const disable = () =>
      api.db
        .insertInto("connector_settings")
        .values({ connector_id: "conn_mailer_product_edm", enabled: false, updated_at: now() })
        .execute();
    const fails: JobRunner = async () => {
      throw new Error("once");
    };
    const { id } = await run(pipeline, {}, fails);
    await disable();
    expect(await again(id)).toMatchObject({ status: "succeeded", attempt: 2 });
    await api.db.deleteFrom("connector_settings").execute();
    const disabledMeanwhile: JobRunner = async (attempt) => {
      await disable();
      return sync(attempt);
    };
    expect(await run(pipeline, {}, disabledMeanwhile)).toMatchObject({
      status: "failed",
      failure: { type: "config_error", code: "CONNECTOR_DISABLED" },
    });
  });

  test("does not reach a host that is approved no more", async () => {
    sourceId = await addSource(api, credential, { base_url: "https://other.example.com/api" });
    const before = mailer.requests.length;
    expect(await run(await pipelineOf(["email_lists"]))).toMatchObject({
      status: "failed",
      failure: { code: "BASE_URL_REFUSED", type: "config_error" },
    });
    expect(mailer.requests.length).toBe(before);
  });

  test("sends the secrets of a credential nowhere but where they are bound to", async () => {
    const pipeline = await pipelineOf(["email_lists"]);
    const base_url = "https://other.example.com/api";
    await api.db
      .updateTable("credentials")
      .set({ base_url })
      .where("id", "=", credential.id)
      .execute();
    const before = mailer.requests.length;
    expect(await run(pipeline)).toMatchObject({
      status: "failed",
      failure: { code: "CREDENTIALS_REJECTED" },
    });
    expect(mailer.requests.length).toBe(before);
  });

  test("pauses the pipeline when the source has changed and the policy says so", async () => {
    const [lists] = catalog.filter(({ name }) => name === "email_lists") as [CatalogStream];
    const { name: _, ...fewer } = lists.json_schema.properties as Record<string, never>;
    const before = { ...lists, json_schema: { ...lists.json_schema, properties: fewer } };
    const known = catalog.map((stream) => (stream === lists ? before : stream));
    const pipeline = await pipelineOf(["email_lists"], known, { schema_change_policy: "pause" });
    const job = await run(pipeline);
    expect(job).toMatchObject({
      status: "failed",
      failure: { code: "SCHEMA_CHANGED", retryable: false },
    });
    expect(await messages(job.id)).toContain("email_lists has a new column: name.");
    expect(await findPipeline(api.db, api.first.id, pipeline.id)).toMatchObject({
      status: "paused",
      pause_reason: "schema_changed",
    });
    const facts = await api.db
      .selectFrom("event_facts")
      .select(["type", "facts"])
      .where("subject_id", "in", [pipeline.id, job.id])
      .orderBy("id")
      .execute();
    const added = { stream: "email_lists", type: "column_added", column: "name" };
    expect(facts).toMatchObject([
      { type: "schema.changed", facts: { changes: [added], change_count: 1 } },
      { type: "pipeline.paused", facts: { pause_reason: "schema_changed" } },
      { type: "job.failed" },
    ]);
  });

  test("fails for a stream that has gone, and brings the others", async () => {
    const gone = { ...(catalog[0] as CatalogStream), name: "gone" };
    const pipeline = await pipelineOf(["email_lists", "gone"], [...catalog, gone]);
    const job = await run(pipeline);
    expect(job).toMatchObject({
      status: "failed",
      records_committed: 2,
      failure: { code: "STREAM_UNKNOWN", stream: "gone" },
    });
    expect(await streamsOf(job.id)).toMatchObject([
      { name: "email_lists", status: "complete" },
      { name: "gone", status: "incomplete" },
    ]);
  });

  test("that cannot write says that the destination failed", async () => {
    const destinationId = await addDestination(api, { configuration: { file: "../outside" } });
    const pipeline = await addPipeline(api, { sourceId, destinationId }, catalog, ["email_lists"]);
    expect(await run(pipeline)).toMatchObject({
      status: "failed",
      failure: { origin: "destination" },
    });
  });
});
