/** Dates as texts: Python's format codes, the manifest's own ones, and ISO 8601. */
import {
  type ClockParts,
  fromParts,
  hour,
  Moment,
  minute,
  partsOf,
  second,
  toMoment,
} from "./moment.ts";

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months =
  "January February March April May June July August September October November December".split(
    " ",
  );
const pad = (value: number, length = 2) => String(value).padStart(length, "0");
const hour12 = ({ hour: hours }: ClockParts) => hours % 12 || 12;
const short = (name = "") => name.slice(0, 3);

/**
 * Writes a moment, by format code.
 * @see https://docs.python.org/3/library/datetime.html#format-codes
 */
const written: Readonly<Record<string, (parts: ClockParts, moment: Moment) => string>> = {
  Y: ({ year }) => pad(year, 4),
  y: ({ year }) => pad(year % 100),
  m: ({ month }) => pad(month),
  d: (parts) => pad(parts.day),
  e: (parts) => String(parts.day).padStart(2),
  H: (parts) => pad(parts.hour),
  I: (parts) => pad(hour12(parts)),
  M: (parts) => pad(parts.minute),
  S: (parts) => pad(parts.second),
  f: ({ micro }) => pad(micro, 6),
  p: (parts) => (parts.hour < 12 ? "AM" : "PM"),
  a: ({ weekday }) => short(weekdays[weekday]),
  A: ({ weekday }) => weekdays[weekday] ?? "",
  b: ({ month }) => short(months[month - 1]),
  B: ({ month }) => months[month - 1] ?? "",
  j: ({ dayOfYear }) => pad(dayOfYear, 3),
  w: ({ weekday }) => String(weekday),
  u: ({ weekday }) => String(weekday || 7),
  z: (_, { offsetMinutes, isDate }) => (isDate ? "" : zoneText(offsetMinutes, "")),
  Z: (_, { offsetMinutes, isDate }) => {
    if (isDate) return "";
    return offsetMinutes === 0 ? "UTC" : `UTC${zoneText(offsetMinutes, ":")}`;
  },
  h: ({ month }) => short(months[month - 1]),
  C: ({ year }) => pad(Math.floor(year / 100)),
  G: (_, moment) => pad(weekOf(moment).year, 4),
  g: (_, moment) => pad(weekOf(moment).year % 100),
  V: (_, moment) => pad(weekOf(moment).week),
  U: ({ dayOfYear, weekday }) => pad(Math.floor((dayOfYear + 6 - weekday) / 7)),
  W: ({ dayOfYear, weekday }) => pad(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7)),
  c: (parts) =>
    `${short(weekdays[parts.weekday])} ${short(months[parts.month - 1])} ${String(parts.day).padStart(2)} ${clock(parts)} ${parts.year}`,
  x: (parts) => `${pad(parts.month)}/${pad(parts.day)}/${pad(parts.year % 100)}`,
  X: (parts) => clock(parts),
  k: (parts) => String(parts.hour).padStart(2),
  l: (parts) => String(hour12(parts)).padStart(2),
  n: () => "\n",
  t: () => "\t",
  F: (parts) => `${pad(parts.year, 4)}-${pad(parts.month)}-${pad(parts.day)}`,
  T: (parts) => clock(parts),
  D: (parts) => `${pad(parts.month)}/${pad(parts.day)}/${pad(parts.year % 100)}`,
  R: (parts) => `${pad(parts.hour)}:${pad(parts.minute)}`,
  s: (_, { micros }) => String(micros / second),
  "-d": (parts) => String(parts.day),
  "-m": ({ month }) => String(month),
  "-H": (parts) => String(parts.hour),
  "-I": (parts) => String(hour12(parts)),
  "-M": (parts) => String(parts.minute),
  "-S": (parts) => String(parts.second),
  "-j": ({ dayOfYear }) => String(dayOfYear),
  _d: (parts) => String(parts.day).padStart(2),
  _m: (parts) => String(parts.month).padStart(2),
  _H: (parts) => String(parts.hour).padStart(2),
  _I: (parts) => String(hour12(parts)).padStart(2),
  _M: (parts) => String(parts.minute).padStart(2),
  _S: (parts) => String(parts.second).padStart(2),
  "%": () => "%",
};

const clock = (parts: ClockParts) => `${pad(parts.hour)}:${pad(parts.minute)}:${pad(parts.second)}`;

/** The week of ISO 8601, and the year of which it is one. */
export function weekOf(moment: Moment): { year: number; week: number; weekday: number } {
  const { year, weekday, dayOfYear } = partsOf(moment);
  const own = weekday || 7;
  const week = Math.floor((dayOfYear - own + 10) / 7);
  if (week === 0) return { year: year - 1, week: weeksIn(year - 1), weekday: own };
  if (week > weeksIn(year)) return { year: year + 1, week: 1, weekday: own };
  return { year, week, weekday: own };
}
function weeksIn(year: number): number {
  const before = (one: number) =>
    (one + Math.floor(one / 4) - Math.floor(one / 100) + Math.floor(one / 400)) % 7;
  return before(year) === 4 || before(year - 1) === 3 ? 53 : 52;
}

const codes = /%([-_]?[A-Za-z%])/g;

/** Writes a moment as Python's own `strftime`, which knows no format that is the manifest's. */
export function stampMoment(moment: Moment, format: string): string | undefined {
  const all = [...format.matchAll(/%(.?.?)/g)];
  if (format.length > 200 || all.length === 0) return format.length > 200 ? undefined : format;
  let isKnown = true;
  const parts = partsOf(moment);
  const made = format.replace(/%([-_]?[A-Za-z%])|%/g, (_, code: string | undefined) => {
    const write = code !== undefined && Object.hasOwn(written, code) ? written[code] : undefined;
    if (!write) isKnown = false;
    return write?.(parts, moment) ?? "";
  });
  return isKnown ? made : undefined;
}

/** True when every code of a format is known. */
export const isFormat = (format: string): boolean =>
  format.length <= 200 &&
  (wholeFormats.has(format) ||
    [...format.replaceAll("%_ms", "%f").matchAll(codes)].every(([, code = ""]) =>
      Object.hasOwn(written, code),
    ));

/** Formats of the manifest's own: the whole text is a number. */
const wholeFormats = new Set(["%s", "%s_as_float", "%ms", "%epoch_microseconds"]);

/** A moment in a format of the manifest. */
export function formatMoment(moment: Moment, format: string): string {
  const { micros } = moment;
  if (format === "%s") return String(micros / second);
  if (format === "%ms") return String(micros / 1000n);
  if (format === "%epoch_microseconds") return String(micros);
  if (format === "%s_as_float") {
    const text = String(Number(micros) / 1_000_000);
    return text.includes(".") ? text : `${text}.0`;
  }
  const parts = partsOf(moment);
  return format
    .replaceAll("%_ms", () => pad(Math.floor(parts.micro / 1000), 3))
    .replace(codes, (whole, code: string) => written[code]?.(parts, moment) ?? whole);
}

/** The pattern of each format code, and the part that it means. */
const read: Readonly<Record<string, string>> = {
  Y: "(?<Y>\\d{4})",
  y: "(?<y>\\d{2})",
  m: "(?<m>1[0-2]|0[1-9]|[1-9])",
  d: "(?<d>3[01]|[12]\\d|0[1-9]|[1-9]| [1-9])",
  H: "(?<H>2[0-3]|[01]\\d|\\d)",
  I: "(?<I>1[0-2]|0[1-9]|[1-9])",
  M: "(?<M>[0-5]\\d|\\d)",
  S: "(?<S>6[01]|[0-5]\\d|\\d)",
  f: "(?<f>\\d{1,6})",
  p: "(?<p>am|pm)",
  j: "(?<j>36[0-6]|3[0-5]\\d|[12]\\d{2}|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9])",
  z: "(?<z>[+-]\\d\\d:?[0-5]\\d(?::?[0-5]\\d)?|Z)",
  Z: "(?:utc|gmt|)",
  a: `(?:${weekdays.map(short).join("|")})`,
  A: `(?:${weekdays.join("|")})`,
  b: `(?<b>${months.map(short).join("|")})`,
  B: `(?<B>${months.join("|")})`,
  "%": "%",
};
const patterns = new Map<string, RegExp | undefined>();

/** A text in a format of the manifest. @returns undefined when it is not in that format */
export function parseMoment(text: string, format: string): Moment | undefined {
  if (text.length > 200) return undefined;
  if (wholeFormats.has(format)) return parseNumber(text, format);
  if (!patterns.has(format)) patterns.set(format, patternOf(format));
  const found = patterns.get(format)?.exec(text)?.groups;
  if (!found) return undefined;
  const { Y, y, m, d, H, I, M, S, f, p, j, z, b, B } = found;
  const name = (b ?? B)?.toLowerCase();
  const named =
    name === undefined ? -1 : months.findIndex((one) => one.toLowerCase().startsWith(name));
  const year =
    Y !== undefined
      ? Number(Y)
      : y !== undefined
        ? Number(y) + (Number(y) < 69 ? 2000 : 1900)
        : 1900;
  const hours =
    H !== undefined
      ? Number(H)
      : I === undefined
        ? 0
        : (Number(I) % 12) + (p?.toLowerCase() === "pm" ? 12 : 0);
  const moment = fromParts(
    {
      year,
      month: m !== undefined ? Number(m) : named >= 0 ? named + 1 : 1,
      day: d === undefined ? 1 : Number(d),
      hour: hours,
      minute: Number(M ?? 0),
      second: Number(S ?? 0),
      micro: Number((f ?? "").padEnd(6, "0")),
    },
    zoneMinutes(z),
  );
  if (!moment || j === undefined || m !== undefined || named >= 0) return moment;
  return toMoment(moment.micros + BigInt(Number(j) - 1) * 24n * hour, moment.offsetMinutes);
}

/** Codes that stand for several. */
const several: Readonly<Record<string, string>> = {
  ...{ "%c": "%a %b %d %H:%M:%S %Y", "%x": "%m/%d/%y", "%X": "%H:%M:%S" },
};

function patternOf(given: string): RegExp | undefined {
  if (!isFormat(given)) return undefined;
  const format = given.replace(/%[cxX]/g, (code) => several[code] ?? code);
  let isKnown = true;
  const seen = new Set<string>();
  const source = format
    .replaceAll("%_ms", "%f")
    .split(/(%-?[A-Za-z%]|\s+)/)
    .map((piece) => {
      if (/^\s+$/.test(piece)) return "\\s+";
      if (!/^%./.test(piece)) return RegExp.escape(piece);
      const code = piece.slice(1);
      if (!Object.hasOwn(read, code) || seen.has(code)) isKnown = false;
      if (code !== "%") seen.add(code);
      return read[code] ?? "";
    })
    .join("");
  return isKnown ? new RegExp(`^${source}$`, "i") : undefined;
}

function parseNumber(text: string, format: string): Moment | undefined {
  const isFloat = format === "%s_as_float";
  if (!(isFloat ? /^[+-]?\d{1,18}(?:\.\d+)?$/ : /^[+-]?\d{1,18}$/).test(text)) return undefined;
  if (isFloat) return toMoment(BigInt(Math.round(Number(text) * 1_000_000)));
  const factor = { "%s": second, "%ms": 1000n }[format] ?? 1n;
  return toMoment(BigInt(text) * factor);
}

const isoText =
  /^(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:.(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/s;

/** ISO 8601; what names no zone is in UTC. @returns undefined when it is none */
export function parseIso(text: string): Moment | undefined {
  const found = text.length > 100 ? null : isoText.exec(text);
  if (!found) return undefined;
  const [, year, month, dayOfMonth, hours, minutes, seconds, fraction, zone] = found;
  const moment = fromParts(
    {
      year: Number(year),
      month: Number(month ?? 1),
      day: Number(dayOfMonth ?? 1),
      hour: Number(hours ?? 0),
      minute: Number(minutes ?? 0),
      second: Number(seconds ?? 0),
      micro: Number((fraction ?? "").padEnd(6, "0").slice(0, 6)),
    },
    zoneMinutes(zone?.toUpperCase()),
  );
  return moment && new Moment(moment.micros);
}

/** As Python's `isoformat`, or as its `str` with a space. */
export function isoOf(moment: Moment, between = "T"): string {
  const date = formatMoment(moment, "%F");
  if (moment.isDate) return date;
  const fraction = partsOf(moment).micro === 0 ? "" : formatMoment(moment, ".%f");
  return `${date}${between}${formatMoment(moment, "%T")}${fraction}${zoneText(moment.offsetMinutes, ":")}`;
}

function zoneMinutes(zone: string | undefined): number {
  if (zone === undefined || zone === "Z" || zone === "z") return 0;
  const digits = zone.slice(1).replaceAll(":", "");
  const made = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4) || 0);
  return zone.startsWith("-") ? -made : made;
}

function zoneText(offsetMinutes: number, between: string): string {
  const size = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}${between}${pad(size % 60)}`;
}

/** The moment of an instant of the clock. */
export const momentOf = (ms: number): Moment => new Moment(BigInt(Math.trunc(ms)) * 1000n);
/** The day of a moment, in its zone. */
export function dateOf(moment: Moment): Moment {
  const local = moment.micros + BigInt(moment.offsetMinutes) * minute;
  const size = 24n * hour;
  return new Moment(local - (((local % size) + size) % size), 0, true);
}

/** The day of a moment where the clock is set to that zone. @returns undefined for no such zone */
export function fromClock(moment: Moment, timeZone: string): Moment | undefined {
  if (timeZone.length > 100) return undefined;
  try {
    const format = new Intl.DateTimeFormat("en", {
      ...{ timeZone, calendar: "gregory", numberingSystem: "latn" },
      ...{ year: "numeric", month: "numeric", day: "numeric" },
    });
    const parts = new Map(
      format
        .formatToParts(Number(moment.micros / 1000n))
        .map(({ type, value }) => [type, Number(value)]),
    );
    const [year = 0, month = 0, day = 0] = ["year", "month", "day"].map((one) =>
      parts.get(one as "year"),
    );
    const made = fromParts({ ...{ year, month, day }, hour: 0, minute: 0, second: 0, micro: 0 });
    return made && dateOf(made);
  } catch {
    return undefined;
  }
}
