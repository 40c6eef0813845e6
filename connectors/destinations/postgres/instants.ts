const zero = 0x30;

/**
 * Microseconds since 1970 of a date-time in the usual form, up to six decimals of a second, from
 * the year 1 on; exact, below 2^53 until the year 2255. Undefined: the text has to be read by others.
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
