/** Syncs of a source that changes, one attempt at a time, into a DuckDB file. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  type CatalogStream,
  ConnectorError,
  createHost,
  type Host,
  streamLabel,
} from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takingLines } from "../../fixtures/taking-lines.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { claim, jobRow } from "../../tests/control-jobs.ts";
import {
  addDestination,
  addPipeline,
  queryDestination,
  type TestPipeline,
} from "../../tests/control-pipelines.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { choose } from "../../tests/effort.ts";
import { findPipeline } from "../pipelines/rows.ts";
import { enqueueJob } from "./enqueue.ts";
import { runJob } from "./run.ts";
import { createSyncRunner } from "./run-sync.ts";
import { newSyncJob, type SyncOptions } from "./sync-job.ts";

interface Row {
  readonly id: number;
  readonly at: number;
  readonly value: string;
}

/** How a read of keys goes. */
type KeyRead = "whole" | "cut off" | "cancelled" | "fails";

/** The source, in a test's hands. */
interface World {
  readonly rows: Map<number, Row>;
  rowRead: "whole" | "cut off";
  keyRead: KeyRead;
  /** Happens between the rows and the keys. */
  meanwhile: () => void;
}

const things: CatalogStream = {
  name: "things",
  json_schema: {
    type: "object",
    properties: { id: { type: "integer" }, at: { type: "integer" }, value: { type: "string" } },
  },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: true,
  default_cursor_field: ["at"],
  source_defined_primary_key: [["id"]],
  is_resumable: false,
};

/** A host whose source is the world: it reads rows by their cursor, and keys whole. */
const hostOf = (host: Host, world: World): Host => ({
  ...host,
  discover: async () => [things],
  async read(_source, { catalog, state = [] }, sink) {
    const [configured] = catalog.streams;
    if (!configured) throw new ConnectorError("INTERNAL");
    const { stream, sync_mode, selected_fields } = configured;
    const ofKeys = sync_mode === "full_refresh";
    if (ofKeys) {
      expect(selected_fields).toEqual(["id"]);
      world.meanwhile();
    }
    const how: KeyRead = ofKeys ? world.keyRead : world.rowRead;
    const after = ofKeys ? -1 : ((state[0]?.state as { at?: number } | undefined)?.at ?? -1);
    const found = [...world.rows.values()].filter(({ at }) => at > after);
    const given = how === "whole" ? found : found.slice(0, Math.floor(found.length / 2));
    const lines = given.map((row) => JSON.stringify(ofKeys ? { id: row.id } : row));
    const label = streamLabel(stream);
    await sink.open([configured]);
    await sink.status(stream, "started");
    await takingLines(sink, [configured]).write(
      stream,
      Buffer.from(lines.map((line) => `${line}\n`).join("")),
      lines.length,
    );
    const at = Math.max(after, ...given.map((row) => row.at));
    if (how === "whole") await sink.checkpoint(stream, { at }, lines.length);
    const status = how === "whole" ? "complete" : "incomplete";
    await sink.status(stream, status);
    await sink.close();
    const code = how === "cancelled" ? "CANCELLED" : "CONNECTION_FAILED";
    const error = how === "whole" ? {} : { error: new ConnectorError(code).toRecord(label) };
    const counts = { recordCount: lines.length, nulledCount: 0 };
    return {
      status: how === "whole" ? "succeeded" : how === "cancelled" ? "cancelled" : "failed",
      ...counts,
      byteCount: 0,
      requestCount: 0,
      redactedCount: 0,
      streams: [{ stream: label, status, ...counts, ...error }],
      ...error,
    };
  },
});

describe("rows that the source has no more", () => {
  let folder: string;
  let api: TestControl;
  let host: Host;
  let sourceId: string;
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-deletes-"));
    const network = { approvedHosts: ["mail.example.com"], allowNetworks: [] };
    api = await startTestControl({ settings: { network, warehouses: folder } });
    host = createHost({ settings: network, clock: api.control.services.clock });
    const credential = await addCredential(api, { api_token: "token-of-a-test-0123456789" });
    sourceId = await addSource(api, credential, { base_url: "https://mail.example.com/api" });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const now = () => new Date(api.control.services.clock.now());

  async function openPipeline(detect_deletes: "none" | "soft" | "hard") {
    const configuration = { file: `deletes-${++count}` };
    const destinationId = await addDestination(api, { configuration });
    const pipeline = await addPipeline(api, { sourceId, destinationId }, [things], ["things"]);
    await api.db
      .updateTable("pipeline_streams")
      .set({ detect_deletes })
      .where("pipeline_id", "=", pipeline.id)
      .execute();
    const world: World = {
      rows: new Map(),
      rowRead: "whole",
      keyRead: "whole",
      meanwhile: () => {},
    };
    const sync = createSyncRunner(hostOf(host, world));
    const runners = { sync, reverse_etl: sync };
    const attempt = async (jobId: string) => {
      await api.db
        .updateTable("jobs")
        .set({ runnable_at: now() })
        .where("id", "=", jobId)
        .execute();
      const claimed = await claim(api);
      if (claimed?.job.id !== jobId) throw new Error("another job was claimed");
      await runJob(api.control.services, claimed, runners, new AbortController().signal);
      return await jobRow(api, jobId);
    };
    const run = async (options: SyncOptions = {}) => {
      const row = await findPipeline(api.db, api.first.id, pipeline.id);
      // Nothing waits in line from before.
      await api.db.deleteFrom("jobs").execute();
      const made = await newSyncJob(api.db, row, { trigger: "api", options });
      return await attempt(await enqueueJob(api.db, made, now()));
    };
    return { pipeline, world, run, attempt };
  }

  const idsOf = async ({ destinationId }: TestPipeline, condition = "true") =>
    (
      await queryDestination(
        api,
        destinationId,
        `SELECT id FROM _svc_things WHERE ${condition} ORDER BY id`,
      )
    ).map(([id]) => Number(id));
  const streamOf = async (jobId: string) =>
    (await api.db.selectFrom("job_streams").selectAll().where("job_id", "=", jobId).execute())[0];
  const put = ({ rows }: World, at: number, ...ids: number[]) => {
    for (const id of ids) rows.set(id, { id, at, value: `${id} at ${at}` });
  };

  test("go, as a model of the source says, and only after a job that saw all of it", async () => {
    const id = fc.integer({ min: 1, max: 8 });
    const step = fc.record({
      changed: fc.uniqueArray(id, { maxLength: 4 }),
      deleted: fc.uniqueArray(id, { maxLength: 3 }),
      // Between the two reads of a job.
      added: fc.option(fc.integer({ min: 20, max: 22 }), { nil: undefined }),
      removed: fc.option(id, { nil: undefined }),
      rowRead: fc.constantFrom<World["rowRead"]>("whole", "whole", "whole", "cut off"),
      keyRead: fc.constantFrom<KeyRead>("whole", "whole", "cut off", "cancelled", "fails"),
    });
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 4 }),
      fc.constantFrom("soft" as const, "hard" as const),
      async (steps, mode) => {
        const { pipeline, world, run } = await openPipeline(mode);
        const present = new Set<number>();
        let at = 0;
        for (const { changed, deleted, added, removed, rowRead, keyRead } of steps) {
          for (const one of deleted) world.rows.delete(one);
          put(world, ++at, ...changed);
          const seen = new Set(world.rows.keys());
          Object.assign(world, { rowRead, keyRead });
          world.meanwhile = () => {
            if (added !== undefined) put(world, ++at, added);
            if (removed !== undefined) world.rows.delete(removed);
          };
          const { id: jobId, status } = await run({ confirm_deletes: true });
          const isWhole = rowRead === "whole" && keyRead === "whole";
          expect(status === "succeeded").toBe(isWhole);
          if (rowRead === "whole") for (const one of seen) present.add(one);
          if (rowRead !== "whole") continue;
          const counted = Number((await streamOf(jobId))?.records_deleted);
          const before = present.size;
          // Rows that this job has written stay until the next one.
          const own = new Set(
            (
              await queryDestination(
                api,
                pipeline.destinationId,
                `SELECT id FROM _svc_things WHERE _svc_job_id = '${jobId}'`,
              )
            ).map(([one]) => Number(one)),
          );
          if (isWhole)
            for (const one of present)
              if (!world.rows.has(one) && !own.has(one)) present.delete(one);
          expect(counted).toBe(before - present.size);
          const hasMark = mode === "soft" && steps.some((one) => one.keyRead === "whole");
          const columns = (
            await queryDestination(
              api,
              pipeline.destinationId,
              "SELECT column_name FROM information_schema.columns WHERE table_name = '_svc_things'",
            )
          ).map(([name]) => name);
          const isMarked = hasMark && columns.includes("_svc_deleted_at");
          const shown = await idsOf(pipeline, isMarked ? "_svc_deleted_at IS NULL" : "true");
          expect(shown).toEqual([...present].toSorted((a, b) => a - b));
        }
      },
    );
    await fc.assert(property, { numRuns: choose({ quick: 2, whole: 6 }) });
  });

  test("stay where nobody asks, and nothing more is read", async () => {
    const { pipeline, world, run } = await openPipeline("none");
    put(world, 1, 1, 2);
    await run();
    world.rows.delete(1);
    world.meanwhile = () => expect.unreachable("keys are read");
    expect(await run()).toMatchObject({ status: "succeeded", records_deleted: 0 });
    expect(await idsOf(pipeline)).toEqual([1, 2]);
  });

  test("are counted by the job and by the stream, and told in its log", async () => {
    const { world, run } = await openPipeline("hard");
    put(world, 1, 1, 2, 3);
    await run();
    world.rows.delete(2);
    const job = await run();
    expect(job).toMatchObject({ status: "succeeded", records_deleted: 1 });
    expect(await streamOf(job.id)).toMatchObject({ status: "complete", records_deleted: 1 });
    const logged = await api.db
      .selectFrom("job_logs")
      .select(["message", "fields"])
      .where("job_id", "=", job.id)
      .execute();
    expect(logged).toContainEqual({
      message: "Rows that the source has no more were marked or removed.",
      fields: { stream: "things", rows: 1 },
    });
  });

  test("are found by another attempt when the keys could not be read, and the rows are kept", async () => {
    const { pipeline, world, run, attempt } = await openPipeline("hard");
    put(world, 1, 1, 2, 3);
    await run();
    world.rows.delete(2);
    put(world, 2, 4);
    world.keyRead = "fails";
    const job = await run();
    expect(job).toMatchObject({
      status: "incomplete",
      failure: { origin: "source", code: "CONNECTION_FAILED", stream: "things" },
    });
    expect(await streamOf(job.id)).toMatchObject({ status: "incomplete" });
    expect(await idsOf(pipeline)).toEqual([1, 2, 3, 4]);
    world.keyRead = "whole";
    expect(await attempt(job.id)).toMatchObject({ status: "succeeded", records_deleted: 1 });
    expect(await idsOf(pipeline)).toEqual([1, 3, 4]);
  });

  test("are refused when they are more than half of a table, until somebody confirms it", async () => {
    const { pipeline, world, run } = await openPipeline("soft");
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    put(world, 1, ...ids);
    await run();
    for (const id of ids.slice(5)) world.rows.delete(id);
    const refused = await run();
    expect(refused).toMatchObject({
      status: "failed",
      records_deleted: 0,
      failure: {
        origin: "destination",
        code: "DELETES_REFUSED",
        retryable: false,
        message: expect.stringContaining(
          "No row of things was taken for deleted: 25 of 30 rows are gone at the source, more than half.",
        ),
      },
    });
    expect(await idsOf(pipeline, "_svc_deleted_at IS NOT NULL")).toEqual([]);
    expect(await run({ confirm_deletes: true })).toMatchObject({
      status: "succeeded",
      records_deleted: 25,
    });
    expect(await idsOf(pipeline, "_svc_deleted_at IS NULL")).toEqual(ids.slice(0, 5));
  });
});
