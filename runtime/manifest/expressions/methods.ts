/** Methods of texts, objects and dates. */
import { type Callable, fn } from "./callable.ts";
import { dateOf, isoOf } from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { formatted } from "./macros.ts";
import { Moment, Span } from "./moment.ts";
import { items, number } from "./operands.ts";
import { isMapping, type PlainValue, toText } from "./values.ts";

const moment = (value: PlainValue): Moment => {
  if (value instanceof Moment) return value;
  throw new EvaluationError("asks what is no date for one");
};
const mapping = (value: PlainValue) => {
  if (isMapping(value)) return value;
  throw new EvaluationError("asks what is no object for a value");
};
export const methods: Readonly<Record<string, Callable>> = {
  get: fn((of, key, other = null) => {
    const [from, name] = [mapping(of), toText(key)];
    return Object.hasOwn(from, name) ? from[name] : other;
  }),
  keys: fn((of) => Object.keys(mapping(of))),
  values: fn((of) => Object.values(mapping(of))),
  items: fn((of) => Object.entries(mapping(of))),
  title: fn((of) => toText(of).replace(/[A-Za-z]+/g, capitalized)),
  capitalize: fn((of) => capitalized(toText(of))),
  zfill: fn((of, width) => toText(of).padStart(Math.min(number(width), 1_000), "0")),
  isdigit: fn((of) => /^\d+$/.test(toText(of))),
  isnumeric: fn((of) => /^\d+$/.test(toText(of))),
  isalpha: fn((of) => /^\p{L}+$/u.test(toText(of))),
  find: fn((of, part) => toText(of).indexOf(toText(part))),
  count: fn((of, part) =>
    Array.isArray(of)
      ? of.filter((one) => toText(one) === toText(part)).length
      : toText(of).split(toText(part)).length - 1,
  ),
  splitlines: fn((of) => toText(of).split(/\r?\n/)),
  rsplit: fn((of, separator, limit = -1) => {
    const parts = toText(of).split(toText(separator));
    const most = number(limit);
    if (most < 0 || parts.length <= most + 1) return parts;
    const cut = parts.length - most;
    return [parts.slice(0, cut).join(toText(separator)), ...parts.slice(cut)];
  }),
  removeprefix: fn((of, part) => {
    const [text, prefix] = [toText(of), toText(part)];
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }),
  removesuffix: fn((of, part) => {
    const [text, suffix] = [toText(of), toText(part)];
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  }),
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
  weekday: fn((of) => (new Date(Number(moment(of).micros / 1000n)).getUTCDay() + 6) % 7),
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

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
