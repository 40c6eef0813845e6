/**
 * When a pipeline or an activation runs by itself. After a downtime one job runs; those that were
 * missed are not made up. Nothing overlaps: when the time comes while a job is under way, that time
 * is left out.
 */
import { CronExpressionParser } from "cron-parser";
import { streamLabel } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { type FieldFault, refuseField, refuseFields } from "../contract/reasons.ts";
import { OneOf, StrictObject } from "../contract/schemas.ts";
import type { Schedule } from "../store/tables.ts";
import { isOfLog } from "./modes.ts";
import type { AgreedStream } from "./selection.ts";

const minuteMs = 60_000;
const unitMs = {
  minutes: minuteMs,
  hours: 60 * minuteMs,
  days: 1_440 * minuteMs,
  weeks: 10_080 * minuteMs,
} as const;
const timeUnits = Object.keys(unitMs) as (keyof typeof unitMs)[];

/**
 * Shortest time between two jobs; a job that finds nothing new takes seconds of others' time too.
 */
const minGapMinutes = 5;
const maxDays = 366;

/** Of a request, and of an answer. What belongs to which type is told by {@link parseSchedule}. */
export const ScheduleBody = StrictObject(
  {
    type: OneOf(["manual", "basic", "cron", "continuous"]),
    units: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    time_unit: Type.Optional(OneOf(timeUnits)),
    cron_expression: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "Five fields: minute, hour, day of month, month, day of week.",
      }),
    ),
    cron_timezone: Type.Optional(
      Type.String({ maxLength: 60, description: "IANA name; default UTC." }),
    ),
  },
  {
    title: "Schedule",
    description:
      "manual · basic: units and time_unit · cron: cron_expression and cron_timezone. At most every 5 minutes. · continuous: one job after another, for a pipeline whose streams are all read from a log of changes.",
  },
);

/**
 * @param path where it stands in the body
 * @throws invalid_schedule with the places
 */
export function parseSchedule(body: Static<typeof ScheduleBody>, path = "schedule"): Schedule {
  const faults: FieldFault[] = [];
  const fault = (field: string, message: string) =>
    faults.push({ path: `${path}.${field}`, reason: "invalid_schedule", message });
  const own = fieldsOf[body.type];
  for (const [field, value] of Object.entries(body))
    if (field !== "type" && value !== undefined && !own.includes(field))
      fault(field, `does not go with ${body.type}`);
  const schedule = read(body, fault);
  if (faults.length > 0 || !schedule) throw refuseFields("invalid_schedule", faults);
  return schedule;
}

const fieldsOf: Readonly<Record<Schedule["type"], readonly string[]>> = {
  manual: [],
  continuous: [],
  basic: ["units", "time_unit"],
  cron: ["cron_expression", "cron_timezone"],
};

type NoteFault = (field: string, message: string) => void;

function read(body: Static<typeof ScheduleBody>, fault: NoteFault): Schedule | undefined {
  const { type, units, time_unit, cron_expression, cron_timezone = "UTC" } = body;
  if (type === "manual" || type === "continuous") return { type };
  if (type === "basic") {
    if (units === undefined) fault("units", "is missing");
    if (time_unit === undefined) fault("time_unit", "is missing");
    if (units === undefined || time_unit === undefined) return undefined;
    const gap = (units * unitMs[time_unit]) / minuteMs;
    if (gap < minGapMinutes) fault("units", `must be at least ${minGapMinutes} minutes`);
    if (gap > maxDays * 1_440) fault("units", `must be at most ${maxDays} days`);
    return { type, units, time_unit };
  }
  const isZone = isTimeZone(cron_timezone);
  if (!isZone) fault("cron_timezone", "is not the name of a time zone, like Europe/Berlin");
  if (cron_expression === undefined) fault("cron_expression", "is missing");
  if (cron_expression === undefined || !isZone) return undefined;
  const schedule = {
    type,
    cron_expression: cron_expression.trim().split(/\s+/).join(" "),
    cron_timezone,
  };
  const problem = cronProblem(schedule);
  if (problem !== undefined) fault("cron_expression", problem);
  return schedule;
}

type Cron = Extract<Schedule, { type: "cron" }>;

const parseCron = ({ cron_expression, cron_timezone }: Cron, after: Date) =>
  CronExpressionParser.parse(cron_expression, { tz: cron_timezone, currentDate: after });

/** Any leap year has passed by then. */
const somewhen = new Date("2024-01-01T00:00:00Z");

function cronProblem(cron: Cron): string | undefined {
  const fields = cron.cron_expression.split(" ");
  if (fields.length !== 5) return "must have five fields";
  // H stands for a time by chance: it would be another one with each look.
  if (
    !fields.every(
      (field) => /^[0-9A-Z*,/?#-]+$/i.test(field) && !/h/i.test(field.replaceAll(/thu/gi, "")),
    )
  )
    return "has a field of another form";
  try {
    const expression = parseCron(cron, somewhen);
    expression.next();
    const minutes = expression.fields.minute.values as readonly number[];
    const hours = expression.fields.hour.values as readonly number[];
    return isTooOften(minutes, hours)
      ? `must be at least ${minGapMinutes} minutes apart`
      : undefined;
  } catch {
    return "is not a cron expression, or never comes true";
  }
}

/** Whether two times of one day, or the last and the first of two days, are too close. */
function isTooOften(minutes: readonly number[], hours: readonly number[]): boolean {
  const gaps = minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0));
  const isNextHourToo = hours.some((hour) => hours.includes((hour + 1) % 24));
  const overTheHour = 60 - (minutes.at(-1) ?? 0) + (minutes[0] ?? 0);
  return gaps.some((gap) => gap < minGapMinutes) || (isNextHourToo && overTheHour < minGapMinutes);
}

/** @throws invalid_schedule when nothing is called so */
export function parseTimeZone(name: string, path = "time_zone"): string {
  if (!isTimeZone(name))
    throw refuseField(
      "invalid_schedule",
      path,
      "is not the name of a time zone, like Europe/Berlin",
    );
  return name;
}

export function isTimeZone(name: string): boolean {
  // Offsets are accepted by the platform, and have no summer.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Continuous is for streams that are read from a log of changes: a job that waits for changes reads
 * all others over and over.
 * @throws invalid_schedule naming one that is not
 */
export function requireFollowed(schedule: Schedule, agreed: readonly AgreedStream[]): void {
  if (schedule.type !== "continuous") return;
  const other = agreed.find((one) => !isOfLog(one));
  if (other)
    throw refuseField(
      "invalid_schedule",
      "schedule.type",
      `does not go with ${streamLabel(other.stream)}: continuous needs streams that are read incrementally from a log of changes`,
    );
}

/**
 * The first time after `after` at which the schedule wants a job; null: never.
 * @param due the time at which the last one was wanted: `basic` keeps its beat, however late that
 * one came. Default `after`. A continuous one that was not wanted before is wanted at once; each
 * job begins the next one itself, so that a time that comes finds one under way, unless one has
 * failed
 */
export function nextRunAfter(schedule: Schedule, after: Date, wanted?: Date): Date | null {
  if (schedule.type === "manual") return null;
  if (schedule.type === "continuous")
    return wanted ? new Date(after.getTime() + minGapMinutes * minuteMs) : after;
  const due = wanted ?? after;
  if (schedule.type === "cron") return parseCron(schedule, after).next().toDate();
  const gap = schedule.units * unitMs[schedule.time_unit];
  const passed = Math.max(0, Math.floor((after.getTime() - due.getTime()) / gap));
  return new Date(due.getTime() + (passed + 1) * gap);
}
