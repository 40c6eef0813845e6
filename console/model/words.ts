/** The console's words for the API's, and its forms of numbers and times. */

import { serverNowMs } from "../api/clock.ts";
import type { schemas } from "../api/schema.ts";

type Schedule = schemas["Schedule"];

const numbers = new Intl.NumberFormat("en");
export const count = (value: number): string => numbers.format(value);

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** A large number in few letters; one that is soon read stays as it is. */
export const short = (value: number): string =>
  value < 100_000 ? count(value) : compact.format(value);

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let rest = value;
  let unit = 0;
  while (rest >= 1_000 && unit < units.length - 1) {
    rest /= 1_000;
    unit += 1;
  }
  return `${rest >= 100 || unit === 0 ? Math.round(rest) : rest.toFixed(1)} ${units[unit]}`;
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const steps = [
  [60, "second", 1],
  [3_600, "minute", 60],
  [86_400, "hour", 3_600],
  [2_592_000, "day", 86_400],
  [31_536_000, "month", 2_592_000],
] as const;

/**
 * "3 minutes ago", "in 2 hours".
 * @param isPast it has happened: whichever clock of a server is ahead, it is not to come
 */
export function ago(at: string, nowMs: number = serverNowMs(), isPast = false): string {
  const aheadMs = Date.parse(at) - nowMs;
  const seconds = Math.round((isPast ? Math.min(0, aheadMs) : aheadMs) / 1_000);
  const size = Math.abs(seconds);
  if (size < 10) return "just now";
  const [, unit, length] = steps.find(([below]) => size < below) ?? [0, "year", 31_536_000];
  return relative.format(Math.round(seconds / length), unit as Intl.RelativeTimeFormatUnit);
}

const full = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});
export const moment = (at: string): string => full.format(new Date(at));

export function lasted(from: string, to: string | null, nowMs: number = serverNowMs()): string {
  const endMs = to === null ? nowMs : Date.parse(to);
  const seconds = Math.max(0, Math.round((endMs - Date.parse(from)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** "full_refresh" → "Full refresh". */
export const spoken = (word: string): string => {
  const text = word.replaceAll("_", " ").replace(/\betl\b/, "ETL");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** A message in a list: its beginning says enough. */
export const clipped = (text: string, most = 300): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** The kind of a job, in words. */
export const jobWords = ({
  kind,
  job_type: type,
}: Pick<schemas["Job"], "kind" | "job_type">): string => spoken(kind === "sync" ? type : kind);

/** A schedule as one would say it. */
export function scheduleWords(schedule: Schedule): string {
  const { type, units = 1, time_unit: unit = "hours" } = schedule;
  if (type === "manual") return "By hand";
  if (type === "continuous") return "Continuously";
  if (type === "basic")
    return units === 1 ? `Every ${unit.slice(0, -1)}` : `Every ${units} ${unit}`;
  const { cron_expression: cron = "", cron_timezone: zone = "UTC" } = schedule;
  const daily = dailyTime(cron);
  return `${daily === undefined ? `Cron ${cron}` : `Each day at ${daily}`}, ${zone}`;
}

/** The time of a cron expression that means every day; undefined: it means something else. */
export function dailyTime(cron: string): string | undefined {
  const [minute, hour, ...rest] = cron.trim().split(/\s+/);
  if (
    rest.join(" ") !== "* * *" ||
    !/^\d{1,2}$/.test(minute ?? "") ||
    !/^\d{1,2}$/.test(hour ?? "")
  )
    return undefined;
  return `${(hour ?? "").padStart(2, "0")}:${(minute ?? "").padStart(2, "0")}`;
}

/** Where a thing's status stands, for its colour: never by colour alone. */
export const colorOf: Readonly<Record<string, string>> = {
  succeeded: "teal",
  synced: "teal",
  active: "teal",
  complete: "teal",
  running: "indigo",
  queued: "gray",
  pending: "gray",
  incomplete: "orange",
  paused: "yellow",
  failed: "red",
  error: "red",
  cancelled: "gray",
  approved: "indigo",
  executing: "indigo",
  executed: "teal",
  rejected: "red",
  success: "teal",
  failure: "red",
  denied: "red",
  warning: "orange",
  interrupted: "orange",
  skipped: "gray",
  querying: "indigo",
  processing: "indigo",
  reporting: "indigo",
  needs_reauth: "red",
  expired: "red",
  enabled: "teal",
  disabled: "yellow",
  revoked: "gray",
};
