/**
 * Whatever is asked for while a sync is under way, and in whichever order: no job ends in a lie.
 * The database and the warehouse are real; the source stops at each point of the sync.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { claim, createStandingClock, type StandingClock } from "../../tests/control-jobs.ts";
import { addDestination, queryDestination } from "../../tests/control-pipelines.ts";
import { addCatalog, addCredential, addSource } from "../../tests/control-rows.ts";
import { choose } from "../../tests/effort.ts";
import {
  type CallName,
  call,
  callNames,
  createStoppingHost,
  enable,
  incremental,
  type JobCall,
  jobCalls,
  Model,
  type Point,
  points,
  rowIds,
  type Scene,
  twoStreams,
} from "../../tests/two-calls.ts";
import type { JobRunner } from "../contract/job.ts";
import { takeOverLost } from "./attempts.ts";
import { runJob } from "./run.ts";
import { createSyncRunner } from "./run-sync.ts";

interface Step {
  readonly name: CallName | "kill the worker";
  readonly point: Point;
}

let api: TestControl;
let clock: StandingClock;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-two-calls-"));
  clock = createStandingClock();
  api = await startTestControl({
    clock,
    sandbox: "inline",
    seams: { resolve: async () => [] },
    settings: {
      network: { approvedHosts: ["mail.example.com"], allowNetworks: [] },
      warehouses: folder,
    },
  });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

let fileCount = 0;

/** Notes that the job runs, as the worker does within a second. */
const noteRunning = (jobId: string) =>
  api.db
    .insertInto("job_streams")
    .values({ job_id: jobId, namespace: "", name: "orders", status: "running" })
    .onConflict((conflict) => conflict.doNothing())
    .execute();

interface First {
  /** A job that clears finds the rows of a sync before it. Default: sync. */
  readonly type?: JobCall;
  /** Only these streams. */
  readonly only?: readonly string[] | undefined;
}

/** A pipeline whose first job waits, and the calls that are made on the way. */
async function play(steps: readonly Step[], { type = "sync", only }: First = {}): Promise<void> {
  await api.db.deleteFrom("jobs").execute();
  await enable(api, true);
  fileCount += 1;
  const sourceId = await addSource(api, await addCredential(api));
  await addCatalog(api, sourceId, twoStreams);
  const destinationId = await addDestination(api, { configuration: { file: `file-${fileCount}` } });
  const streams = [incremental("id"), { name: "people" }];
  const made = await api.call("POST", "/pipelines", {
    body: { source_id: sourceId, destination_id: destinationId, streams },
  });
  const { pipeline_id: pipelineId, connection_id: connectionId } = made.body.data;
  const model = new Model();
  const scene = (): Scene => ({ sourceId, pipelineId, connectionId, jobId: model.job.id });
  const pipeline = () => api.call("GET", `/pipelines/${pipelineId}`);
  let left: readonly Step[] = [];
  let wasKilled = false;
  let isLate = false;
  /** Makes the calls whose point has come. @throws when the worker is killed there */
  async function at(point: Point): Promise<void> {
    for (let [step] = left; step; [step] = left) {
      if (points.indexOf(step.point) > points.indexOf(point)) return;
      left = left.slice(1);
      clock.move(1_000);
      if (step.name === "kill the worker") {
        if (!model.isRunning) continue;
        wasKilled = true;
        clock.move(31_000);
        await takeOverLost(api.control.services);
        model.isLost();
        throw new Error("killed");
      }
      const promised = model.promises(step.name);
      const answer = await call(api, step.name, scene());
      expect([step.name, answer.status, answer.body.details?.reason]).toEqual([
        step.name,
        ...promised,
      ]);
      if (answer.status < 300) model.did(step.name, answer);
    }
  }
  const sync = createSyncRunner(
    createStoppingHost(
      async (point) => {
        if (point === "half read" && !model.job.only) await noteRunning(model.job.id);
        await at(point);
        if (point === "discovering") model.agrees();
      },
      () => isLate,
    ),
  );
  const runner: JobRunner = async (attempt) => {
    await at("claimed");
    model.opens();
    const result = await sync(attempt);
    await at("done");
    return result;
  };
  /** Runs what waits to its end. */
  async function drain(): Promise<void> {
    for (;;) {
      const claimed = await claim(api);
      if (!claimed) return;
      model.isRunning = true;
      const runners = { sync: runner, reverse_etl: runner };
      await runJob(api.control.services, claimed, runners, new AbortController().signal);
      if (model.isRunning) model.ends();
      await checkTables();
      await at("ended");
    }
  }
  const table = async (prefix: string, stream: string) => {
    const found = await queryDestination(
      api,
      destinationId,
      `SELECT id FROM _svc_${prefix}${stream} ORDER BY id`,
    );
    return found.map(([id]) => Number(id));
  };

  /** A job that has succeeded has brought what it was to bring, or has taken it away. */
  async function checkTables(): Promise<void> {
    const { end, type: made, agreed, only: chosen } = model.job;
    if (end !== "succeeded" || !agreed) return;
    for (const stream of chosen ?? agreed.streams)
      expect([stream, await table(agreed.prefix, stream)]).toEqual([
        stream,
        made === "clear" ? [] : rowIds(stream, isLate),
      ]);
  }

  if (type !== "sync") {
    const before = await api.call("POST", `/pipelines/${pipelineId}/sync`);
    model.begin("sync", before.body.data.job.job_id);
    await drain();
  }
  left = steps;
  const body = only ? { streams: only.map((name) => ({ name })) } : {};
  const first = await api.call("POST", `/pipelines/${pipelineId}/${type}`, { body });
  expect([first.status, first.body.details]).toEqual([202, undefined]);
  model.begin(type, first.body.data.job.job_id, only);
  await at("waiting");
  await drain();
  await at("ended");
  await drain();

  for (const job of model.jobs) {
    const { data } = (await api.call("GET", `/jobs/${job.id}`)).body;
    const found = [data.status, data.cancel_requested, data.failure?.type];
    expect(found).toEqual([
      job.end,
      job.isCancelRequested,
      { succeeded: undefined, cancelled: "manual_cancellation", failed: "config_error" }[
        job.end as "failed"
      ],
    ]);
    expect(data).toMatchObject({ ended_at: expect.any(String), next_attempt_at: null });
    const unfinished = data.stream_stats.filter(({ status }: { status: string }) =>
      ["running"].includes(status),
    );
    expect(unfinished).toEqual([]);
    const last = data.attempts.at(-1)?.status;
    // An attempt whose pipeline was deleted meanwhile fails in its own way.
    if (last !== undefined) expect([job.end, "lost", "failed"]).toContain(last);
    if (job.end === "succeeded") expect(last).toBe("succeeded");
    const logs = (await api.call("GET", `/jobs/${job.id}/logs`)).body.data.items;
    const says = (message: string) =>
      logs.some((entry: { message: string }) => entry.message === message);
    expect([says("The job succeeded."), says("The job was cancelled.") && job.end]).toEqual([
      job.end === "succeeded",
      says("The job was cancelled.") && "cancelled",
    ]);
    if (job.end !== "succeeded" || !job.agreed) continue;
    const wanted = job.only ?? job.agreed.streams;
    if (!wasKilled && job === model.jobs[0])
      expect(data.records_synced).toBe(wanted.flatMap((one) => rowIds(one, false)).length);
  }

  const shown = await pipeline();
  const connections = await api.call("GET", `/connections?pipeline_id=${pipelineId}`);
  if (model.pipeline === "deleted") {
    expect([shown.status, connections.body.data.items]).toEqual([404, []]);
    return;
  }
  const { end, id, type: last } = model.job;
  const succeeded = last === "clear" ? "pending" : "synced";
  const state = { succeeded, failed: "failed", cancelled: "incomplete", open: "running" };
  expect(shown.body.data).toMatchObject({
    status: model.pipeline,
    sync_state: model.pipeline === "paused" ? "paused" : state[end],
    last_job: { job_id: id, status: end, ended_at: expect.any(String) },
    prefix: model.agreed.prefix,
    stream_count: model.agreed.streams.length,
  });
  expect(connections.body.data.items).toMatchObject([{ connection_id: connectionId }]);

  // Whatever has happened: the next sync brings every row to where the pipeline says it is.
  isLate = true;
  await enable(api, true);
  await call(api, "resume", scene());
  clock.move(1_000);
  const again = await call(api, "sync", scene());
  expect([again.status, again.body.details]).toEqual([202, undefined]);
  Object.assign(model, { pipeline: "active", isEnabled: true });
  model.did("sync", again);
  await drain();
  const { data: shownJob } = (await api.call("GET", `/jobs/${model.job.id}`)).body;
  expect([shownJob.status, shownJob.failure]).toEqual(["succeeded", null]);
  for (const { name, table: where } of (await pipeline()).body.data.streams)
    expect(await table(where.name.slice("_svc_".length, -name.length), name)).toEqual(
      rowIds(name, true),
    );
}

describe("two calls and a sync", () => {
  test.each<[string, Step[], First?]>([
    [
      "tables that were cleared stay so when the worker dies that has done it",
      [{ name: "kill the worker", point: "done" }],
      { type: "clear" },
    ],
    [
      "what a reset has emptied is read from the beginning when it is cancelled halfway",
      [{ name: "cancel", point: "half read" }],
      { type: "reset" },
    ],
    [
      "a reset whose worker dies halfway brings every row all the same",
      [{ name: "kill the worker", point: "half read" }],
      { type: "reset" },
    ],
    [
      "what is to be cleared is taken from its pipeline",
      [{ name: "change the streams", point: "waiting" }],
      { type: "clear", only: ["people"] },
    ],
    [
      "a connection that is deleted under a job leaves it cancelled",
      [{ name: "delete the connection", point: "discovering" }],
    ],
    [
      "a cancellation that was accepted stands, however far the job has come",
      [{ name: "cancel", point: "done" }],
    ],
    [
      "a worker dies, and what it had begun is to be read by another cursor",
      [
        { name: "change the cursor", point: "half read" },
        { name: "kill the worker", point: "half read" },
      ],
    ],
    [
      "what one job reads anew for a change is read anew once more for the next change",
      [
        { name: "change the cursor", point: "waiting" },
        { name: "change the streams", point: "half read" },
      ],
    ],
    [
      "what a job was to bring is taken from its pipeline",
      [{ name: "change the streams", point: "waiting" }],
      { only: ["people"] },
    ],
  ])("%s", async (_name, steps, first) => play(steps, first));

  test("never end in a lie, whatever their order", async () => {
    const steps = fc
      .array(
        fc.record({
          name: fc.constantFrom(...callNames, "kill the worker" as const),
          point: fc.constantFrom(...points),
        }),
        { minLength: 2, maxLength: 3 },
      )
      .map((found) => found.toSorted((a, b) => points.indexOf(a.point) - points.indexOf(b.point)));
    const first = fc.record({
      type: fc.constantFrom("sync", ...jobCalls),
      only: fc.option(fc.constant(["people"]), { nil: undefined, freq: 6 }),
    });
    await fc.assert(fc.asyncProperty(steps, first, play), {
      numRuns: choose({ quick: 4, whole: 30 }),
      endOnFailure: true,
    });
  });
});
