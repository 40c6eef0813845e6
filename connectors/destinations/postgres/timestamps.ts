/**
 * RFC 3339 texts as PostgreSQL reads them in a session with time zone UTC.
 * @see https://www.rfc-editor.org/rfc/rfc3339#section-5.6
 */

const zero = 48;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A date-time; one without an offset is UTC. Undefined when it is none. */
export function toTimestamptz(text: string): string | undefined {
  const offset = readDateTime(text);
  if (offset === undefined) return undefined;
  // PostgreSQL takes offsets below 16 hours; RFC 3339 all below 24.
  return Math.abs(offset) < 960 ? withEra(text) : toUtc(text, offset, "Z");
}

/** A date-time; one with an offset is turned into UTC. Undefined when it is none. */
export function toTimestamp(text: string): string | undefined {
  const offset = readDateTime(text);
  if (offset === undefined) return undefined;
  if (offset !== 0) return toUtc(text, offset, "");
  return withEra(text.slice(0, timeEnd(text)));
}

/** A full-date. Undefined when it is none. */
export function toDate(text: string): string | undefined {
  return text.length === 10 && startsWithDate(text) ? withEra(text) : undefined;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

function startsWithDate(text: string): boolean {
  const century = twoDigits(text, 0);
  const yearOfCentury = twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12 || day < 1) return false;
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return false;
  if (day <= 28) return true;
  if (month !== 2) return day <= (daysOfMonth[month - 1] ?? 0);
  return day === 29 && yearOfCentury % 4 === 0 && (yearOfCentury !== 0 || century % 4 === 0);
}

/** Minutes east of UTC, 0 when it does not say; undefined when the text is no date-time. */
function readDateTime(text: string): number | undefined {
  if (!startsWithDate(text)) return undefined;
  const separator = text.charCodeAt(10);
  if (separator !== 84 && separator !== 116 && separator !== 32) return undefined;
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return undefined;
  if (text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58) return undefined;
  const end = timeEnd(text);
  if (end === 20) return undefined; // a point without digits
  if (end === text.length) return 0;
  const sign = text.charCodeAt(end);
  if (sign === 90 || sign === 122) return end + 1 === text.length ? 0 : undefined;
  if (sign !== 43 && sign !== 45) return undefined;
  const hours = twoDigits(text, end + 1);
  const hasMinutes = text.length > end + 3;
  const minutesAt = text.charCodeAt(end + 3) === 58 ? end + 4 : end + 3;
  const minutes = hasMinutes ? twoDigits(text, minutesAt) : 0;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  if (text.length !== (hasMinutes ? minutesAt + 2 : end + 3)) return undefined;
  return (hours * 60 + minutes) * (sign === 45 ? -1 : 1);
}

/** Where seconds and their fraction end. */
function timeEnd(text: string): number {
  if (text.charCodeAt(19) !== 46) return 19;
  let at = 20;
  while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= zero + 9) at++;
  return at;
}

/** PostgreSQL knows no year 0: it is the first one before Christ. */
function withEra(text: string): string {
  return text.charCodeAt(0) === zero && text.startsWith("0000") ? `0001${text.slice(4)} BC` : text;
}

/** Moves the clock by the offset and keeps the digits of the fraction. */
function toUtc(text: string, offset: number, ending: string): string | undefined {
  const second = twoDigits(text, 17);
  const date = new Date(`${text.slice(0, 10)}T${text.slice(11, 17)}00Z`);
  date.setUTCMinutes(date.getUTCMinutes() - offset);
  const moved = date.toISOString();
  if (moved.length !== 24) return undefined; // before year 0 or behind 9999
  return withEra(
    `${moved.slice(0, 17)}${String(second).padStart(2, "0")}${text.slice(19, timeEnd(text))}${ending}`,
  );
}
