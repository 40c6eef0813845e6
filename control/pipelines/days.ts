/** Moments as the clocks and calendars of a time zone show them. */

const formats = new Map<string, Intl.DateTimeFormat>();
/** Time zones have a few hundred names. */
const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "iso8601",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  formats.set(timeZone, format);
  return format;
};

function partsOf(at: Date, timeZone: string) {
  const parts = formatOf(timeZone).formatToParts(at);
  return (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((part) => part.type === type)?.value ?? "";
}

/** `2026-03-29`: the day that people there have at that moment. */
export function dayOf(at: Date, timeZone: string): string {
  const part = partsOf(at, timeZone);
  return `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
}

/** RFC 3339 with the offset of the time zone at that moment. */
export function zonedTime(at: Date, timeZone: string): string {
  const part = partsOf(at, timeZone);
  // GMT+02:00; GMT alone is none.
  const offset = part("timeZoneName").slice(3).slice(0, 6) || "+00:00";
  return `${dayOf(at, timeZone)}T${part("hour")}:${part("minute")}:${part("second")}${offset}`;
}

/** The day so many days before a day; the calendar alone, whatever clocks do. */
export function daysBefore(day: string, count: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() - count);
  return at.toISOString().slice(0, 10);
}
