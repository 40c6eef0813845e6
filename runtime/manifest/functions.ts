/**
 * Macros, filters and methods of expressions: functions of plain values, none of them reaches out.
 */
import { createHash } from "node:crypto";
import { type PlainValue, toText } from "./values.ts";

type Fn = (...args: readonly PlainValue[]) => PlainValue;
export class EvaluationError extends Error {}

const number = (value: PlainValue): number => {
  const made = typeof value === "string" ? Number(value.trim() || Number.NaN) : Number(value);
  if (Number.isNaN(made)) throw new EvaluationError("makes a number of what is none");
  return made;
};
const items = (value: PlainValue): readonly PlainValue[] => {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (typeof value === "object" && value !== null) return Object.keys(value);
  throw new EvaluationError("takes what is no list for one");
};
const extreme =
  (sign: number): Fn =>
  (...args) => {
    const all = args.length === 1 ? items(args[0]) : args;
    const [first, ...rest] = all;
    return rest.reduce((best, one) => (sign * compare(one, best) > 0 ? one : best), first);
  };

/** Numbers by size, texts by their characters. */
export function compare(left: PlainValue, right: PlainValue): number {
  if (typeof left === "string" && typeof right === "string")
    return left < right ? -1 : left > right ? 1 : 0;
  const isNumber = (one: PlainValue) => ["number", "bigint", "boolean"].includes(typeof one);
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  throw new EvaluationError("compares what has no order");
}

const macros: Readonly<Record<string, Fn>> = { max: extreme(1), min: extreme(-1) };

const hashes = new Set(["md5", "sha1", "sha256", "sha512"]);
const filters: Readonly<Record<string, Fn>> = {
  default: (value, other = "") => (value === undefined ? other : value),
  int: (value) => Math.trunc(number(value)),
  string: (value) => toText(value),
  lower: (value) => toText(value).toLowerCase(),
  upper: (value) => toText(value).toUpperCase(),
  trim: (value) => toText(value).trim(),
  replace: (value, from, to) => toText(value).replaceAll(toText(from), () => toText(to)),
  length: (value) => items(value).length,
  first: (value) => items(value)[0],
  last: (value) => items(value).at(-1),
  join: (value, separator = "") => items(value).map(toText).join(toText(separator)),
  tojson: (value) => JSON.stringify(value ?? null),
  urlencode: (value) => encodeURIComponent(toText(value)).replaceAll("%2F", "/"),
  hash(value, algorithm = "md5", salt) {
    const name = toText(algorithm);
    if (!hashes.has(name)) throw new EvaluationError("names a hash that is not supported");
    return createHash(name)
      .update(toText(value) + (salt === undefined ? "" : toText(salt)))
      .digest("hex");
  },
  base64encode: (value) => Buffer.from(toText(value)).toString("base64"),
  base64decode: (value) => Buffer.from(toText(value), "base64").toString("utf8"),
};

const methods: Readonly<Record<string, Fn>> = {
  get(of, key, other = null) {
    if (typeof of !== "object" || of === null || Array.isArray(of))
      throw new EvaluationError("asks what is no object for a value");
    const name = toText(key);
    return Object.hasOwn(of, name) ? (of as Record<string, PlainValue>)[name] : other;
  },
  keys: (of) => Object.keys(Object(of)),
  values: (of) => Object.values(Object(of) as Record<string, PlainValue>),
  lower: (of) => toText(of).toLowerCase(),
  upper: (of) => toText(of).toUpperCase(),
  strip: (of) => toText(of).trim(),
  split: (of, separator) =>
    separator === undefined ? toText(of).trim().split(/\s+/) : toText(of).split(toText(separator)),
  replace: (of, from, to) => toText(of).replaceAll(toText(from), () => toText(to)),
  startswith: (of, start) => toText(of).startsWith(toText(start)),
  endswith: (of, end) => toText(of).endsWith(toText(end)),
};

const tables = { macro: macros, filter: filters, method: methods };
export const macroNames: ReadonlySet<string> = new Set(Object.keys(macros));
export const filterNames: ReadonlySet<string> = new Set(Object.keys(filters));
export const methodNames: ReadonlySet<string> = new Set(Object.keys(methods));

/** @throws EvaluationError when the values do not fit */
export function callFunction(
  what: keyof typeof tables,
  name: string,
  args: readonly PlainValue[],
): PlainValue {
  const found = tables[what][name];
  if (!found) throw new EvaluationError("calls what is not there");
  return found(...args);
}
