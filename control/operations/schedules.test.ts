import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createStandingClock } from "../../tests/control-jobs.ts";

describe("the preview of a schedule", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({
      clock: createStandingClock(Date.parse("2026-03-27T12:00:00Z")),
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const preview = (body: object, token = api.first.tokens.viewer) =>
    api.call("POST", "/schedules/preview", { body, token });
  const cron = (cron_expression: string, cron_timezone?: string) => ({
    type: "cron",
    cron_expression,
    cron_timezone,
  });

  test("names the next five times, over the change to summer time", async () => {
    const { body } = await preview({ schedule: cron("0 6 * * *", "Europe/Berlin") });
    expect(body.data).toEqual({
      time_zone: "Europe/Berlin",
      next_runs: [
        { at: "2026-03-28T05:00:00.000Z", local_time: "2026-03-28T06:00:00+01:00" },
        { at: "2026-03-29T04:00:00.000Z", local_time: "2026-03-29T06:00:00+02:00" },
        { at: "2026-03-30T04:00:00.000Z", local_time: "2026-03-30T06:00:00+02:00" },
        { at: "2026-03-31T04:00:00.000Z", local_time: "2026-03-31T06:00:00+02:00" },
        { at: "2026-04-01T04:00:00.000Z", local_time: "2026-04-01T06:00:00+02:00" },
      ],
    });
  });

  test("counts from now where a schedule has no times of its own, and shows them as another place's clocks do", async () => {
    const schedule = { type: "basic", units: 12, time_unit: "hours" };
    const { body } = await preview({ schedule, time_zone: "Asia/Kathmandu", count: 2 });
    expect(body.data).toEqual({
      time_zone: "Asia/Kathmandu",
      next_runs: [
        { at: "2026-03-28T00:00:00.000Z", local_time: "2026-03-28T05:45:00+05:45" },
        { at: "2026-03-28T12:00:00.000Z", local_time: "2026-03-28T17:45:00+05:45" },
      ],
    });
    expect((await preview({ schedule, count: 1 })).body.data.next_runs[0].local_time).toBe(
      "2026-03-28T00:00:00+00:00",
    );
  });

  test("has no times of a schedule that is run by hand", async () => {
    expect((await preview({ schedule: { type: "manual" } })).body.data.next_runs).toEqual([]);
  });

  test.each([
    [{ schedule: cron("0 6 * * *", "Mars/Olympus") }, "schedule.cron_timezone"],
    [{ schedule: cron("0 6 30 2 *") }, "schedule.cron_expression"],
    [{ schedule: cron("* * * * *") }, "schedule.cron_expression"],
    [{ schedule: { type: "basic", units: 1, time_unit: "minutes" } }, "schedule.units"],
    [{ schedule: { type: "manual" }, time_zone: "+02:00" }, "time_zone"],
  ])("refuses %j as saving it would", async (body, path) => {
    expect((await preview(body)).body.details).toMatchObject({
      reason: "invalid_schedule",
      errors: [{ path }],
    });
  });

  test("saves nothing, and is no request to a provider", async () => {
    const provider = { ...api.control.services.settings.limits, provider: 1 };
    await using few = await startTestControl({ settings: { limits: provider } });
    for (let count = 0; count < 3; count += 1) {
      const body = { schedule: { type: "manual" } };
      expect((await few.call("POST", "/schedules/preview", { body })).status).toBe(200);
    }
  });
});
