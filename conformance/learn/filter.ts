/**
 * Finds the parameter by which a connector asks for newer rows only. `windows.ts` finds those that
 * have an upper bound too.
 */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { LearnedFilter, ProviderRow } from "../contract/learned.ts";
import { jsonLeaves, nameOf, scalarText } from "./json.ts";
import type { RecordedPage } from "./pages.ts";
import { filterName, isInBody, type Parameters, publicName, restText } from "./parameters.ts";

export interface Filter extends LearnedFilter {
  readonly key: string;
  /** Of the upper bound, where there is one. */
  readonly upperKey?: string;
}

export const filterKeys = (filter: Filter | undefined): readonly string[] =>
  filter === undefined
    ? []
    : [filter.key, ...(filter.upperKey === undefined ? [] : [filter.upperKey])];

/** A request's filter as one text: the same for the same rows; "" without one. */
export function filterText(filter: Filter | undefined, parameters: Parameters): string {
  const values = filterKeys(filter).map((key) => parameters.get(key) ?? "");
  return values.some((value) => value !== "") ? values.join("..") : "";
}

/**
 * `ignored`: keys that say the page and its size. Undefined when no parameter is seen to choose
 * rows by a field.
 */
export function findFilter(
  pages: readonly RecordedPage[],
  ignored: readonly string[],
): Filter | undefined {
  const keys = new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  for (const key of keys) {
    if (key.startsWith("@") || ignored.includes(key)) continue;
    const except = new Set([...ignored, key]);
    const alike = Map.groupBy(
      pages,
      ({ exchange }) => `${exchange.url.pathname} ${restText(exchange.parameters, except)}`,
    );
    for (const some of alike.values()) {
      const filter = findField(some, key);
      if (filter) return filter;
    }
  }
  return undefined;
}

function findField(pages: readonly RecordedPage[], key: string): Filter | undefined {
  const bounds = new Set(pages.map(({ exchange }) => exchange.parameters.get(key)));
  if (bounds.size < 2) return undefined;
  const given = [...bounds].filter((bound) => bound !== undefined);
  if (!given.every((bound) => parseTime(bound) !== undefined)) return undefined;
  const rows = uniqueRows(pages.flatMap((page) => page.rows));
  const fields = [...new Set(rows.flatMap((row) => [...jsonLeaves(row).keys()]))];
  const found = fields.flatMap((field) => explainByField(pages, rows, key, field) ?? []);
  return found.sort(
    (one, other) =>
      likeness(other.field, key) - likeness(one.field, key) || other.leftOut - one.leftOut,
  )[0];
}

/** Names that share a word are about the same thing: `updated_since` and `updated_at`. */
export function likeness(field: string, key: string): number {
  const words = publicName(key)
    .toLowerCase()
    .split(/[^a-z]+/);
  const shared = words.filter((word) => word.length > 3 && nameOf(field).includes(word)).length;
  return shared > 0 ? shared + 1 : Number(/updat|modif|chang/.test(nameOf(field)));
}

/** The filter on this field, when it explains which rows were given and which were left out. */
function explainByField(
  pages: readonly RecordedPage[],
  rows: readonly ProviderRow[],
  key: string,
  field: string,
) {
  const times = rows.map((row) => parseTime(scalarText(valueAt(row, field))));
  if (times.every((time) => time === undefined)) return undefined;
  let leftOut = 0;
  let isExclusive = false;
  for (const [text, some] of Map.groupBy(pages, ({ exchange }) => exchange.parameters.get(key))) {
    const bound = parseTime(text);
    if (text === undefined || bound === undefined) continue;
    const given = new Set(some.flatMap((page) => page.rows.map((one) => canonicalize(one))));
    for (const [at, row] of rows.entries()) {
      const time = times[at];
      const isGiven = given.has(canonicalize(row));
      if (isGiven && (time === undefined || time.ms < bound.ms)) return undefined;
      if (isGiven || time === undefined) continue;
      if (time.ms < bound.ms) leftOut++;
      if (time.ms === bound.ms) isExclusive = true;
    }
  }
  if (leftOut === 0 && !(filterName.test(publicName(key)) && likeness(field, key) > 1))
    return undefined;
  const sample = pages
    .map(({ exchange }) => parseTime(exchange.parameters.get(key)))
    .find((one) => one !== undefined);
  const comparison = isExclusive ? (">" as const) : (">=" as const);
  return {
    key,
    parameter: publicName(key),
    isInBody: isInBody(key),
    field,
    comparison,
    unit: sample?.unit ?? ("text" as const),
    leftOut,
  };
}

export const uniqueRows = (rows: readonly ProviderRow[]) => [
  ...new Map(rows.map((row) => [canonicalize(row), row])).values(),
];

interface ParsedTime {
  readonly ms: number;
  readonly unit: LearnedFilter["unit"];
}

/**
 * Seconds since 1970 have ten digits, milliseconds thirteen; other numbers are compared as they
 * are.
 */
export function parseTime(text: string | undefined): ParsedTime | undefined {
  if (text === undefined) return undefined;
  if (/^\d{9,10}(\.\d+)?$/.test(text)) return { ms: Number(text) * 1_000, unit: "seconds" };
  if (/^\d+$/.test(text)) return { ms: Number(text), unit: "milliseconds" };
  if (!/^\d{4}-\d{2}(-\d{2})?/.test(text)) return undefined;
  // Digits beyond milliseconds decide between rows of the same millisecond.
  const finer = Number(`0.${/\.\d{3}(\d+)/.exec(text)?.[1] ?? "0"}`);
  // Without a zone, UTC: not that of the machine on which the kit runs.
  const isLocal = /[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text);
  const ms = Date.parse(`${text.replace(" ", "T")}${isLocal ? "Z" : ""}`);
  return Number.isNaN(ms) ? undefined : { ms: ms + finer, unit: "text" };
}

/** Of `filterText`: whether it has two bounds. */
export const isWindow = (text: string) => text.includes("..");

/**
 * The rows that a request with these parameters is given. One whose field is missing, or no time,
 * as a provider gives it that has changed its form, is as new as it was.
 */
export function filterRows(
  rows: readonly ProviderRow[],
  filter: Filter | undefined,
  parameters: Parameters,
): readonly ProviderRow[] {
  if (filter === undefined) return rows;
  const lower = parseTime(parameters.get(filter.key))?.ms;
  const upper = upperMs(filter, parameters);
  if (lower === undefined && upper === undefined) return rows;
  return rows.filter((row) => {
    const given = valueAt(row, filter.field);
    const time = parseTime(scalarText(given))?.ms;
    if (time === undefined) return given !== null;
    const isNew = lower === undefined || (filter.comparison === ">" ? time > lower : time >= lower);
    if (!isNew || upper === undefined) return isNew;
    return filter.upper?.comparison === "<=" ? time <= upper : time < upper;
  });
}

const dayMs = 86_400_000;

/** The end of the window that the parameters ask for; a date as a whole day ends with the next. */
function upperMs({ upper, upperKey }: Filter, parameters: Parameters): number | undefined {
  const text = upperKey === undefined ? undefined : parameters.get(upperKey);
  const ms = parseTime(text)?.ms;
  return ms !== undefined && upper?.isWholeDay && isDate(text) ? ms + dayMs : ms;
}

export const isDate = (text: string | undefined) => /^\d{4}-\d\d-\d\d$/.test(text ?? "");
