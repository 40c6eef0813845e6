import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addTestPipeline } from "../../tests/control-events.ts";
import { addJob, createStandingClock, type StandingClock } from "../../tests/control-jobs.ts";
import { createProgress } from "../jobs/progress.ts";

const hourMs = 3_600_000;

describe("rows per day", () => {
  let api: TestControl;
  let clock: StandingClock;
  let pipelineId: string;
  let other: string;
  beforeAll(async () => {
    // Half past eleven at night in Berlin, in summer time.
    clock = createStandingClock(Date.parse("2026-07-10T21:30:00Z"));
    api = await startTestControl({ clock });
    // The test lasts for months.
    await api.db
      .updateTable("sessions")
      .set({ expires_at: new Date("2030-01-01") })
      .execute();
    pipelineId = await addTestPipeline(api);
    other = await addTestPipeline(api);
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  /** A job of a pipeline that commits so many rows, through what running jobs write with. */
  const commit = async (pipeline: string, ...counts: readonly number[]) => {
    const id = await addJob(api, { subjectId: pipeline, pipelineId: pipeline });
    await api.db.updateTable("jobs").set({ status: "queued" }).where("id", "=", id).execute();
    const lease = { status: "running" as const, lease_id: "lease", attempt: 1 };
    await api.db.updateTable("jobs").set(lease).where("id", "=", id).execute();
    const own = { jobId: id, attempt: 1, leaseId: "lease" };
    const progress = createProgress(api.control.services, own);
    for (const committed of counts) {
      progress.add({ name: "orders", namespace: undefined } as never, {
        emitted: committed,
        committed,
        bytes: committed * 10,
      });
      await progress.flush();
      clock.move(hourMs);
    }
    const end = { status: "succeeded" as const, lease_id: null, ended_at: new Date(clock.now()) };
    await api.db.updateTable("jobs").set(end).where("id", "=", id).execute();
  };
  const get = async (query = "", token = api.first.tokens.viewer) =>
    (await api.call("GET", `/rows-per-day${query}`, { token })).body;
  const some = ({ data }: { readonly data: { readonly days: readonly { records: number }[] } }) =>
    data.days.filter(({ records }) => records > 0);

  test("are counted on the day on which they came, also of one job that ran over midnight, in any time zone", async () => {
    await commit(pipelineId, 5, 7);
    await commit(other, 100);
    const zone = "time_zone=Europe/Berlin";
    expect(some(await get(`?pipeline_id=${pipelineId}&${zone}`))).toEqual([
      { day: "2026-07-10", records: 5, bytes: 50 },
      { day: "2026-07-11", records: 7, bytes: 70 },
    ]);
    expect(some(await get(`?pipeline_id=${pipelineId}`))).toEqual([
      { day: "2026-07-10", records: 12, bytes: 120 },
    ]);
    expect(some(await get(`?${zone}`))).toEqual([
      { day: "2026-07-10", records: 5, bytes: 50 },
      { day: "2026-07-11", records: 107, bytes: 1_070 },
    ]);
    expect(some(await get("?time_zone=Asia/Kathmandu"))).toEqual([
      { day: "2026-07-11", records: 112, bytes: 1_120 },
    ]);
  });

  test("are told of each of the last days once, over changes of the clock, and stay when jobs go", async () => {
    clock.move(110 * 24 * hourMs);
    await commit(pipelineId, 3);
    await api.db.deleteFrom("jobs").execute();
    const { data } = await get("?time_zone=Europe/Berlin");
    expect(data.days.length).toBe(30);
    expect(new Set(data.days.map(({ day }: { day: string }) => day)).size).toBe(30);
    expect(some({ data })).toEqual([{ day: "2026-10-29", records: 3, bytes: 30 }]);
    expect(data.days.at(-1).day).toBe("2026-10-29");
    expect((await get("?days=1&time_zone=Europe/Berlin")).data.days.length).toBe(1);
  });

  test("are found by an index, however many quarters of an hour there are", async () => {
    const { first, db } = api;
    await db
      .insertInto("pipeline_rows")
      .values(
        Array.from({ length: 5_000 }, (_, index) => ({
          workspace_id: first.id,
          pipeline_id: "pipe_long_ago",
          slot: new Date(Date.parse("2020-01-01T00:00:00Z") + index * 900_000),
          records: 1,
          bytes: 1,
        })),
      )
      .execute();
    const plan = await db
      .selectFrom("pipeline_rows")
      .selectAll()
      .where("workspace_id", "=", first.id)
      .where("slot", ">=", new Date(clock.now() - 30 * 24 * hourMs))
      .explain("text" as never);
    expect(JSON.stringify(plan)).toContain("pipeline_rows_by_time");
  });

  test("of another workspace's pipeline do not exist, and a time zone has a name", async () => {
    expect((await get(`?pipeline_id=${pipelineId}`, api.second.tokens.admin)).code).toBe("404");
    expect(some(await get("", api.second.tokens.admin))).toEqual([]);
    expect((await get("?time_zone=Mars")).details).toMatchObject({
      reason: "invalid_query",
      errors: [{ path: "time_zone" }],
    });
    expect((await get("?days=91")).details.reason).toBe("invalid_query");
  });
});
