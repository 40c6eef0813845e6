/** A look at a schedule before it is saved: when it would run. */
import { Type } from "typebox";
import { defineCompute } from "../contract/operation.ts";
import { StrictObject, Time, workspaceInput } from "../contract/schemas.ts";
import { zonedTime } from "../pipelines/days.ts";
import { nextRunAfter, parseSchedule, parseTimeZone, ScheduleBody } from "../pipelines/schedule.ts";
import type { Schedule } from "../store/tables.ts";

const usualCount = 5;

export const previewSchedule = defineCompute({
  id: "schedule.preview",
  area: "Pipelines",
  path: "/schedules/preview",
  summary: "Preview the times of a schedule",
  description:
    "The next times at which it would run if it was saved now, in its time zone. Saves nothing, and asks nobody. A `basic` schedule counts from the moment in which it is saved.",
  permission: "read",
  body: StrictObject({
    ...workspaceInput,
    schedule: ScheduleBody,
    time_zone: Type.Optional(
      Type.String({
        maxLength: 60,
        description: "IANA name, of local_time. Default: that of the schedule, or UTC.",
      }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: usualCount })),
  }),
  data: StrictObject(
    {
      time_zone: Type.String(),
      next_runs: Type.Array(
        StrictObject({
          at: Time,
          local_time: Type.String({
            description: "The same moment in the time zone, as RFC 3339 with its offset.",
          }),
        }),
        { description: "None: it runs only when somebody asks for it, or all the time." },
      ),
    },
    { title: "SchedulePreview" },
  ),
  errors: ["invalid_schedule"],
  async guard(_ctx, { body }) {
    const schedule = parseSchedule(body.schedule);
    const own = schedule.type === "cron" ? schedule.cron_timezone : "UTC";
    const timeZone = body.time_zone === undefined ? own : parseTimeZone(body.time_zone);
    return { schedule, timeZone };
  },
  asks: () => false,
  async run({ now }, { body: { count = usualCount } }, { schedule, timeZone }) {
    const next_runs = nextRuns(schedule, now, count).map((at) => ({
      at: at.toISOString(),
      local_time: zonedTime(at, timeZone),
    }));
    return { time_zone: timeZone, next_runs };
  },
});

function nextRuns(schedule: Schedule, now: Date, count: number): Date[] {
  const times: Date[] = [];
  // It has no times: one job begins the next.
  if (schedule.type === "continuous") return times;
  let at: Date | null = now;
  while (times.length < count) {
    at = nextRunAfter(schedule, at);
    if (!at) break;
    times.push(at);
  }
  return times;
}

export const scheduleOperations = [previewSchedule];
