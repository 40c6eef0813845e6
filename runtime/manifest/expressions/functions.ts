/**
 * Macros, filters and methods of expressions: functions of plain values, none of them reaches out.
 */
import { createHash, randomUUID } from "node:crypto";
import { dateOf, formatMoment, isFormat, isoOf, momentOf, parseIso, parseMoment } from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { addSpan, day, Moment, parseSpan, Span, second } from "./moment.ts";
import { replacePattern, searchPattern } from "./patterns.ts";
import { type PlainValue, rawText, toText } from "./values.ts";

/** @param now of the clock, in milliseconds */
type Fn = (args: readonly PlainValue[], now: number) => PlainValue;
interface Callable {
  readonly call: Fn;
  /** By which its arguments may be named, the one before a `|` or `.` included. */
  readonly names: readonly string[];
}
const fn = (
  call: (...args: readonly PlainValue[]) => PlainValue,
  ...names: string[]
): Callable => ({
  call: (args) => call(...args),
  names,
});
const timed = (
  call: (now: Moment, ...args: readonly PlainValue[]) => PlainValue,
  ...names: string[]
): Callable => ({
  call: (args, now) => call(momentOf(now), ...args),
  names,
});

export const number = (value: PlainValue): number => {
  const raw = typeof value === "object" && value !== null ? rawText(value) : undefined;
  const made =
    raw !== undefined
      ? Number(raw)
      : typeof value === "string"
        ? Number(value.trim() || Number.NaN)
        : Number(value);
  if (Number.isNaN(made)) throw new EvaluationError("makes a number of what is none");
  return made;
};
const items = (value: PlainValue): readonly PlainValue[] => {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (isMapping(value)) return Object.keys(value);
  throw new EvaluationError("takes what is no list for one");
};
export const isMapping = (value: PlainValue): value is { readonly [name: string]: PlainValue } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Moment) &&
  !(value instanceof Span) &&
  rawText(value) === undefined;
export const isNumber = (value: PlainValue): boolean =>
  ["number", "bigint", "boolean"].includes(typeof value) ||
  (typeof value === "object" && value !== null && rawText(value) !== undefined);

const extreme =
  (sign: number) =>
  (...args: readonly PlainValue[]): PlainValue => {
    const all = args.length === 1 ? items(args[0]) : args;
    const [first, ...rest] = all;
    return rest.reduce((best, one) => (sign * compare(one, best) > 0 ? one : best), first);
  };

/** Numbers by size, texts by their characters, moments by time. */
export function compare(left: PlainValue, right: PlainValue): number {
  if (typeof left === "string" && typeof right === "string")
    return left < right ? -1 : left > right ? 1 : 0;
  if (isNumber(left) && isNumber(right)) return number(left) - number(right);
  const isTime =
    (left instanceof Moment && right instanceof Moment && left.isDate === right.isDate) ||
    (left instanceof Span && right instanceof Span);
  if (isTime) return left.micros < right.micros ? -1 : left.micros > right.micros ? 1 : 0;
  throw new EvaluationError("compares what has no order");
}

const toMomentOrFail = (made: Moment | undefined): Moment => {
  if (!made) throw new EvaluationError("reads a text as a date that is none");
  return made;
};
const formatted = (moment: Moment, format: PlainValue): string => {
  const text = toText(format);
  if (!isFormat(text)) throw new EvaluationError("writes a date in a format that is not supported");
  return formatMoment(moment, text);
};

/** Moments and lengths of time, added and taken away. */
export function addTimes(left: PlainValue, right: PlainValue, sign: 1 | -1): PlainValue {
  const made =
    left instanceof Moment && right instanceof Span
      ? addSpan(left, right, sign)
      : left instanceof Span && right instanceof Moment && sign === 1
        ? addSpan(right, left, 1)
        : left instanceof Moment && right instanceof Moment && sign === -1
          ? new Span(left.micros - right.micros)
          : left instanceof Span && right instanceof Span
            ? new Span(left.micros + BigInt(sign) * right.micros, left.months + sign * right.months)
            : undefined;
  if (!made) throw new EvaluationError("calculates with what is no number, or leaves the calendar");
  return made;
}

const macros: Readonly<Record<string, Callable>> = {
  max: fn(extreme(1)),
  min: fn(extreme(-1)),
  now_utc: timed((now) => now),
  today_utc: timed((now) => dateOf(now)),
  day_delta: timed(
    (now, days, format = "%Y-%m-%dT%H:%M:%S.%f%z") =>
      formatted(
        toMomentOrFail(
          addSpan(now, new Span(BigInt(Math.round(number(days) * 86_400)) * second), 1),
        ),
        format,
      ),
    ...["num_days", "format"],
  ),
  duration: fn((text) => {
    const made = parseSpan(toText(text));
    if (!made) throw new EvaluationError("reads a text as a duration that is none");
    return made;
  }, "datestring"),
  str_to_datetime: fn((text) => toMomentOrFail(parseIso(toText(text))), "s"),
  timestamp: fn((value) => {
    if (isNumber(value)) return Math.trunc(number(value));
    return float(Number(toMomentOrFail(parseIso(toText(value))).micros) / 1_000_000);
  }, "dt"),
  format_datetime: fn(
    (value, format, input) => {
      if (value instanceof Moment) return formatted(value, format);
      const isWhole = typeof value === "number" || typeof value === "bigint";
      const read =
        input === undefined || input === null ? (isWhole ? "%s" : undefined) : toText(input);
      const text = toText(value);
      return formatted(
        toMomentOrFail(read === undefined ? parseIso(text) : parseMoment(text, read)),
        format,
      );
    },
    ...["dt", "format", "input_format"],
  ),
  sanitize_url: fn((value) => quotePlus(toText(value)), "value"),
  camel_case_to_snake_case: fn(
    (value) =>
      toText(value)
        .replace(/(?<!^)(?=[A-Z])/g, "_")
        .toLowerCase(),
    "value",
  ),
  generate_uuid: fn(() => randomUUID()),
};

const quotePlus = (text: string) =>
  encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** As Python's json module writes it. */
export function pythonJson(value: PlainValue): string {
  if (value === undefined || value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (isMapping(value)) {
    const entries = Object.entries(value).map(
      ([name, part]) => `${inAscii(name)}: ${pythonJson(part)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  if (typeof value === "string") return inAscii(value);
  if (value instanceof Moment || value instanceof Span)
    throw new EvaluationError("writes a date as JSON");
  return typeof value === "boolean" ? String(value) : toText(value);
}
const inAscii = (text: string) =>
  JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const hashes = new Set(["md5", "sha1", "sha256", "sha512"]);
const filters: Readonly<Record<string, Callable>> = {
  default: fn(
    (value, other = "", isBoolean = false) =>
      value === undefined || (isBoolean === true && !value) ? other : value,
    ...["value", "default_value", "boolean"],
  ),
  int: fn((value, other = 0) => {
    try {
      return Math.trunc(number(value));
    } catch {
      return other;
    }
  }),
  float: fn((value) => float(number(value))),
  abs: fn((value) => Math.abs(number(value))),
  round: fn((value, digits = 0) => {
    const factor = 10 ** number(digits);
    return float(Math.round(number(value) * factor) / factor);
  }),
  string: fn((value) => (typeof value === "string" ? value : `"""${pythonJson(value)}"""`)),
  lower: fn((value) => toText(value).toLowerCase()),
  upper: fn((value) => toText(value).toUpperCase()),
  trim: fn((value) => toText(value).trim()),
  replace: fn((value, from, to) => toText(value).replaceAll(toText(from), () => toText(to))),
  length: fn((value) => items(value).length),
  count: fn((value) => items(value).length),
  first: fn((value) => items(value)[0]),
  last: fn((value) => items(value).at(-1)),
  list: fn((value) => items(value)),
  join: fn(
    (value, separator = "") => items(value).map(toText).join(toText(separator)),
    "value",
    "d",
  ),
  tojson: fn((value) =>
    pythonJson(value).replace(/[<>&']/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  ),
  urlencode: fn((value) => encodeURIComponent(toText(value)).replaceAll("%2F", "/")),
  hash: fn(
    (value, algorithm = "md5", salt) => {
      const name = toText(algorithm);
      if (!hashes.has(name)) throw new EvaluationError("names a hash that is not supported");
      return createHash(name)
        .update(toText(value) + (salt === undefined || salt === null ? "" : toText(salt)))
        .digest("hex");
    },
    ...["value", "hash_type", "salt"],
  ),
  base64encode: fn((value) => Buffer.from(toText(value)).toString("base64")),
  base64decode: fn((value) => Buffer.from(toText(value), "base64").toString("utf8")),
  base64binascii_decode: fn((value) => Buffer.from(toText(value)).toString("base64")),
  regex_search: fn(
    (value, pattern) => searchPattern(toText(pattern), toText(value))?.[1] ?? "",
    ...["value", "regex"],
  ),
  regex_replace: fn(
    (value, pattern, by) => replacePattern(toText(pattern), toText(value), toText(by)),
    ...["value", "regex", "replacement"],
  ),
};

const moment = (value: PlainValue): Moment => {
  if (value instanceof Moment) return value;
  throw new EvaluationError("asks what is no date for one");
};
const mapping = (value: PlainValue) => {
  if (isMapping(value)) return value;
  throw new EvaluationError("asks what is no object for a value");
};
const methods: Readonly<Record<string, Callable>> = {
  get: fn((of, key, other = null) => {
    const [from, name] = [mapping(of), toText(key)];
    return Object.hasOwn(from, name) ? from[name] : other;
  }),
  keys: fn((of) => Object.keys(mapping(of))),
  values: fn((of) => Object.values(mapping(of))),
  items: fn((of) => Object.entries(mapping(of))),
  lower: fn((of) => toText(of).toLowerCase()),
  upper: fn((of) => toText(of).toUpperCase()),
  strip: fn((of, chars) => stripped(toText(of), chars, true, true)),
  lstrip: fn((of, chars) => stripped(toText(of), chars, true, false)),
  rstrip: fn((of, chars) => stripped(toText(of), chars, false, true)),
  split: fn((of, separator, limit = -1) => {
    if (separator === undefined) return toText(of).trim().split(/\s+/);
    const parts = toText(of).split(toText(separator));
    const most = number(limit);
    if (most < 0 || parts.length <= most + 1) return parts;
    return [...parts.slice(0, most), parts.slice(most).join(toText(separator))];
  }),
  replace: fn((of, from, to) => toText(of).replaceAll(toText(from), () => toText(to))),
  join: fn((of, list) => items(list).map(toText).join(toText(of))),
  startswith: fn((of, start) => toText(of).startsWith(toText(start))),
  endswith: fn((of, end) => toText(of).endsWith(toText(end))),
  strftime: fn((of, format) => formatted(moment(of), format)),
  isoformat: fn((of) => isoOf(moment(of))),
  timestamp: fn((of) => float(Number(moment(of).micros) / 1_000_000)),
  date: fn((of) => dateOf(moment(of))),
  total_seconds: fn((of) => {
    if (of instanceof Span) return float(Number(of.micros) / 1_000_000);
    throw new EvaluationError("asks what is no duration for one");
  }),
};

function stripped(text: string, chars: PlainValue, left: boolean, right: boolean): string {
  const isOff = (one: string) =>
    chars === undefined || chars === null ? /\s/.test(one) : toText(chars).includes(one);
  let [from, to] = [0, text.length];
  while (left && from < to && isOff(text.charAt(from))) from++;
  while (right && to > from && isOff(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

const tables = { macro: macros, filter: filters, method: methods };
export type CallKind = keyof typeof tables;
export const callNames: Readonly<Record<CallKind, readonly string[]>> = {
  macro: Object.keys(macros),
  filter: Object.keys(filters),
  method: Object.keys(methods),
};

/** Where an argument of that name stands; undefined when there is none of that name. */
export function argumentIndex(what: CallKind, name: string, argument: string): number | undefined {
  const index = tables[what][name]?.names.indexOf(argument) ?? -1;
  return index === -1 ? undefined : index;
}

/** @throws EvaluationError when the values do not fit */
export function callFunction(
  what: CallKind,
  name: string,
  args: readonly PlainValue[],
  now: number,
): PlainValue {
  const table = tables[what];
  if (!Object.hasOwn(table, name)) throw new EvaluationError("calls what is not there");
  return table[name]?.call(args, now);
}

/** Days of a span, as its attribute. */
export const daysOf = ({ micros }: Span): number => Number(micros / day);
