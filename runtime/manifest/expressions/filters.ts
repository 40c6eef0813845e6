/** Filters: what stands behind a bar in an expression. */
import { calculate } from "./arithmetic.ts";
import { type Callable, fn, open } from "./callable.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { itemOf } from "./items.ts";
import { pythonJson, urlEncoded } from "./json-texts.ts";
import { float } from "./literals.ts";
import { joined, replaced } from "./methods.ts";
import { compare, isEqual, items, number, numeric, present } from "./operands.ts";
import { replacePattern, searchPattern } from "./patterns.ts";
import { readFloat, readWhole, rounded } from "./rounding.ts";
import { printed } from "./text-formats.ts";
import { isFloat, passes, testNamed, testNames } from "./value-tests.ts";
import { isMapping, isNumber, type PlainValue, toText, truth, tupleOf } from "./values.ts";

const hashes = new Set(["md5", "sha1", "sha256", "sha512"]);
/** More parts than this are no list that a template makes. */
const maxParts = 20_000;

const text = (value: PlainValue): string => {
  present(value);
  if (typeof value === "string") return value;
  throw new EvaluationError("takes what is no text for one");
};
const other = fn(
  (value, usual = "", isBoolean = false) =>
    value === undefined || (truth(isBoolean) && !truth(value)) ? usual : value,
  ...["value", "default_value", "boolean"],
);

export const filters: Readonly<Record<string, Callable>> = {
  default: other,
  d: other,
  int: fn(
    (value, usual = 0, base = 10) => {
      present(value);
      const made = typeof value === "string" ? readWhole(value, number(base)) : undefined;
      if (made !== undefined) return made;
      if (!isNumber(value) && typeof value !== "string") return usual;
      if (typeof value === "bigint") return value;
      const plain = typeof value === "string" ? readFloat(value) : number(value);
      return plain === undefined || !Number.isFinite(plain) ? usual : Math.trunc(plain);
    },
    ...["value", "default", "base"],
  ),
  float: fn(
    (value, usual = float(0)) => {
      present(value);
      const made =
        typeof value === "string" ? readFloat(value) : isNumber(value) ? number(value) : undefined;
      if (made !== undefined && !Number.isFinite(made))
        throw new EvaluationError("makes a number that is too large");
      return made === undefined ? usual : float(made);
    },
    ...["value", "default"],
  ),
  abs: fn((value) => {
    const size = numeric(value);
    if (typeof size === "bigint") return size < 0n ? -size : size;
    return isFloat(value) ? float(Math.abs(size)) : Math.abs(size);
  }),
  round: fn(
    (value, digits = 0, method = "common") => rounded(value, number(digits), toText(method)),
    ...["value", "precision", "method"],
  ),
  string: fn((value) => (typeof value === "string" ? value : `"""${pythonJson(value)}"""`)),
  safe: fn((value) => value),
  capitalize: fn((value) => capitalized(toText(value))),
  title: fn((value) => toText(value).replace(/[^\s([{<-]+/g, capitalized)),
  lower: fn((value) => toText(value).toLowerCase()),
  upper: fn((value) => toText(value).toUpperCase()),
  trim: fn(
    (value, chars) => {
      if (chars === undefined || chars === null) return toText(value).trim();
      const isOff = (one: string | undefined) => one !== undefined && text(chars).includes(one);
      const made = [...toText(value)];
      while (isOff(made[0])) made.shift();
      while (isOff(made.at(-1))) made.pop();
      return made.join("");
    },
    ...["value", "chars"],
  ),
  replace: fn(
    (value, from, to, times) => replaced(toText(value), toText(from), toText(to), times),
    ...["s", "old", "new", "count"],
  ),
  format: open(1, (value, named, ...values) => {
    const isNamed = isMapping(named) && Object.keys(named).length > 0;
    return printed(toText(value), isNamed ? named : tupleOf(values));
  }),
  escape: fn((value) => escaped(toText(value))),
  e: fn((value) => escaped(toText(value))),
  length: fn((value) => items(value).length),
  count: fn((value) => items(value).length),
  first: fn((value) => items(value)[0]),
  last: fn((value) => items(value).at(-1)),
  list: fn((value) => [...items(value)]),
  reverse: fn((value) =>
    typeof value === "string" ? [...value].reverse().join("") : [...items(value)].reverse(),
  ),
  items: fn((value) => {
    if (value === undefined) return [];
    if (isMapping(value)) return Object.entries(value).map((entry) => tupleOf(entry));
    throw new EvaluationError("takes what is no mapping for one");
  }),
  sum: fn(
    (value, attribute, start = 0) =>
      items(value).reduce((sum, one) => calculate("+", sum, pathOf(one, attribute)), start),
    ...["iterable", "attribute", "start"],
  ),
  min: fn(
    (value, isCased, attribute) => leastOf(value, 1, isCased, attribute),
    ...["value", "case_sensitive", "attribute"],
  ),
  max: fn(
    (value, isCased, attribute) => leastOf(value, -1, isCased, attribute),
    ...["value", "case_sensitive", "attribute"],
  ),
  unique: fn(
    (value, isCased, attribute) => {
      const seen: PlainValue[] = [];
      const texts = new Set<string>();
      const isNew = (key: PlainValue) => {
        if (typeof key === "string") return !texts.has(key) && texts.add(key) !== undefined;
        if (seen.length > 1_000) throw new EvaluationError("compares too many values");
        return !seen.some((one) => isEqual(one, key)) && seen.push(key) > 0;
      };
      return items(value).filter((one) => isNew(keyed(pathOf(one, attribute), isCased)));
    },
    ...["value", "case_sensitive", "attribute"],
  ),
  sort: fn(
    (value, isDown, isCased, attribute) => sorted(items(value), attribute, isCased, isDown),
    ...["value", "reverse", "case_sensitive", "attribute"],
  ),
  dictsort: fn(
    (value, isCased, by = "key", isDown = false) => {
      if (!isMapping(value)) throw new EvaluationError("takes what is no mapping for one");
      if (by !== "key" && by !== "value") throw new EvaluationError("sorts by what is no part");
      const pairs = Object.entries(value).map((entry) => tupleOf(entry));
      return sorted(pairs, by === "key" ? 0 : 1, isCased, isDown);
    },
    ...["value", "case_sensitive", "by", "reverse"],
  ),
  groupby: fn(
    (value, attribute, usual, isCased) => {
      const keyOf = (one: PlainValue) => pathOf(one, attribute, usual);
      const groups: { key: PlainValue; shown: PlainValue; all: PlainValue[] }[] = [];
      for (const one of ordered(items(value), (each) => keyed(keyOf(each), isCased), false)) {
        const key = keyed(keyOf(one), isCased);
        const last = groups.at(-1);
        if (last && isEqual(last.key, key)) last.all.push(one);
        else groups.push({ key, shown: keyOf(one), all: [one] });
      }
      return groups.map(({ shown, all }) => tupleOf([shown, all], "grouper", "list"));
    },
    ...["value", "attribute", "default", "case_sensitive"],
  ),
  batch: fn(
    (value, count, fill) => {
      const size = sizeOf(count);
      const made: PlainValue[][] = [];
      for (const one of items(value)) {
        if ((made.at(-1)?.length ?? size) === size) made.push([]);
        made.at(-1)?.push(one);
      }
      const last = made.at(-1);
      while (fill !== undefined && fill !== null && last && last.length < size) last.push(fill);
      return made;
    },
    ...["value", "linecount", "fill_with"],
  ),
  slice: fn(
    (value, count, fill) => {
      const [list, slices] = [items(value), sizeOf(count)];
      const [least, longer] = [Math.floor(list.length / slices), list.length % slices];
      let from = 0;
      return Array.from({ length: slices }, (_, index) => {
        const size = least + (index < longer ? 1 : 0);
        const part = list.slice(from, from + size);
        from += size;
        const isFilled = fill !== undefined && fill !== null && index >= longer;
        return isFilled ? [...part, fill] : part;
      });
    },
    ...["value", "slices", "fill_with"],
  ),
  map: fn(
    (value, name, ...more) => {
      const [attribute, usual] = more.slice(mapNamed - 2);
      if (attribute !== undefined) return items(value).map((one) => pathOf(one, attribute, usual));
      const args = more.slice(0, mapNamed - 2);
      while (args.length > 0 && args.at(-1) === undefined) args.pop();
      return items(value).map((one) => filterNamed(name, one, args));
    },
    ...["value", "name", ...Array<string>(6).fill(""), "attribute", "default"],
  ),
  select: fn((value, ...test) => items(value).filter((one) => isMeant(one, test))),
  reject: fn((value, ...test) => items(value).filter((one) => !isMeant(one, test))),
  selectattr: fn((value, name, ...test) =>
    items(value).filter((one) => isMeant(pathOf(one, name), test)),
  ),
  rejectattr: fn((value, name, ...test) =>
    items(value).filter((one) => !isMeant(pathOf(one, name), test)),
  ),
  join: fn(
    (value, separator = "", attribute) =>
      joined(
        items(value).map((one) => toText(pathOf(one, attribute))),
        toText(separator),
      ),
    ...["value", "d", "attribute"],
  ),
  tojson: fn(
    (value, indent) =>
      pythonJson(value, {
        isSorted: true,
        ...(indent === undefined || indent === null ? {} : { indent: number(indent) }),
      }).replace(/[<>&']/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    ...["value", "indent"],
  ),
  urlencode: fn(urlEncoded),
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
  base64encode: fn((value) => Buffer.from(text(value)).toString("base64")),
  base64decode: fn((value) => Buffer.from(text(value), "base64").toString("utf8")),
  base64binascii_decode: fn((value) => Buffer.from(text(value)).toString("base64")),
  regex_search: fn(
    (value, pattern) => searchPattern(text(pattern), subject(value))?.[1] ?? "",
    ...["value", "regex"],
  ),
  regex_replace: fn(
    (value, pattern, by) => replacePattern(text(pattern), subject(value), text(by)),
    ...["value", "regex", "replacement"],
  ),
};
/** Where the named arguments of `map` stand: what stands before is the mapped filter's. */
const mapNamed = 8;

/** The text that a pattern is tried on. @throws EvaluationError for a number, or nothing */
const subject = (value: PlainValue): string => {
  if (typeof value === "string") return value;
  throw new EvaluationError("tries a pattern on what is no text");
};

const capitalized = (of: string) => of.charAt(0).toUpperCase() + of.slice(1).toLowerCase();

const escaped = (of: string) =>
  of.replace(
    /[&<>"']/g,
    (one) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "#34", "'": "#39" }[one]};`,
  );

const sizeOf = (value: PlainValue): number => {
  const size = number(value);
  if (Number.isInteger(size) && size > 0 && size <= maxParts) return size;
  throw new EvaluationError("makes parts of no size");
};

/** The part on a path with points, as filters name it; the value itself without one. */
function pathOf(value: PlainValue, path: PlainValue, usual?: PlainValue): PlainValue {
  if (path === undefined || path === null) return value;
  if (typeof path === "number") return itemOf(value, path);
  let found = value;
  for (const step of toText(path).split(".")) {
    found = itemOf(found, /^\d+$/.test(step) ? Number(step) : step);
    if (found === undefined && usual !== undefined) found = usual;
  }
  return found;
}

/** Texts are alike whatever their case, where nothing else is said. */
const keyed = (value: PlainValue, isCased: PlainValue): PlainValue =>
  typeof value === "string" && !truth(isCased) ? value.toLowerCase() : value;

function sorted(
  list: readonly PlainValue[],
  attribute: PlainValue,
  isCased: PlainValue,
  isDown: PlainValue,
): PlainValue[] {
  const paths = typeof attribute === "string" ? attribute.split(",") : [attribute];
  const keyOf = (one: PlainValue) => {
    const keys = paths.map((path) => keyed(pathOf(one, path), isCased));
    return keys.length === 1 ? keys[0] : keys;
  };
  return ordered(list, keyOf, truth(isDown));
}

/** Python keeps the order of what is alike, also downwards. */
function ordered(
  list: readonly PlainValue[],
  keyOf: (one: PlainValue) => PlainValue,
  isDown: boolean,
): PlainValue[] {
  return list
    .map((one) => ({ one, key: keyOf(one) }))
    .sort((a, b) => (isDown ? -1 : 1) * compare(a.key, b.key))
    .map(({ one }) => one);
}

function leastOf(value: PlainValue, sign: number, isCased: PlainValue, attribute: PlainValue) {
  const keyOf = (one: PlainValue) => keyed(pathOf(one, attribute), isCased);
  const [first, ...rest] = items(value);
  return rest.reduce(
    (best, one) => (sign * compare(keyOf(one), keyOf(best)) < 0 ? one : best),
    first,
  );
}

function filterNamed(name: PlainValue, value: PlainValue, args: readonly PlainValue[]): PlainValue {
  const known = toText(name);
  const filter = Object.hasOwn(filters, known) ? filters[known] : undefined;
  if (!filter) throw new EvaluationError("calls what is not there");
  const { namedAt } = filter;
  const all = namedAt === undefined ? args : [{}, ...args];
  return filter.call([value, ...all], Number.NaN);
}

/** @throws EvaluationError for a test that is not there */
function isMeant(value: PlainValue, [test, ...others]: readonly PlainValue[]): boolean {
  if (test === undefined) return truth(value);
  const name = testNamed(toText(test));
  if (testNames.includes(name)) return passes(name, value, others);
  throw new EvaluationError("selects by a test that is not supported");
}
