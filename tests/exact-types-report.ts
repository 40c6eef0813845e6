/** Compares what arrived with what was there, and tells each difference. */
import type { TypeCase, TypeFamily } from "./exact-types.ts";
import { isSameValue } from "./exact-types-compare.ts";
import {
  type ArrivedColumns,
  columnOf,
  keyOf,
  metaKey,
  type PlaceName,
  placeNames,
} from "./exact-types-places.ts";
import { type Difference, reasons } from "./exact-types-reasons.ts";

export interface Cell {
  readonly text: string;
  /** The same text as in PostgreSQL. */
  readonly isAsIs: boolean;
  /** Numbers of the reasons. */
  readonly notes: readonly number[];
}

export interface ReportedCase {
  readonly about: TypeCase;
  /** As PostgreSQL names it. */
  readonly types: readonly Cell[];
  readonly rows: readonly { readonly value: string; readonly cells: readonly Cell[] }[];
}

export interface TypesReport {
  readonly families: readonly { readonly title: string; readonly cases: readonly ReportedCase[] }[];
  readonly reasons: readonly string[];
  readonly unexplained: readonly string[];
  readonly unusedReasons: readonly string[];
}

export interface Found {
  readonly own: ArrivedColumns;
  readonly asJson: ArrivedColumns;
  readonly arrived: ReadonlyMap<PlaceName, ArrivedColumns>;
}

export function explainTypes(families: readonly TypeFamily[], found: Found): TypesReport {
  const unexplained: string[] = [];
  const used = new Set<number>();
  const explain = (difference: Difference): number[] => {
    const index = reasons.findIndex(({ holds }) => holds(difference));
    if (index < 0) unexplained.push(describe(difference));
    else used.add(index);
    return index < 0 ? [] : [index + 1];
  };

  const report = (family: number, about: TypeCase, index: number): ReportedCase => {
    const key = keyOf(family, index);
    const own = found.own.get(key);
    const asJson = found.asJson.get(key);
    if (!own || !asJson) throw new Error(`${about.type} is not there`);
    const at = (place: PlaceName) => {
      const arrived = found.arrived.get(place)?.get(key);
      if (!arrived) throw new Error(`${about.type} is not in ${place}`);
      return arrived;
    };
    const values = own.values.slice(0, about.values.length);
    const isNoted = (place: PlaceName, row: number) =>
      found.arrived
        .get(place)
        ?.get(metaKey(family))
        ?.values[row]?.includes(`"${columnOf(index)}"`);
    return {
      about,
      types: placeNames.map((place) => {
        const { type } = at(place);
        const difference = { place, about, from: own.type, to: type };
        const isOther = isLesserType(difference);
        return { text: type, isAsIs: false, notes: isOther ? explain(difference) : [] };
      }),
      rows: values.map((value, row) => ({
        value: value ?? "NULL",
        cells: placeNames.map((place) => {
          const text = at(place).values[row] ?? null;
          const expected = expectedOf(about, value ?? "", asJson.values[row] ?? "", row);
          const isNullOfJson =
            place === "JSON lines" && about.form === "json" && expected === "null";
          const isOwn = place === "PostgreSQL" && text === value;
          const isSame =
            isOwn || (text === null ? isNullOfJson : isSameText(about, expected, text, place));
          const plain = text !== null && place === "JSON lines" ? unquoted(text) : text;
          const difference = {
            place,
            about,
            from: own.type,
            to: at(place).type,
            value: value ?? "",
            text,
          };
          if (!isSame && text === null && !isNoted(place, row))
            unexplained.push(`${describe(difference)}, and _svc_meta does not say so`);
          return {
            text: text ?? "null",
            isAsIs: plain === value,
            notes: isSame ? [] : explain(difference),
          };
        }),
      })),
    };
  };

  const reported = families.map(({ title, cases }, family) => ({
    title,
    cases: cases.map((about, index) => report(family, about, index)),
  }));
  return {
    families: reported,
    reasons: reasons.map(({ text }) => text),
    unexplained,
    unusedReasons: reasons.filter((_, index) => !used.has(index)).map(({ text }) => text),
  };
}

/** Arrays are compared as JSON, which some places make of them. */
const expectedOf = ({ form, type, becomes }: TypeCase, own: string, asJson: string, row: number) =>
  becomes?.[row] ?? (form === "json" && type.endsWith("[]") ? asJson : own);

function isSameText({ form }: TypeCase, expected: string, text: string, place: PlaceName): boolean {
  try {
    return isSameValue(
      form,
      expected,
      place === "JSON lines" && form !== "json" ? unquoted(text) : text,
    );
  } catch {
    return false;
  }
}

const unquoted = (text: string) => (text.startsWith('"') ? (JSON.parse(text) as string) : text);

/** A number where the place has more exact types; a text where it has one for these values. */
function isLesserType({ place, about, from, to }: Difference): boolean {
  if (place === "PostgreSQL") return to !== from;
  if (isText(to)) return !isTextual(about, place);
  return place === "JSON lines"
    ? false
    : /^(DOUBLE|Float64)$/i.test(to) && !from.includes("double") && from !== "real";
}

const isText = (type: string) =>
  /^(VARCHAR|JSON|Utf8|Utf8 \(arrow.json\)|STRING|UTF8|string)$/.test(type);

/** Types of which the other places have none of their own. */
function isTextual({ type, form }: TypeCase, place: PlaceName): boolean {
  if (place === "JSON lines")
    return form !== "number" && form !== "json" && !/^(bool|hstore|address)$/.test(type);
  if (/^json/.test(type)) return true;
  if (form !== "text" && form !== "interval") return false;
  if (type === "bool" || type === "uuid" || type.endsWith("[]")) return false;
  return !/^(interval|timetz|mood|bit|address|hstore|money)/.test(type);
}

const describe = ({ place, about, from, to, value, text }: Difference) =>
  [
    place,
    about.type,
    about.about ?? "",
    from,
    "→",
    to,
    value === undefined ? "" : `${value} → ${text}`,
  ].join(" ");
