/** Macros: functions that expressions call by their names. */
import { type Callable, fn, timed } from "./callable.ts";
import { dateOf, formatMoment, isFormat, parseIso, parseMoment } from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { addSpan, Moment, parseSpan, Span, second } from "./moment.ts";
import { compare, items, number } from "./operands.ts";
import { isNumber, type PlainValue, toText } from "./values.ts";

const extreme =
  (sign: number) =>
  (...args: readonly PlainValue[]): PlainValue => {
    const all = args.length === 1 ? items(args[0]) : args;
    const [first, ...rest] = all;
    return rest.reduce((best, one) => (sign * compare(one, best) > 0 ? one : best), first);
  };

const toMomentOrFail = (made: Moment | undefined): Moment => {
  if (!made) throw new EvaluationError("reads a text as a date that is none");
  return made;
};
export const formatted = (moment: Moment, format: PlainValue): string => {
  const text = toText(format);
  if (!isFormat(text)) throw new EvaluationError("writes a date in a format that is not supported");
  return formatMoment(moment, text);
};

export const macros: Readonly<Record<string, Callable>> = {
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
  generate_uuid: fn(() => crypto.randomUUID()),
};

const quotePlus = (text: string) =>
  encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
