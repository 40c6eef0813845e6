/** Days as "2026-05-31". They have no time zone; which day it is somewhere has. */
const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The day at this moment (ms) in an IANA time zone.
 * @throws RangeError when there is no such zone
 */
export function dayIn(timeZone: string, ms: number): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  formats.set(timeZone, format);
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`;
}

export const isTimeZone = (name: string) => {
  try {
    return dayIn(name, 0) !== "";
  } catch {
    return false;
  }
};

export const shiftDay = (day: string, count: number) =>
  new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10);
