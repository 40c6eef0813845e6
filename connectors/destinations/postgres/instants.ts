/** Texts of dates and times as numbers, and the texts of those that JSON cannot say. */
import { endlessDay, endlessInstant } from "svc-connectors/destination";

const zero = 0x30;

/**
 * Microseconds since 1970 of a date-time in the usual form, up to six decimals of a second, from
 * the year 1 on; exact, below 2^53 until the year 2255. Undefined: the text has to be read by
 * others.
 * @param isInstant whether the offset counts; where it does not, a text must have none
 */
export function instantOf(
  bytes: Uint8Array,
  from: number,
  end: number,
  isInstant: boolean,
): number | undefined {
  const year = digits(bytes, from, 4);
  const month = digits(bytes, from + 5, 2);
  const day = digits(bytes, from + 8, 2);
  const hour = digits(bytes, from + 11, 2);
  const minute = digits(bytes, from + 14, 2);
  const second = digits(bytes, from + 17, 2);
  const separator = bytes[from + 10];
  const isForm =
    end - from >= 19 &&
    bytes[from + 4] === 0x2d &&
    bytes[from + 7] === 0x2d &&
    (separator === 0x54 || separator === 0x20) &&
    bytes[from + 13] === 0x3a &&
    bytes[from + 16] === 0x3a;
  // -1 is no digits.
  if (!isForm || year < 1 || month < 1 || day < 1 || hour < 0 || minute < 0 || second < 0)
    return undefined;
  if (month > 12 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 59)
    return undefined;
  let at = from + 19;
  let us = 0;
  if (bytes[at] === 0x2e) {
    let unit = 1e6;
    for (at++; at < end && isDigit(bytes[at]); at++) {
      unit /= 10;
      us += ((bytes[at] as number) - zero) * unit;
    }
    if (unit < 1 || unit === 1e6) return undefined;
  }
  const offset = offsetMinutes(bytes, at, end);
  if (offset === undefined || (!isInstant && offset !== 0)) return undefined;
  const seconds = (daysSince1970(year, month, day) * 24 + hour) * 3600 + (minute - offset) * 60;
  const instant = (seconds + second) * 1e6 + us;
  return Number.isSafeInteger(instant) ? instant : undefined;
}

const isDigit = (byte: number | undefined) =>
  byte !== undefined && byte >= zero && byte <= zero + 9;

function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = (bytes[at] as number) - zero;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** None is UTC; undefined when it is neither `Z` nor `±hh:mm` of less than 16 hours. */
function offsetMinutes(bytes: Uint8Array, at: number, end: number): number | undefined {
  if (at === end) return 0;
  const sign = bytes[at];
  if (sign === 0x5a) return at + 1 === end ? 0 : undefined;
  if ((sign !== 0x2b && sign !== 0x2d) || end - at !== 6 || bytes[at + 3] !== 0x3a)
    return undefined;
  const hours = digits(bytes, at + 1, 2);
  const minutes = digits(bytes, at + 4, 2);
  if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (sign === 0x2d ? -1 : 1);
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const daysOf = (year: number, month: number) =>
  month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
    ? 29
    : (monthDays[month - 1] as number);

/** @see "chrono-Compatible Low-Level Date Algorithms", Howard Hinnant, days_from_civil */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

const dateForm = /^(\d{4,7})-(\d\d)-(\d\d)( BC)?$/;

/** Days since 1970 of a date, `0044-03-15 BC` and infinity included; undefined when it is none. */
export function dayOfText(text: string): number | undefined {
  if (text === "infinity") return endlessDay;
  if (text === "-infinity") return -endlessDay;
  const [, year, month = "", day = "", era] = dateForm.exec(text) ?? [];
  if (year === undefined) return undefined;
  const signed = era ? 1 - Number(year) : Number(year);
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return undefined;
  return Number(day) > daysOf(signed, Number(month)) || signed > 5_874_897 || signed < -4_712
    ? undefined
    : daysSince1970(signed, Number(month), Number(day));
}

const timeForm = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/;

/** Microseconds since midnight, 24:00 included; undefined when it is no time. */
export function timeOfText(text: string): number | undefined {
  const [, hour, minute, second = "0", fraction = ""] = timeForm.exec(text) ?? [];
  const us =
    (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1e6 +
    Number(fraction.padEnd(6, "0"));
  return Number(minute) > 59 || Number(second) > 59 || !(us <= 86_400e6) ? undefined : us;
}

const instantForm =
  /^(\d{4,7})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?( BC)?$/;
const epoch2000 = 946_684_800_000_000n;
const lastInstant = 9_223_371_331_200_000_000n;

/**
 * Microseconds since 2000 of a date-time in one of the rarer forms: leap seconds, decimals beyond
 * microseconds (rounded as PostgreSQL does), years before Christ and beyond 9999, infinity.
 * Undefined when it is none, or beyond what PostgreSQL holds.
 */
export function rareInstantOf(text: string): bigint | undefined {
  if (text === "infinity") return endlessInstant;
  if (text === "-infinity") return -endlessInstant - 1n;
  const found = instantForm.exec(text);
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second, fraction = ""] = found;
  const [sign, hours = "0", minutes = "0", era] = found.slice(9);
  const date = dayOfText(`${year}-${month}-${day}${era ?? ""}`);
  if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60)
    return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  const seconds = BigInt(date) * 86_400n + BigInt(timeSeconds(hour, minute, second) - offset * 60);
  const decimals = Math.round(Number(`0.${fraction || "0"}`) * 1e6);
  const us = seconds * 1_000_000n + BigInt(decimals) - epoch2000;
  return us < lastInstant && us >= -211_813_488_000_000_000n ? us : undefined;
}

const timeSeconds = (hour = "", minute = "", second = "") =>
  Number(hour) * 3600 + Number(minute) * 60 + Number(second);

/** A date before the year 1, beyond 9999 or without end, as PostgreSQL writes it. */
export function rareDateText(day: number): string {
  if (Math.abs(day) === endlessDay) return day > 0 ? "infinity" : "-infinity";
  // 146,097 days are 400 years: moved into the calendar that Date has, and back.
  const cycles = Math.floor(day / 146_097);
  const [year = "", month, date] = new Date((day - cycles * 146_097) * 86_400_000)
    .toISOString()
    .slice(0, 10)
    .split("-");
  const signed = Number(year) + cycles * 400;
  const shown = String(signed > 0 ? signed : 1 - signed).padStart(4, "0");
  return `${shown}-${month}-${date}${signed > 0 ? "" : " BC"}`;
}

/** An instant likewise. */
export function rareInstantText(us: bigint, isInstant: boolean): string {
  if (us === endlessInstant || us === -endlessInstant) return us > 0n ? "infinity" : "-infinity";
  const dayUs = 86_400_000_000n;
  const time = ((us % dayUs) + dayUs) % dayUs;
  const date = rareDateText(Number((us - time) / dayUs));
  const clock = new Date(Number(time / 1_000n)).toISOString().slice(11, 19);
  const fraction = String(time % 1_000_000n).padStart(6, "0");
  const [day, era = ""] = date.split(/(?= BC)/);
  return `${day}T${clock}.${fraction}${isInstant ? "Z" : ""}${era}`;
}
