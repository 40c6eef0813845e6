import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createStandingClock, type StandingClock } from "../../tests/control-jobs.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { createId } from "../contract/ids.ts";
import { enqueueDuePipelines } from "./schedules.ts";

describe("a schedule", () => {
  let api: TestControl;
  let clock: StandingClock;
  let sourceId: string;
  beforeAll(async () => {
    clock = createStandingClock();
    api = await startTestControl({ clock });
    sourceId = await addSource(api, await addCredential(api));
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await api.db.deleteFrom("jobs").execute();
    await api.db.updateTable("pipelines").set({ status: "deleted" }).execute();
    await api.db.deleteFrom("connector_settings").execute();
  });

  /** A pipeline that is due every ten minutes, now for the first time. */
  async function addPipeline(): Promise<string> {
    const now = new Date(clock.now());
    const [id, connectionId, destinationId] = [
      createId("pipeline"),
      createId("connection"),
      createId("destination"),
    ];
    const times = { created_at: now, updated_at: now };
    const ids = { workspace_id: api.first.id, source_id: sourceId, destination_id: destinationId };
    await api.db
      .insertInto("destinations")
      .values({
        id: destinationId,
        workspace_id: api.first.id,
        name: "warehouse",
        connector_id: "conn_duckdb",
        credential_id: null,
        configuration: "{}",
        status: "active",
        last_check: "{}",
        ...times,
      })
      .execute();
    await api.db
      .insertInto("connections")
      .values({ id: connectionId, pipeline_id: id, created_at: now, ...ids })
      .execute();
    await api.db
      .insertInto("pipelines")
      .values({
        id,
        connection_id: connectionId,
        name: "p",
        status: "active",
        next_run_at: now,
        prefix: "",
        namespace_definition: "destination",
        namespace_format: null,
        schema_change_policy: "ignore",
        stream_count: 1,
        pause_reason: null,
        ...ids,
        ...times,
        schedule: JSON.stringify({ type: "basic", units: 10, time_unit: "minutes" }),
      })
      .execute();
    return id;
  }
  const look = () => enqueueDuePipelines(api.control.services);
  const jobs = () => api.db.selectFrom("jobs").selectAll().orderBy("created_at").execute();
  const nextRun = async (id: string) =>
    (
      await api.db
        .selectFrom("pipelines")
        .select("next_run_at")
        .where("id", "=", id)
        .executeTakeFirst()
    )?.next_run_at;

  test("that is due makes one job, whoever looks and how often", async () => {
    const id = await addPipeline();
    await Promise.all([look(), look(), look()]);
    expect(await jobs()).toMatchObject([
      { pipeline_id: id, kind: "sync", trigger: "schedule", status: "pending" },
    ]);
    expect(await nextRun(id)).toEqual(new Date(clock.now() + 600_000));
  });

  test("counts what the job uses", async () => {
    await addPipeline();
    await look();
    const [job] = await jobs();
    expect(job?.limits).toEqual([
      expect.stringMatching(/^credential:cred_/),
      "provider:conn_mailer_product_edm",
      expect.stringMatching(/^destination:dst_/),
    ]);
  });

  test("leaves a time out while a job is under way", async () => {
    const id = await addPipeline();
    await look();
    clock.move(600_000);
    await look();
    expect(await jobs()).toHaveLength(1);
    expect(await nextRun(id)).toEqual(new Date(clock.now() + 600_000));
  });

  test("makes one job after a downtime, and keeps its beat", async () => {
    const id = await addPipeline();
    clock.move(3 * 600_000 + 1_000);
    await look();
    expect(await jobs()).toHaveLength(1);
    expect(await nextRun(id)).toEqual(new Date(clock.now() - 1_000 + 600_000));
  });

  test.each([
    "conn_mailer_product_edm",
    "conn_duckdb",
  ])("makes no job while %s is disabled", async (connector_id) => {
    const id = await addPipeline();
    await api.db
      .insertInto("connector_settings")
      .values({ connector_id, enabled: false, updated_at: new Date(clock.now()) })
      .execute();
    await look();
    expect(await jobs()).toEqual([]);
    expect(await nextRun(id)).toEqual(new Date(clock.now() + 600_000));
  });

  test.each(["paused", "locked", "deleted"] as const)("of a %s pipeline rests", async (status) => {
    const id = await addPipeline();
    await api.db.updateTable("pipelines").set({ status }).where("id", "=", id).execute();
    await look();
    expect(await jobs()).toEqual([]);
  });
});
