import { describe, expect, test } from "vitest";
import { ControlError } from "../contract/reasons.ts";
import { nextRunAfter, parseSchedule } from "./schedule.ts";

const cron = (cron_expression: string, cron_timezone = "UTC") => ({
  type: "cron" as const,
  cron_expression,
  cron_timezone,
});
const next = (schedule: Parameters<typeof nextRunAfter>[0], after: string, due?: string) =>
  nextRunAfter(
    schedule,
    new Date(after),
    due === undefined ? undefined : new Date(due),
  )?.toISOString() ?? null;

/** The next times, one after another. */
function series(
  schedule: Parameters<typeof nextRunAfter>[0],
  after: string,
  count: number,
): string[] {
  const times: string[] = [];
  for (let at = after; times.length < count; at = times.at(-1) ?? at)
    times.push(next(schedule, at) ?? "never");
  return times;
}

describe("a schedule", () => {
  test.each<[Parameters<typeof parseSchedule>[0], Record<string, unknown>]>([
    [{ type: "manual" }, { type: "manual" }],
    [{ type: "basic", units: 5, time_unit: "minutes" }, { units: 5 }],
    [{ type: "basic", units: 1, time_unit: "weeks" }, { time_unit: "weeks" }],
    [
      { type: "cron", cron_expression: " */5  * * * * " },
      { cron_expression: "*/5 * * * *", cron_timezone: "UTC" },
    ],
    [
      { type: "cron", cron_expression: "0,30 9-17 * * mon-thu", cron_timezone: "America/New_York" },
      { type: "cron" },
    ],
    [{ type: "cron", cron_expression: "58 23 * * *" }, { type: "cron" }],
    [{ type: "cron", cron_expression: "0,58 9 * * *" }, { type: "cron" }],
    [{ type: "cron", cron_expression: "0 0 29 2 *" }, { type: "cron" }],
    [{ type: "cron", cron_expression: "0 6 L * *" }, { type: "cron" }],
  ])("is read: %j", (body, expected) => expect(parseSchedule(body)).toMatchObject(expected));

  test.each<[Parameters<typeof parseSchedule>[0], string[]]>([
    [{ type: "manual", units: 1 }, ["schedule.units"]],
    [{ type: "basic" }, ["schedule.units", "schedule.time_unit"]],
    [{ type: "basic", units: 4, time_unit: "minutes" }, ["schedule.units"]],
    [{ type: "basic", units: 53, time_unit: "weeks" }, ["schedule.units"]],
    [
      { type: "basic", units: 1, time_unit: "days", cron_timezone: "UTC" },
      ["schedule.cron_timezone"],
    ],
    [{ type: "cron" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "* * * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "*/4 * * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0,58 9,10 * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0,58 0,23 * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0 0 0 * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0 0 * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "@daily" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "H 9 * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "61 9 * * *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0 0 31 2 *" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "0 9 * * funday" }, ["schedule.cron_expression"]],
    [{ type: "cron", cron_expression: "" }, ["schedule.cron_expression"]],
    [
      { type: "cron", cron_expression: "0 9 * * *", cron_timezone: "+02:00" },
      ["schedule.cron_timezone"],
    ],
    [
      { type: "cron", cron_expression: "0 9 * * *", cron_timezone: "Nowhere/City" },
      ["schedule.cron_timezone"],
    ],
    [{ type: "cron", cron_expression: "0 9 * * *", cron_timezone: "" }, ["schedule.cron_timezone"]],
    [
      { type: "cron", units: 1, cron_expression: "nonsense" },
      ["schedule.units", "schedule.cron_expression"],
    ],
  ])("is refused with the places: %j", (body, paths) => {
    const thrown = (() => {
      try {
        return parseSchedule(body);
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(ControlError);
    const { reason, details } = thrown as ControlError;
    expect([reason, (details.errors as { path: string }[]).map(({ path }) => path)]).toEqual([
      "invalid_schedule",
      paths,
    ]);
  });
});

describe("the next run", () => {
  test("of a manual schedule never comes", () =>
    expect(next({ type: "manual" }, "2026-01-01T00:00:00Z")).toBe(null));

  test("of an interval keeps its beat; after a downtime there is one, not all that were missed", () => {
    const hourly = { type: "basic", units: 1, time_unit: "hours" } as const;
    expect(next(hourly, "2026-01-01T10:20:00Z")).toBe("2026-01-01T11:20:00.000Z");
    expect(next(hourly, "2026-01-01T10:00:02Z", "2026-01-01T10:00:00Z")).toBe(
      "2026-01-01T11:00:00.000Z",
    );
    expect(next(hourly, "2026-01-03T07:30:00Z", "2026-01-01T10:00:00Z")).toBe(
      "2026-01-03T08:00:00.000Z",
    );
  });

  test("of a cron after a downtime is the next one from now", () =>
    expect(next(cron("0 9 * * *"), "2026-01-05T12:00:00Z", "2026-01-01T09:00:00Z")).toBe(
      "2026-01-06T09:00:00.000Z",
    ));

  test("is at the same time of the clock, summer and winter", () =>
    expect(series(cron("0 9 * * *", "Europe/Berlin"), "2026-03-27T12:00:00Z", 3)).toEqual([
      "2026-03-28T08:00:00.000Z",
      "2026-03-29T07:00:00.000Z",
      "2026-03-30T07:00:00.000Z",
    ]));

  test("at a time that the clock leaves out comes once that day, when the clock has gone on", () =>
    expect(series(cron("30 2 * * *", "Europe/Berlin"), "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]));

  test("at a time that the clock has twice comes once", () =>
    expect(series(cron("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]));

  test("of every half hour goes on through the hour that the clock has twice", () =>
    expect(series(cron("*/30 * * * *", "Europe/Berlin"), "2026-10-25T00:00:00Z", 4)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:00:00.000Z",
      "2026-10-25T01:30:00.000Z",
      "2026-10-25T02:00:00.000Z",
    ]));

  test("at a midnight that a zone leaves out comes with the day's first hour", () =>
    expect(series(cron("0 0 * * *", "America/Sao_Paulo"), "2017-10-14T12:00:00Z", 2)).toEqual([
      "2017-10-15T03:00:00.000Z",
      "2017-10-16T02:00:00.000Z",
    ]));
});

test("continuous is wanted at once, and looked at again after minutes: each job begins the next one itself", () => {
  const schedule = parseSchedule({ type: "continuous" });
  const now = new Date("2026-01-31T09:30:00Z");
  expect(nextRunAfter(schedule, now)).toEqual(now);
  expect(nextRunAfter(schedule, now, now)).toEqual(new Date("2026-01-31T09:35:00Z"));
  expect(() => parseSchedule({ type: "continuous", units: 1, time_unit: "days" })).toThrow();
});
