/**
 * The string formats that a record's values are checked for. They accept what ajv-formats accepts
 * in full mode, except that a date and a time are parted by T or one space only; written out here
 * because the worker loads this file at every start.
 */

/** A condition on a string. `isPlain`: a string that passes never needs escaping in JSON. */
export interface TextTest {
  readonly isPlain: boolean;
  accepts(text: string): boolean;
}

const zero = 48;
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The two-digit number at `at`, or -1. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

/** full-date of RFC 3339 in the first ten characters. */
function startsWithDate(text: string): boolean {
  const century = twoDigits(text, 0);
  const yearOfCentury = twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (century < 0 || yearOfCentury < 0 || month < 1 || month > 12 || day < 1) return false;
  if (text[4] !== "-" || text[7] !== "-") return false;
  if (day <= 28) return true;
  if (month !== 2) return day <= (daysOfMonth[month - 1] ?? 0);
  const isLeapYear = yearOfCentury % 4 === 0 && (yearOfCentury !== 0 || century % 4 === 0);
  return isLeapYear && day === 29;
}

/** full-time of RFC 3339 from `start` to the end of the text; `±hh` and `±hhmm` are offsets too. */
function endsWithTime(text: string, start: number, isOffsetNeeded: boolean): boolean {
  const hour = twoDigits(text, start);
  const minute = twoDigits(text, start + 3);
  const second = twoDigits(text, start + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  if (text[start + 2] !== ":" || text[start + 5] !== ":") return false;
  let at = start + 8;
  if (text[at] === ".") {
    const fraction = ++at;
    while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= zero + 9) at++;
    if (at === fraction) return false;
  }
  if (at === text.length) return !isOffsetNeeded && second < 60;
  const sign = text[at];
  if (sign === "Z" || sign === "z") {
    return at + 1 === text.length && (second < 60 || (hour === 23 && minute === 59));
  }
  if (sign !== "+" && sign !== "-") return false;
  const offsetHours = twoDigits(text, at + 1);
  at += 3;
  let offsetMinutes = 0;
  if (at !== text.length) {
    if (text[at] === ":") at++;
    offsetMinutes = twoDigits(text, at);
    at += 2;
  }
  if (
    at !== text.length ||
    offsetHours < 0 ||
    offsetHours > 23 ||
    offsetMinutes < 0 ||
    offsetMinutes > 59
  )
    return false;
  if (second < 60) return true;
  // A leap second is the last of a UTC day.
  const direction = sign === "-" ? -1 : 1;
  const utc = hour * 60 + minute - direction * (offsetHours * 60 + offsetMinutes);
  return (utc + 1440) % 1440 === 1439;
}

function isDateTime(text: string, isOffsetNeeded: boolean): boolean {
  const separator = text[10];
  return (
    (separator === "T" || separator === "t" || separator === " ") &&
    startsWithDate(text) &&
    endsWithTime(text, 11, isOffsetNeeded)
  );
}

/** RFC 4291 text form, without a zone. */
function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const isMixed = last.includes(".") && !text.endsWith("::");
  if (isMixed && !ipv4.test(last)) return false;
  const hex = isMixed ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const groupCount = hex.length + (isMixed ? 2 : 0);
  return halves.length === 2 ? groupCount <= 7 : groupCount === 8;
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

// RFC 3986 appendix A. An IP literal in brackets is taken out before the expression is applied.
const pathCharacter = "(?:[a-z0-9\\-._~!$&'()*+,;=:@]|%[0-9a-f]{2})";
const authority =
  "(?:(?:[a-z0-9\\-._~!$&'()*+,;=:]|%[0-9a-f]{2})*@)?(?:[a-z0-9\\-._~!$&'()*+,;=]|%[0-9a-f]{2})*(?::\\d*)?";
const absolutePath = `/(?:${pathCharacter}+(?:/${pathCharacter}*)*)?`;
const rootlessPath = `${pathCharacter}+(?:/${pathCharacter}*)*`;
const ending = `(?:\\?(?:${pathCharacter}|[/?])*)?(?:#(?:${pathCharacter}|[/?])*)?`;
const hierarchy = `(?://${authority}(?:/${pathCharacter}*)*|${absolutePath}|${rootlessPath})`;
const uri = new RegExp(`^[a-z][a-z0-9+\\-.]*:${hierarchy}${ending}$`, "i");
const uriReference = new RegExp(`^(?:[a-z][a-z0-9+\\-.]*:)?${hierarchy}?${ending}$`, "i");

const afterHost = new RegExp(`^(?::\\d*)?(?:/${pathCharacter}*)*${ending}$`, "i");

function isUri(text: string, form: RegExp): boolean {
  const literal = /^((?:[a-z][a-z0-9+\-.]*:)?\/\/(?:[^/?#@]*@)?)\[([^\]]*)\]/i.exec(text);
  if (literal === null) return form.test(text);
  const rest = text.slice(literal[0].length);
  return isIpv6(literal[2] ?? "") && afterHost.test(rest) && form.test(`${literal[1]}host${rest}`);
}

const mailAtom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";

const byForm = (form: RegExp): TextTest => ({ isPlain: false, accepts: (text) => form.test(text) });
const plain = (accepts: (text: string) => boolean): TextTest => ({ isPlain: true, accepts });

/** The formats that are checked. Any other is an annotation, as JSON Schema has it. */
export const textFormats: ReadonlyMap<string, TextTest> = new Map([
  ["date-time", plain((text) => isDateTime(text, true))],
  ["date", plain((text) => text.length === 10 && startsWithDate(text))],
  ["time", plain((text) => endsWithTime(text, 0, true))],
  [
    "uuid",
    plain((text) => /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)),
  ],
  ["duration", byForm(/^P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)$/)],
  ["email", byForm(new RegExp(`^${mailAtom}(?:\\.${mailAtom})*@(?:${label}\\.)+${label}$`, "i"))],
  [
    "hostname",
    byForm(
      /^(?=.{1,253}\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-0-9a-z]{0,61}[0-9a-z])?)*\.?$/i,
    ),
  ],
  ["ipv4", byForm(ipv4)],
  ["ipv6", { isPlain: false, accepts: isIpv6 }],
  ["uri", { isPlain: false, accepts: (text: string) => isUri(text, uri) }],
  ["uri-reference", { isPlain: false, accepts: (text: string) => isUri(text, uriReference) }],
  ["json-pointer", byForm(/^(?:\/(?:[^~/]|~0|~1)*)*$/)],
]);

/**
 * The same without an offset: what Airbyte's `airbyte_type` "…_without_timezone" means.
 * @see Airbyte's reference of data types
 */
export const localFormats: ReadonlyMap<string, TextTest> = new Map([
  ["date-time", plain((text) => isDateTime(text, false))],
  ["time", plain((text) => endsWithTime(text, 0, false))],
]);
