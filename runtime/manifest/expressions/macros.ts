/** Macros: functions that expressions call by their names. */
import { type Callable, fn, open, timed } from "./callable.ts";
import {
  dateOf,
  formatMoment,
  fromClock,
  isFormat,
  parseIso,
  parseMoment,
  stampMoment,
} from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { addSpan, Moment, parseSpan, Span, second } from "./moment.ts";
import { compare, items, number, present } from "./operands.ts";
import { isMapping, isNumber, Namespace, type PlainValue, toText } from "./values.ts";

const extreme =
  (sign: number) =>
  (...args: readonly PlainValue[]): PlainValue => {
    const all = args.length === 1 && args[0] !== undefined ? items(args[0]) : args;
    const [first, ...rest] = all;
    if (all.length === 0) throw new EvaluationError("takes the most of nothing");
    return rest.reduce((best, one) => (sign * compare(one, best) > 0 ? one : best), first);
  };

const toMomentOrFail = (made: Moment | undefined): Moment => {
  if (!made) throw new EvaluationError("reads a text as a date that is none");
  return made;
};
/** As Python's own `strftime`. */
export const stamped = (moment: Moment, format: PlainValue): string => {
  const made = stampMoment(moment, toText(format));
  if (made === undefined)
    throw new EvaluationError("writes a date in a format that is not supported");
  return made;
};
const formatted = (moment: Moment, format: PlainValue): string => {
  const text = toText(format);
  if (!isFormat(text)) throw new EvaluationError("writes a date in a format that is not supported");
  return formatMoment(moment, text);
};

export const macros: Readonly<Record<string, Callable>> = {
  max: fn(extreme(1)),
  min: fn(extreme(-1)),
  now_utc: timed((now) => now),
  today_utc: timed((now) => dateOf(now)),
  today_with_timezone: timed((now, zone) => {
    const made = fromClock(now, toText(zone));
    if (!made) throw new EvaluationError("names a time zone that is none");
    return made;
  }, "timezone"),
  dict: open(0, (named, ...from) => Object.assign(mapping(from), named)),
  namespace: open(0, (named, ...from) => {
    const made = new Namespace();
    for (const [name, value] of Object.entries(Object.assign(mapping(from), named)))
      made.values.set(name, value as PlainValue);
    return made;
  }),
  day_delta: timed(
    (now, days, format = "%Y-%m-%dT%H:%M:%S.%f%z") =>
      stamped(
        toMomentOrFail(
          addSpan(now, new Span(BigInt(Math.round(number(days) * 86_400)) * second), 1),
        ),
        format,
      ),
    ...["num_days", "format"],
  ),
  duration: fn((text) => {
    const made = typeof text === "string" ? parseSpan(text) : undefined;
    if (!made) throw new EvaluationError("reads a text as a duration that is none");
    return made;
  }, "datestring"),
  str_to_datetime: fn((text) => {
    present(text);
    return toMomentOrFail(parseIso(toText(text)));
  }, "s"),
  timestamp: fn((value) => {
    present(value);
    if (isNumber(value)) return Math.trunc(number(value));
    return float(Number(toMomentOrFail(parseIso(toText(value))).micros) / 1_000_000);
  }, "dt"),
  format_datetime: fn(
    (value, format, input) => {
      if (value instanceof Moment) return stamped(value, format);
      if (input === undefined || input === null) present(value);
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
  generate_uuid: fn(() => crypto.randomUUID()),
};

/** A copy of a mapping, or of pairs. */
function mapping([from, ...others]: readonly PlainValue[]): Record<string, PlainValue> {
  if (others.length > 0) throw new EvaluationError("makes a mapping of several things");
  if (from === undefined) return {};
  if (isMapping(from)) return { ...from };
  return Object.fromEntries(
    items(from).map((pair) => {
      const [name, value] = items(pair);
      if (toText(name) === "__proto__") throw new EvaluationError("names __proto__");
      return [toText(name), value] as const;
    }),
  );
}

const quotePlus = (text: string) =>
  encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
