/**
 * Points and lengths of time as expressions have them: Python's datetime, date and timedelta, with
 * microseconds, and durations of months besides.
 */

/** Microseconds since 1970, and the offset of the zone in which it is written. */
export class Moment {
  readonly micros: bigint;
  readonly offsetMinutes: number;
  /** A date has no time of day. */
  readonly isDate: boolean;
  constructor(micros: bigint, offsetMinutes = 0, isDate = false) {
    this.micros = micros;
    this.offsetMinutes = offsetMinutes;
    this.isDate = isDate;
  }
}

/** A length of time: months are as long as they are where it is added. */
export class Span {
  readonly micros: bigint;
  readonly months: number;
  constructor(micros: bigint, months = 0) {
    this.micros = micros;
    this.months = months;
  }
}

export const second = 1_000_000n;
export const minute = 60n * second;
export const hour = 60n * minute;
export const day = 24n * hour;

/** The calendar: year 1 to year 9999, as Python's. */
const first = -62_135_596_800n * second;
const last = 253_402_300_800n * second - 1n;

/** @returns undefined for what is beyond the calendar */
export function toMoment(micros: bigint, offsetMinutes = 0, isDate = false): Moment | undefined {
  return micros < first || micros > last ? undefined : new Moment(micros, offsetMinutes, isDate);
}

/** The parts of a moment on the clock of its own zone. */
export interface ClockParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micro: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly dayOfYear: number;
}

export function partsOf({ micros, offsetMinutes }: Moment): ClockParts {
  const local = micros + BigInt(offsetMinutes) * minute;
  const micro = ((local % second) + second) % second;
  const date = new Date(Number((local - micro) / 1000n));
  const year = date.getUTCFullYear();
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    micro: Number(micro),
    weekday: date.getUTCDay(),
    dayOfYear: Math.floor((date.getTime() - utc(year, 1, 1)) / 86_400_000) + 1,
  };
}

/** Milliseconds of a day; years under 100 are these. */
function utc(year: number, month: number, dayOfMonth: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, dayOfMonth);
  return date.getTime();
}

/** @returns undefined when there is no such day or time */
export function fromParts(
  parts: Omit<ClockParts, "weekday" | "dayOfYear">,
  offsetMinutes = 0,
): Moment | undefined {
  const { year, month, hour: hours, minute: minutes, second: seconds, micro } = parts;
  const ms = utc(year, month, parts.day);
  const back = new Date(ms);
  const isDay = back.getUTCMonth() + 1 === month && back.getUTCDate() === parts.day;
  if (!isDay || year < 1 || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const time = BigInt(hours) * hour + BigInt(minutes) * minute + BigInt(seconds) * second;
  const local = BigInt(ms) * 1000n + time + BigInt(micro);
  return toMoment(local - BigInt(offsetMinutes) * minute, offsetMinutes);
}

/** Months first, on the last day of a shorter month; then the rest. */
export function addSpan(moment: Moment, span: Span, sign: 1 | -1): Moment | undefined {
  let from: Moment | undefined = moment;
  if (span.months !== 0) {
    const parts = partsOf(moment);
    const months = parts.year * 12 + parts.month - 1 + sign * span.months;
    const [year, month] = [Math.floor(months / 12), (((months % 12) + 12) % 12) + 1];
    const lastDay = new Date(utc(year, month + 1, 0)).getUTCDate();
    from = fromParts(
      { ...parts, year, month, day: Math.min(parts.day, lastDay) },
      moment.offsetMinutes,
    );
  }
  return (
    from && toMoment(from.micros + BigInt(sign) * span.micros, moment.offsetMinutes, moment.isDate)
  );
}

const isoDuration =
  /^([+-])?P(?!$)(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?!$)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** An ISO 8601 duration. @returns undefined when it is none */
export function parseSpan(text: string): Span | undefined {
  const found = isoDuration.exec(text);
  if (!found || text.length > 100) return undefined;
  const [, sign, ...numbers] = found;
  const [years, months, weeks, days, hours, minutes, seconds] = numbers.map((one) =>
    Number(one ?? 0),
  ) as [number, number, number, number, number, number, number];
  const total = ((weeks * 7 + days) * 86_400 + hours * 3600 + minutes * 60 + seconds) * 1_000_000;
  const allMonths = years * 12 + months;
  if (!Number.isInteger(allMonths) || allMonths > 200_000 || total > 1e18) return undefined;
  const factor = sign === "-" ? -1 : 1;
  return new Span(BigInt(Math.round(total) * factor), allMonths * factor);
}
