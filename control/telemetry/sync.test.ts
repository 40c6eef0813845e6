/** Metrics and traces of a sync, from the mailer's simulator into a DuckDB file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MailerSimulator, startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { claim, jobRow } from "../../tests/control-jobs.ts";
import { addDestination, addPipeline } from "../../tests/control-pipelines.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { createOtlpReceiver, type OtlpReceiver } from "../../tests/otlp-receiver.ts";
import { parsePrometheus } from "../../tests/prometheus-text.ts";
import { enqueueJob } from "../jobs/enqueue.ts";
import { runJob } from "../jobs/run.ts";
import { createSyncRunner } from "../jobs/run-sync.ts";
import { newSyncJob } from "../jobs/sync-job.ts";
import { findPipeline } from "../pipelines/rows.ts";

const source = "conn_mailer_product_edm";
const destination = "conn_duckdb";

describe("a sync that is watched", () => {
  let mailer: MailerSimulator;
  let receiver: OtlpReceiver;
  let folder: string;
  let api: TestControl;
  let jobId: string;
  beforeAll(async () => {
    mailer = await startMailer({
      seed: 7,
      campaigns: 4,
      lists: 2,
      subscribersPerList: 5,
      opensPerCampaign: 6,
    });
    receiver = await createOtlpReceiver();
    folder = await mkdtemp(join(tmpdir(), "svc-watched-"));
    const network = { approvedHosts: [mailer.hostname], allowNetworks: [] };
    const settings = { network, warehouses: folder, otlpEndpoint: receiver.url };
    api = await startTestControl({ seams: mailer.seams, sandbox: "inline", settings });
    const { services } = api.control;
    const catalog = await services.connectors.catalog(services.connectors.get(source));
    const credential = await addCredential(api, { api_token: mailer.token });
    const sourceId = await addSource(api, credential, {
      base_url: mailer.baseUrl,
      lookback_days: 1,
    });
    const destinationId = await addDestination(api, { configuration: { file: "watched" } });
    const { id } = await addPipeline(api, { sourceId, destinationId }, catalog, [
      "campaigns",
      "email_lists",
    ]);
    const now = new Date(services.clock.now());
    const pipeline = await findPipeline(api.db, api.first.id, id);
    jobId = await enqueueJob(api.db, await newSyncJob(api.db, pipeline, { trigger: "api" }), now);
    await using host = createHost({
      settings: network,
      seams: mailer.seams,
      clock: services.clock,
      sandbox: "inline",
    });
    mailer.faults.inject({ type: "status", status: 503 }, { path: "/api/campaigns" });
    const claimed = await claim(api);
    if (!claimed) throw new Error("no job was claimed");
    const sync = createSyncRunner(host);
    await runJob(services, claimed, { sync, reverse_etl: sync }, new AbortController().signal);
    await services.telemetry.flush();
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await receiver?.[Symbol.asyncDispose]();
    await mailer?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("is counted: the attempt, the job, its rows, and the requests to the provider", async () => {
    expect(await jobRow(api, jobId)).toMatchObject({ status: "succeeded", records_committed: 6 });
    const scrape = parsePrometheus(await api.control.services.telemetry.scrape());
    const ended = { kind: "sync", result: "succeeded", code: "none" };
    expect(scrape.value("svc_jobs_total", ended)).toBe(1);
    expect(scrape.value("svc_job_attempt_duration_seconds_count", ended)).toBe(1);
    expect(scrape.value("svc_rows_committed_total", { source, destination })).toBe(6);
    expect(scrape.value("svc_bytes_written_total", { source, destination })).toBeGreaterThan(100);
    const requests = "svc_provider_request_duration_seconds_count";
    expect(scrape.value(requests, { connector: source, method: "GET", status: "503" })).toBe(1);
    expect(scrape.value(requests, { connector: source, method: "GET", status: "200" })).toBe(
      mailer.requests.length - 1,
    );
    expect(scrape.value("svc_provider_retries_total", { connector: source })).toBe(1);
  });

  test("is a trace: the attempt, and below it what it did", () => {
    const named = (name: string) => receiver.spans.filter((span) => span.name === name);
    const [attempt] = named("job attempt");
    expect(attempt?.attributes).toEqual({
      "svc.kind": "sync",
      "svc.attempt": 1,
      "svc.result": "succeeded",
    });
    const { traceId, spanId: parentSpanId } = attempt ?? {};
    expect(named("discover")).toMatchObject([{ traceId, parentSpanId }]);
    const [read] = named("read");
    expect(read).toMatchObject({ traceId, parentSpanId, attributes: { "svc.source": source } });
    const commits = named("commit");
    expect(commits.every((commit) => commit.parentSpanId === read?.spanId)).toBe(true);
    expect(commits.map(({ attributes }) => attributes["svc.rows"]).toSorted()).toEqual([2, 4]);
    const requests = named("provider request");
    expect(requests).toHaveLength(mailer.requests.length);
    expect(requests.every((request) => request.traceId === traceId)).toBe(true);
  });

  test("tells nothing of whose it is, in metrics or in spans", async () => {
    const text = `${await api.control.services.telemetry.scrape()}\n${receiver.text}`;
    const rows = [...mailer.truth.campaigns(), ...mailer.truth.email_lists()];
    const recorded = [
      mailer.token,
      mailer.hostname,
      "/api/",
      api.first.id,
      jobId,
      ...rows.map(({ uuid }) => String(uuid)),
    ];
    for (const secret of recorded) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\b(ws|usr|ses|cred|ch|src|dst|job|pl|cn)_[0-9A-Za-z]{8,}/);
  });
});
