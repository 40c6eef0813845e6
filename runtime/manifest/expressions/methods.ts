/**
 * Methods of texts, objects, lists and dates. A value that has no such method is asked for what is
 * not there.
 */
import { type Callable, fn, open } from "./callable.ts";
import { dateOf, isoOf, weekOf } from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { stamped } from "./macros.ts";
import { fromParts, Moment, partsOf, Span } from "./moment.ts";
import { charactersOf, isEqual, items, maxChars, number } from "./operands.ts";
import { filledIn } from "./text-formats.ts";
import { isCased, without } from "./value-tests.ts";
import { isMapping, isNumber, type PlainValue, toText, tupleOf } from "./values.ts";

type Of<T> = (of: T, ...args: readonly PlainValue[]) => PlainValue;
const ofText = (call: Of<string>, ...names: string[]): Callable =>
  fn(
    (of, ...args) => {
      if (typeof of === "string") return call(of, ...args);
      throw without(of);
    },
    ...["of", ...names],
  );
const ofMap = (call: Of<{ readonly [name: string]: PlainValue }>): Callable =>
  fn((of, ...args) => {
    if (isMapping(of)) return call(of, ...args);
    throw without(of);
  });
const ofDate = (call: Of<Moment>, ...names: string[]): Callable =>
  fn(
    (of, ...args) => {
      if (of instanceof Moment) return call(of, ...args);
      throw without(of);
    },
    ...["of", ...names],
  );
/** Of dates with a time of day. */
const ofTime = (call: Of<Moment>): Callable =>
  fn((of, ...args) => {
    if (of instanceof Moment && !of.isDate) return call(of, ...args);
    throw without(of);
  });

/** @throws EvaluationError for an argument that is none */
const text = (value: PlainValue): string => {
  if (typeof value === "string") return value;
  throw new EvaluationError("gives a text's method what is no text");
};
/** How often, at most; negative: without a limit. */
const timesOf = (value: PlainValue): number => {
  const times = value === undefined ? -1 : number(value);
  return times < 0 ? Number.POSITIVE_INFINITY : times;
};

export const methods: Readonly<Record<string, Callable>> = {
  get: ofMap((of, key, other = null) => {
    const name = toText(key);
    return Object.hasOwn(of, name) ? of[name] : other;
  }),
  keys: ofMap((of) => Object.keys(of)),
  values: ofMap((of) => Object.values(of)),
  items: ofMap((of) => Object.entries(of).map((entry) => tupleOf(entry))),
  title: ofText((of) => of.replace(/\p{L}+/gu, capitalized)),
  capitalize: ofText(capitalized),
  swapcase: ofText((of) =>
    of.replace(/\p{L}/gu, (one) =>
      one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
    ),
  ),
  casefold: ofText((of) => of.toLowerCase().replaceAll("ß", "ss")),
  lower: ofText((of) => of.toLowerCase()),
  upper: ofText((of) => of.toUpperCase()),
  zfill: ofText((of, width) => {
    const [sign = ""] = /^[+-]/.exec(of) ?? [];
    return sign + of.slice(sign.length).padStart(widthOf(width) - sign.length, "0");
  }),
  ljust: ofText((of, width, fill) => of + blanks(of, width, fill)),
  rjust: ofText((of, width, fill) => blanks(of, width, fill) + of),
  isdigit: ofText((of) => /^\d+$/.test(of)),
  isdecimal: ofText((of) => /^\d+$/.test(of)),
  isnumeric: ofText((of) => /^\d+$/.test(of)),
  isalpha: ofText((of) => /^\p{L}+$/u.test(of)),
  isalnum: ofText((of) => /^[\p{L}\p{Nd}]+$/u.test(of)),
  isspace: ofText((of) => /^\s+$/.test(of)),
  islower: ofText((of) => isCased(of, (one) => one.toLowerCase())),
  isupper: ofText((of) => isCased(of, (one) => one.toUpperCase())),
  find: ofText((of, part, from, to) => placeOf(of, text(part), from, to)),
  rfind: ofText((of, part) => {
    const at = of.lastIndexOf(text(part));
    return at === -1 ? -1 : charactersOf(of.slice(0, at)).length;
  }),
  index: fn((of, part, from, to) => {
    const at =
      typeof of === "string"
        ? placeOf(of, text(part), from, to)
        : Array.isArray(of)
          ? of.findIndex((one) => isEqual(one, part))
          : undefined;
    if (at === undefined) throw without(of);
    if (at === -1) throw new EvaluationError("asks for the place of what is not there");
    return at;
  }),
  count: fn((of, part) => {
    if (Array.isArray(of)) return of.filter((one) => isEqual(one, part)).length;
    if (typeof of === "string")
      return part === "" ? charactersOf(of).length + 1 : of.split(text(part)).length - 1;
    throw without(of);
  }),
  splitlines: ofText((of) => {
    const lines = of.split(/\r\n|\r|\n/);
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  }),
  split: ofText(
    (of, separator, limit) => {
      const most = timesOf(limit);
      if (separator === undefined || separator === null) return words(of, most);
      const parts = of.split(parting(separator));
      if (parts.length <= most + 1) return parts;
      return [...parts.slice(0, most), parts.slice(most).join(text(separator))];
    },
    ...["sep", "maxsplit"],
  ),
  rsplit: ofText(
    (of, separator, limit) => {
      const most = timesOf(limit);
      if (separator === undefined || separator === null) {
        const all = words(of, Number.POSITIVE_INFINITY);
        if (all.length <= most + 1) return all;
        throw new EvaluationError("splits from the right without a separator");
      }
      const parts = of.split(parting(separator));
      if (parts.length <= most + 1) return parts;
      const cut = parts.length - most;
      return [parts.slice(0, cut).join(text(separator)), ...parts.slice(cut)];
    },
    ...["sep", "maxsplit"],
  ),
  partition: ofText((of, separator) => {
    const at = of.indexOf(parting(separator));
    if (at === -1) return tupleOf([of, "", ""]);
    return tupleOf([of.slice(0, at), separator, of.slice(at + text(separator).length)]);
  }),
  rpartition: ofText((of, separator) => {
    const at = of.lastIndexOf(parting(separator));
    if (at === -1) return tupleOf(["", "", of]);
    return tupleOf([of.slice(0, at), separator, of.slice(at + text(separator).length)]);
  }),
  removeprefix: ofText((of, part) => {
    const prefix = text(part);
    return of.startsWith(prefix) ? of.slice(prefix.length) : of;
  }),
  removesuffix: ofText((of, part) => {
    const suffix = text(part);
    return suffix !== "" && of.endsWith(suffix) ? of.slice(0, -suffix.length) : of;
  }),
  strip: ofText((of, chars) => stripped(of, chars, true, true)),
  lstrip: ofText((of, chars) => stripped(of, chars, true, false)),
  rstrip: ofText((of, chars) => stripped(of, chars, false, true)),
  replace: fn(
    (of, ...args) => {
      if (of instanceof Moment) return inPlaces(of, args);
      if (typeof of !== "string") throw without(of);
      return replaced(of, text(args[0]), text(args[1]), args[2]);
    },
    ...["of", "year", "month", "day", "hour", "minute", "second", "microsecond"],
  ),
  join: ofText((of, list) => joined(items(list).map(text), of)),
  startswith: ofText((of, start, from, to) =>
    anyOf(start, (one) => within(of, from, to).startsWith(one)),
  ),
  endswith: ofText((of, end, from, to) => anyOf(end, (one) => within(of, from, to).endsWith(one))),
  format: open(1, (of, named = {}, ...values) => {
    if (typeof of !== "string") throw without(of);
    return filledIn(of, values, isMapping(named) ? named : {});
  }),
  strftime: ofDate((of, format) => stamped(of, format), "format"),
  isoformat: ofDate(
    (of, separator, precision) => isoText(of, separator, precision),
    ...["sep", "timespec"],
  ),
  timestamp: ofTime((of) => float(Number(of.micros) / 1_000_000)),
  date: ofTime((of) => dateOf(of)),
  weekday: ofDate((of) => (partsOf(of).weekday + 6) % 7),
  isoweekday: ofDate((of) => partsOf(of).weekday || 7),
  isocalendar: ofDate((of) => {
    const { year, week, weekday } = weekOf(of);
    return tupleOf([year, week, weekday], "year", "week", "weekday");
  }),
  total_seconds: fn((of) => {
    if (of instanceof Span && of.months === 0) return float(Number(of.micros) / 1_000_000);
    throw without(of);
  }),
};

function capitalized(of: string): string {
  return of.charAt(0).toUpperCase() + of.slice(1).toLowerCase();
}

function widthOf(width: PlainValue): number {
  const made = number(width);
  if (made > 1_000) throw new EvaluationError("writes more than 1000 places");
  return made;
}

function blanks(of: string, width: PlainValue, fill: PlainValue = " "): string {
  if (charactersOf(text(fill)).length !== 1)
    throw new EvaluationError("fills a text up with what is no character");
  return text(fill).repeat(Math.max(0, widthOf(width) - charactersOf(of).length));
}

/** The place of a part, counted in characters; -1 where it is not. */
function placeOf(of: string, part: string, from: PlainValue, to: PlainValue): number {
  const before = of.length - within(of, from).length;
  const at = within(of, from, to).indexOf(part);
  return at === -1 ? -1 : charactersOf(of.slice(0, before + at)).length;
}

/** The part between two places, which may be counted from the end. */
function within(of: string, from?: PlainValue, to?: PlainValue): string {
  if (from === undefined && to === undefined) return of;
  const bound = (value: PlainValue) =>
    value === undefined || value === null ? undefined : number(value);
  const made = charactersOf(of).slice(bound(from) ?? 0, bound(to));
  return typeof made === "string" ? made : made.join("");
}

/** A text, or one of several in a tuple. */
const anyOf = (given: PlainValue, is: (one: string) => boolean): boolean =>
  Array.isArray(given) ? given.some((one) => is(text(one))) : is(text(given));

/** Words between blanks; beyond the limit the rest is one. */
function words(of: string, most: number): string[] {
  const trimmed = of.trimStart();
  if (trimmed === "") return [];
  const made: string[] = [];
  let rest = trimmed;
  while (rest !== "") {
    const blank = made.length < most ? rest.search(/\s/) : -1;
    if (blank === -1) {
      made.push(rest);
      break;
    }
    made.push(rest.slice(0, blank));
    rest = rest.slice(blank).trimStart();
  }
  return made;
}

function parting(separator: PlainValue): string {
  if (text(separator) === "") throw new EvaluationError("splits a text at nothing");
  return text(separator);
}

/** @throws EvaluationError for a text that is longer than any may be */
export function joined(parts: readonly string[], by: string): string {
  const size = parts.reduce((sum, one) => sum + one.length, by.length * parts.length);
  if (size > maxChars * 2)
    throw new EvaluationError(`makes a text of more than ${maxChars} characters`);
  return parts.join(by);
}

/** @param times how often at most @throws EvaluationError as {@link joined} */
export function replaced(of: string, from: string, to: string, times?: PlainValue): string {
  const most = times === null ? Number.POSITIVE_INFINITY : timesOf(times);
  const parts = from === "" ? ["", ...charactersOf(of), ""] : of.split(from);
  if (parts.length - 1 <= most) return joined(parts, to);
  return joined([...parts.slice(0, most), parts.slice(most).join(from)], to);
}

function stripped(of: string, chars: PlainValue, left: boolean, right: boolean): string {
  const isOff = (one: string) =>
    chars === undefined || chars === null ? /\s/.test(one) : text(chars).includes(one);
  let [from, to] = [0, of.length];
  while (left && from < to && isOff(of.charAt(from))) from++;
  while (right && to > from && isOff(of.charAt(to - 1))) to--;
  return of.slice(from, to);
}

/** A moment with other parts: year, month, day, and those of the clock. */
function inPlaces(of: Moment, given: readonly PlainValue[]): Moment {
  const names = ["year", "month", "day", "hour", "minute", "second", "micro"] as const;
  const parts = { ...partsOf(of) };
  for (const [at, name] of names.entries()) {
    const value = given[at];
    if (value === undefined) continue;
    if (!isNumber(value) || (of.isDate && at > 2)) throw new EvaluationError("has no such part");
    parts[name] = number(value);
  }
  const made = Object.values(parts).every(Number.isInteger)
    ? fromParts(parts, of.offsetMinutes)
    : undefined;
  if (!made) throw new EvaluationError("makes a date that is none");
  return of.isDate ? dateOf(made) : made;
}

const digits: Readonly<Record<string, number>> = {
  ...{ minutes: -3, seconds: 0, milliseconds: 3, microseconds: 6 },
};
function isoText(of: Moment, separator: PlainValue = "T", precision: PlainValue = "auto"): string {
  const whole = isoOf(of, toText(separator));
  if (of.isDate || precision === "auto") return whole;
  const places = Object.hasOwn(digits, toText(precision)) ? digits[toText(precision)] : undefined;
  if (places === undefined) throw new EvaluationError("asks for a precision that is none");
  const [, begin = "", seconds = "", zone = ""] =
    /^(.{16})(:\d\d)(?:\.\d+)?(.*)$/s.exec(whole) ?? [];
  if (places < 0) return begin + zone;
  const fraction = String(partsOf(of).micro).padStart(6, "0").slice(0, places);
  return begin + seconds + (places === 0 ? "" : `.${fraction}`) + zone;
}
