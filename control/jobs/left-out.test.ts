import type { ColumnTypeChange, HostEvent, JsonObject, ReadSummary } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addTestPipeline,
  createEventClock,
  deliverEvents,
  runJob,
} from "../../tests/control-events.ts";
import { jobRow, type StandingClock } from "../../tests/control-jobs.ts";
import type { JobAttempt } from "../contract/job.ts";
import { mailOf } from "../events/event-mail.ts";
import { mailedTypes } from "../events/types.ts";
import { createLeftOut } from "./left-out.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createEventClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** A job of the pipeline by which so many values were left out of its stream. */
async function runLeavingOut(
  pipeline: string,
  nulledCount: number,
  fields: readonly string[] = [],
  events: readonly HostEvent[] = [],
  changes: readonly ColumnTypeChange[] = [],
) {
  await runJob(api, clock, pipeline, "succeeded", async (id) => {
    const job = await jobRow(api, id);
    const leftOut = createLeftOut();
    if (fields.length > 0) leftOut.onEvent({ type: "dropped", stream: "orders", fields });
    for (const event of events) leftOut.onEvent(event);
    for (const change of changes) leftOut.onColumnChanged(change);
    const stream = { stream: "orders", status: "complete" as const, recordCount: 9, nulledCount };
    const summary = { streams: [stream] } as unknown as ReadSummary;
    const log = () => undefined;
    const attempt = { job, services: api.control.services, log } as unknown as JobAttempt;
    await leftOut.note(api.db, attempt, pipeline, summary);
  });
  await deliverEvents(api);
}
const degraded = async (pipeline: string) =>
  (await api.call("GET", "/events?type=pipeline.degraded")).body.data.items.filter(
    (one: { data: { pipeline: { pipeline_id: string } } }) =>
      one.data.pipeline.pipeline_id === pipeline,
  );

test("what did not fit is told once, until a job leaves out nothing", async () => {
  const pipeline = await addTestPipeline(api);
  await runLeavingOut(pipeline, 0);
  expect(await degraded(pipeline)).toEqual([]);
  await runLeavingOut(pipeline, 3, ["extra"]);
  expect(await degraded(pipeline)).toMatchObject([
    { data: { left_out: [{ stream: "orders", values: 3, columns: ["extra"] }] } },
  ]);
  await runLeavingOut(pipeline, 5);
  expect(await degraded(pipeline)).toHaveLength(1);
  await runLeavingOut(pipeline, 0);
  await runLeavingOut(pipeline, 1);
  expect(await degraded(pipeline)).toHaveLength(2);
});

test("a column that became text is told too, and mailed of by default", async () => {
  const pipeline = await addTestPipeline(api);
  const became = (column: string, from: string, to: string) => ({
    stream: { name: "orders", namespace: "shop" },
    column,
    from,
    to,
  });
  await runLeavingOut(pipeline, 0, [], [], [became("id", "INTEGER", "BIGINT")]);
  expect(await degraded(pipeline)).toEqual([]);
  const changes = [became("amount", "DECIMAL(18,2)", "VARCHAR"), became("at", "date", "text")];
  await runLeavingOut(pipeline, 0, [], [], changes);
  const [event] = await degraded(pipeline);
  expect(event.data).toEqual({
    pipeline: expect.anything(),
    left_out: [],
    changes: changes.map(({ column, from, to }) => ({
      stream: "shop.orders",
      type: "destination_type_changed",
      column,
      from,
      to,
    })),
    change_count: 2,
  });
  const row = await api.db
    .selectFrom("events")
    .selectAll()
    .where("id", "=", event.event_id)
    .executeTakeFirstOrThrow();
  const { text } = mailOf(row, { email: "a@example.com", workspace: "w" });
  expect(text).toContain("Changed: shop.orders amount DECIMAL(18,2) → VARCHAR");
  expect(mailedTypes).toContain(event.type);
});

test("rows that no run reads are told too, as far as a source says so", async () => {
  const pipeline = await addTestPipeline(api);
  const warning = (fields: JsonObject, level: "info" | "warn" = "warn"): HostEvent => ({
    type: "log",
    level,
    message: "Rows are not read.",
    fields,
  });
  await runLeavingOut(
    pipeline,
    0,
    [],
    [
      warning({ stream: "orders", unreadRows: -1 }),
      warning({ stream: "orders", unreadRows: "many" }),
      warning({ stream: "another", unreadRows: 5 }),
      warning({ unreadRows: 5 }),
      warning({ stream: "orders", unreadRows: 5 }, "info"),
    ],
  );
  expect(await degraded(pipeline)).toEqual([]);
  await runLeavingOut(pipeline, 0, [], [warning({ stream: "orders", unreadRows: 5 })]);
  expect(await degraded(pipeline)).toMatchObject([
    { data: { left_out: [{ stream: "orders", values: 0, columns: [], rows: 5 }] } },
  ]);
});

test("columns that were left out are told too", async () => {
  const pipeline = await addTestPipeline(api);
  await runLeavingOut(pipeline, 0, ["new_column"]);
  expect(await degraded(pipeline)).toMatchObject([
    { data: { left_out: [{ values: 0, columns: ["new_column"] }] } },
  ]);
});
