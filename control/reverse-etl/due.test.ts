import { systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addDestination } from "../../tests/control-rows.ts";
import { createId } from "../contract/ids.ts";
import { startDueRuns } from "./due.ts";

describe("activations with a schedule", () => {
  let api: TestControl;
  let nowMs = Date.parse("2026-03-01T00:00:00Z");

  beforeAll(async () => {
    api = await startTestControl({ clock: { ...systemClock, now: () => nowMs } });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const arrange = async (status: "active" | "paused" = "active") => {
    const now = new Date(nowMs);
    const common = { workspace_id: api.first.id, name: "x", created_at: now, updated_at: now };
    const [model_id, destination_id, id] = [
      createId("model"),
      createId("reverseDestination"),
      createId("activation"),
    ];
    await api.db
      .insertInto("reverse_etl_models")
      .values({
        ...common,
        id: model_id,
        destination_id: await addDestination(api),
        query_type: "raw_sql",
        sql: "SELECT 1 AS id",
        table_name: null,
        primary_key: "id",
        columns: "[]",
      })
      .execute();
    await api.db
      .insertInto("reverse_etl_destinations")
      .values({
        ...common,
        id: destination_id,
        type: "webhook",
        credential_id: null,
        configuration: "{}",
      })
      .execute();
    await api.db
      .insertInto("reverse_etl_activations")
      .values({
        ...common,
        id,
        model_id,
        destination_id,
        object: "rows",
        operation: "append",
        mappings: "[]",
        status,
        schedule: JSON.stringify({ type: "basic", units: 1, time_unit: "hours" }),
        next_run_at: new Date(nowMs + 3_600_000),
      })
      .execute();
    return id;
  };
  const runsOf = async (id: string) => {
    const { body } = await api.call("GET", `/reverse-etl/runs?activation_id=${id}`);
    return body.data.items
      .map((run: { status: string; trigger: string }) => [run.status, run.trigger])
      .reverse();
  };

  test("run when their time comes, once, and skip while a run is under way", async () => {
    const id = await arrange();
    const paused = await arrange("paused");
    await startDueRuns(api.control.services);
    expect(await runsOf(id)).toEqual([]);
    nowMs += 3_600_000;
    await Promise.all([1, 2, 3].map(() => startDueRuns(api.control.services)));
    expect(await runsOf(id)).toEqual([["queued", "schedule"]]);
    nowMs += 5 * 3_600_000;
    await startDueRuns(api.control.services);
    expect(await runsOf(id)).toEqual([
      ["queued", "schedule"],
      ["skipped", "schedule"],
    ]);
    const { body } = await api.call("GET", `/reverse-etl/activations/${id}`);
    expect(body.data.nextRunAt).toBe("2026-03-01T07:00:00.000Z");
    expect(await runsOf(paused)).toEqual([]);
  });

  test("run although another one cannot", async () => {
    const [broken, id] = [await arrange(), await arrange()];
    await api.db
      .updateTable("reverse_etl_activations")
      .set({
        schedule: JSON.stringify({ type: "cron", cron_expression: "x", cron_timezone: "UTC" }),
        next_run_at: new Date(nowMs + 1),
      })
      .where("id", "=", broken)
      .execute();
    nowMs += 3_600_000;
    await startDueRuns(api.control.services);
    expect(await runsOf(id)).toEqual([["queued", "schedule"]]);
    expect(await runsOf(broken)).toEqual([]);
    await api.db.deleteFrom("reverse_etl_activations").where("id", "=", broken).execute();
  });

  test("go on after a run that was cancelled before it began", async () => {
    const id = await arrange();
    nowMs += 3_600_000;
    await startDueRuns(api.control.services);
    const [run] = (await api.call("GET", `/reverse-etl/runs?activationId=${id}`)).body.data.items;
    const cancelled = await api.call("POST", `/reverse-etl/runs/${run.runId}/cancel`, { body: {} });
    expect([cancelled.status, cancelled.body.data]).toEqual([
      202,
      { runId: run.runId, status: "cancelled" },
    ]);
    const again = await api.call("POST", `/reverse-etl/runs/${run.runId}/cancel`, { body: {} });
    expect(again.body.data.status).toBe("cancelled");
    nowMs += 3_600_000;
    await startDueRuns(api.control.services);
    expect(await runsOf(id)).toEqual([
      ["cancelled", "schedule"],
      ["queued", "schedule"],
    ]);
  });
});
