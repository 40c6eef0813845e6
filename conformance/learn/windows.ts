/** Finds the two parameters by which a connector asks for the rows of a window of time. */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import { type Filter, isDate, likeness, parseTime, uniqueRows } from "./filter.ts";
import { jsonLeaves, scalarText } from "./json.ts";
import type { RecordedPage } from "./pages.ts";
import { filterName, isInBody, publicName, restText } from "./parameters.ts";

/** Names of parameters behind which no row is given. */
const upperName = /until|before|end|latest|max|(^|[^a-z])(to|lte?)\]?$/i;
const dayMs = 86_400_000;

/** The windows in which one listing was read, and all its rows. */
interface ReadByWindows {
  readonly rows: readonly ProviderRow[];
  readonly windows: readonly Window[];
}

interface Window {
  readonly lower: number;
  readonly upper: number;
  /** The rows that came, as canonical texts. */
  readonly given: ReadonlySet<string>;
}

/**
 * `ignored`: keys that say the page and its size. Undefined unless two windows or more were asked
 * for, and one field explains what each was given.
 */
export function findWindows(
  pages: readonly RecordedPage[],
  ignored: readonly string[],
): Filter | undefined {
  const keys = [
    ...new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()])),
  ].filter((key) => !key.startsWith("@") && !ignored.includes(key) && saysTimes(pages, key));
  for (const key of keys.filter((one) => !upperName.test(publicName(one))))
    for (const upperKey of keys.filter((one) => upperName.test(publicName(one)))) {
      const except = new Set([...ignored, key, upperKey]);
      const alike = Map.groupBy(
        pages,
        ({ exchange }) => `${exchange.url.pathname} ${restText(exchange.parameters, except)}`,
      );
      const filter = findField([...alike.values()], key, upperKey);
      if (filter) return filter;
    }
  return undefined;
}

function saysTimes(pages: readonly RecordedPage[], key: string): boolean {
  const texts = pages.flatMap(({ exchange }) => exchange.parameters.get(key) ?? []);
  return texts.length > 0 && texts.every((text) => parseTime(text) !== undefined);
}

function findField(
  listings: readonly (readonly RecordedPage[])[],
  key: string,
  upperKey: string,
): Filter | undefined {
  const pages = listings.flat();
  const valuesOf = ({ exchange }: RecordedPage) =>
    [exchange.parameters.get(key), exchange.parameters.get(upperKey)] as const;
  const texts = pages.flatMap((page) => valuesOf(page)[1] ?? []);
  if (new Set(pages.map((page) => valuesOf(page).join(" "))).size < 2) return undefined;
  const fields = [
    ...new Set(pages.flatMap((page) => page.rows.flatMap((row) => [...jsonLeaves(row).keys()]))),
  ];
  const sample = pages.flatMap((page) => parseTime(valuesOf(page)[0]) ?? [])[0];
  const found = [false, ...(texts.every(isDate) ? [true] : [])].flatMap((isWholeDay) => {
    const read = listings.map((own) => ({
      rows: uniqueRows(own.flatMap((page) => page.rows)),
      windows: [...Map.groupBy(own, (page) => valuesOf(page).join(" ")).values()].map((some) =>
        toWindow(some, some[0] ? valuesOf(some[0]) : [], isWholeDay),
      ),
    }));
    return fields.flatMap((field) => {
      const seen = explain(read, field);
      return seen && (filterName.test(publicName(key)) || seen.leftBelow > 0)
        ? [{ field, isWholeDay, ...seen }]
        : [];
    });
  });
  const best = found.sort(
    (one, other) =>
      likeness(other.field, key) - likeness(one.field, key) ||
      one.unexplained - other.unexplained ||
      Number(other.isTouching) - Number(one.isTouching) ||
      other.leftBelow + other.leftAbove - one.leftBelow - one.leftAbove,
  )[0];
  if (best === undefined) return undefined;
  const { field, comparison, upperComparison, isWholeDay } = best;
  return {
    key,
    upperKey,
    parameter: publicName(key),
    isInBody: isInBody(key),
    field,
    comparison,
    unit: sample?.unit ?? "text",
    upper: {
      parameter: publicName(upperKey),
      isInBody: isInBody(upperKey),
      comparison: isWholeDay ? "<" : upperComparison,
      ...(isWholeDay ? { isWholeDay } : {}),
    },
  };
}

function toWindow(
  pages: readonly RecordedPage[],
  [lower, upper]: readonly (string | undefined)[],
  isWholeDay: boolean,
): Window {
  return {
    lower: parseTime(lower)?.ms ?? Number.NEGATIVE_INFINITY,
    upper: (parseTime(upper)?.ms ?? Number.POSITIVE_INFINITY) + (isWholeDay ? dayMs : 0),
    given: new Set(pages.flatMap((page) => page.rows.map((row) => canonicalize(row)))),
  };
}

/** Undefined when a window was given a row that this field puts outside of it. */
function explain(listings: readonly ReadByWindows[], field: string) {
  const seen = {
    leftBelow: 0,
    leftAbove: 0,
    lowerGiven: 0,
    lowerLeft: 0,
    upperGiven: 0,
    upperLeft: 0,
    /** Rows of a window that did not come with it. */
    unexplained: 0,
  };
  for (const { rows, windows } of listings)
    for (const row of rows) {
      const time = parseTime(scalarText(valueAt(row, field)))?.ms;
      const text = canonicalize(row);
      for (const { lower, upper, given } of windows) {
        const isGiven = given.has(text);
        if (isGiven && (time === undefined || time < lower || time > upper)) return undefined;
        if (time === undefined) continue;
        if (!isGiven && time < lower) seen.leftBelow++;
        if (!isGiven && time > upper) seen.leftAbove++;
        if (!isGiven && time > lower && time < upper) seen.unexplained++;
        if (time === lower) seen[isGiven ? "lowerGiven" : "lowerLeft"]++;
        if (time === upper) seen[isGiven ? "upperGiven" : "upperLeft"]++;
      }
    }
  // Where no row stands at a border: a window that begins where another ends does not have its end.
  const isTouching = listings.some(({ windows }) =>
    windows.some(({ upper }) => windows.some(({ lower }) => lower === upper)),
  );
  const isExclusive = seen.upperGiven === 0 && (seen.upperLeft > 0 || isTouching);
  return {
    ...seen,
    isTouching,
    comparison: seen.lowerLeft > 0 && seen.lowerGiven === 0 ? (">" as const) : (">=" as const),
    upperComparison: isExclusive ? ("<" as const) : ("<=" as const),
  };
}
