/** Filters: what stands behind a bar in an expression. */
import { type Callable, fn } from "./callable.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { float } from "./literals.ts";
import { Moment, Span } from "./moment.ts";
import { compare, items, number } from "./operands.ts";
import { replacePattern, searchPattern } from "./patterns.ts";
import { passes, testNames } from "./value-tests.ts";
import { isMapping, type PlainValue, toText, truth } from "./values.ts";

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
export const filters: Readonly<Record<string, Callable>> = {
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
  d: fn((value, other = "") => (value === undefined ? other : value)),
  safe: fn((value) => value),
  capitalize: fn((value) => capitalized(toText(value))),
  title: fn((value) => toText(value).replace(/[^\s([{<-]+/g, capitalized)),
  sum: fn((value) => items(value).reduce((sum: number, one) => sum + number(one), 0)),
  min: fn((value) => leastOf(items(value), 1)),
  max: fn((value) => leastOf(items(value), -1)),
  reverse: fn((value) =>
    typeof value === "string" ? [...value].reverse().join("") : [...items(value)].reverse(),
  ),
  unique: fn((value) => [...new Map(items(value).map((one) => [toText(one), one])).values()]),
  sort: fn(
    (value, isDown = false) =>
      [...items(value)].sort((a, b) => (isDown === true ? -1 : 1) * compare(a, b)),
    ...["value", "reverse"],
  ),
  items: fn((value) => (isMapping(value) ? Object.entries(value) : [])),
  map: fn(
    (value, name, attribute) => {
      if (attribute === undefined) return items(value).map((one) => filterNamed(name, one));
      return items(value).map((one) => memberOf(one, attribute));
    },
    ...["value", "name", "attribute"],
  ),
  select: fn((value, test, other) => items(value).filter((one) => isMeant(one, test, other))),
  reject: fn((value, test, other) => items(value).filter((one) => !isMeant(one, test, other))),
  selectattr: fn((value, name, test, other) =>
    items(value).filter((one) => isMeant(memberOf(one, name), test, other)),
  ),
  rejectattr: fn((value, name, test, other) =>
    items(value).filter((one) => !isMeant(memberOf(one, name), test, other)),
  ),
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
      // Few manifests have it, and each start of a worker would load it.
      return process
        .getBuiltinModule("node:crypto")
        .createHash(name)
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

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

const leastOf = (list: readonly PlainValue[], sign: number): PlainValue =>
  list.reduce((best, one) => (sign * compare(one, best) < 0 ? one : best), list[0]);

function filterNamed(name: PlainValue, value: PlainValue): PlainValue {
  const known = toText(name);
  if (!Object.hasOwn(filters, known)) throw new EvaluationError("calls what is not there");
  return filters[known]?.call([value], Number.NaN);
}

const memberOf = (value: PlainValue, name: PlainValue): PlainValue => {
  const key = toText(name);
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

/** @throws EvaluationError for a test that is not there */
function isMeant(value: PlainValue, test: PlainValue, other: PlainValue): boolean {
  if (test === undefined) return truth(value);
  const name = signs[String(test)] ?? String(test);
  if (testNames.includes(name)) return passes(name, value, [other]);
  throw new EvaluationError("selects by a test that is not supported");
}
const signs: Readonly<Record<string, string>> = { "==": "eq", "!=": "ne" };
