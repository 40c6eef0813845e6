/**
 * Which row of a provider became which record of a stream, and where a value of the record stands
 * in the row: values tell it.
 */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import { jsonLeaves, nameOf, scalarText } from "../../learn/json.ts";
import { momentOf } from "./moments.ts";
import type { OutputRow } from "./rows.ts";

/** A row of the provider and the record that came of it. */
export interface Pair {
  readonly listing: Listing;
  readonly row: ProviderRow;
  readonly recordIndex: number;
  /** Primary key of the record. */
  readonly key: string;
  /** Values that both have. */
  readonly likeness: number;
}

/** Rows of a listing: enough to tell which field is which. */
const mostRows = 20;

/** Undefined for null and what is missing. */
export const textOf = (value: unknown) =>
  (value ?? null) === null ? undefined : (scalarText(value) ?? canonicalize(value));
const textsOf = (tree: unknown) =>
  [...jsonLeaves(tree).values()].flatMap((value) => textOf(value) ?? []);

/**
 * Each row with the record that has most of its values; of several, the first that no row has yet.
 */
export function pairsOf(listing: Listing, records: readonly OutputRow[]): Pair[] {
  const recordTexts = records.map(({ data }) => textsOf(data));
  const taken = new Set<number>();
  return listing.rows.slice(0, mostRows).flatMap((row) => {
    const own = new Set(textsOf(row));
    const counts = recordTexts.map(
      (texts, at) => texts.filter((text) => own.has(text)).length + (taken.has(at) ? 0 : 0.5),
    );
    const recordIndex = counts.indexOf(Math.max(...counts));
    const record = records[recordIndex];
    if (!record || (counts[recordIndex] ?? 0) < 1) return [];
    taken.add(recordIndex);
    return [{ listing, row, recordIndex, key: record.key, likeness: counts[recordIndex] ?? 0 }];
  });
}

/** Undefined where no field of the rows is like the property of the records. */
export function bestPointer(
  property: string,
  pairs: readonly Pair[],
  records: readonly OutputRow[],
): string | undefined {
  const pointers = new Set(pairs.flatMap(({ row }) => [...jsonLeaves(row).keys()]));
  const rated = [...pointers].map((pointer) => ({
    pointer,
    score: rate(property, pointer, pairs, records),
  }));
  const best = rated.sort((one, other) => other.score - one.score)[0];
  return best && best.score >= 0.5 ? best.pointer : undefined;
}

/**
 * 1 when all values are the same, 0.6 when they are nearly so (rounded, say), half a point more for
 * the same name: enough by itself where texts are rewritten, and where no value was ever seen.
 */
function rate(
  property: string,
  pointer: string,
  pairs: readonly Pair[],
  records: readonly OutputRow[],
): number {
  let sum = 0;
  let count = 0;
  let isOther = false;
  for (const { row, recordIndex } of pairs) {
    const [given, made] = [valueAt(row, pointer), valueAt(records[recordIndex]?.data, property)];
    if ((given ?? null) === null && (made ?? null) === null) continue;
    count++;
    const text = textOf(given);
    const isSame = text !== undefined && text === textOf(made);
    sum += isSame ? 1 : isNear(given, made) ? 0.6 : 0;
    isOther ||= typeof given !== typeof made && !isSame;
  }
  return (
    (count === 0 ? 0 : sum / count) +
    (nameOf(pointer) === nameOf(property) && (!isOther || sum > 0) ? 0.5 : 0)
  );
}

/**
 * Names repeat: a parent has a name too. Where no listing agrees, as with rewritten texts, the rows
 * that are most like the records count.
 */
export function agreeing(
  property: string,
  pointer: string,
  pairs: readonly Pair[],
  records: readonly OutputRow[],
): readonly Pair[] {
  const isSame = ({ row, recordIndex }: Pair) => {
    const [given, made] = [valueAt(row, pointer), valueAt(records[recordIndex]?.data, property)];
    return textOf(given) !== undefined && (textOf(given) === textOf(made) || isNear(given, made));
  };
  const listings = new Set(pairs.filter(isSame).map(({ listing }) => listing));
  if (listings.size > 0) return pairs.filter(({ listing }) => listings.has(listing));
  const best = Map.groupBy(pairs, ({ recordIndex }) => recordIndex);
  return [...best.values()].flatMap((some) =>
    some.toSorted((one, other) => other.likeness - one.likeness).slice(0, 1),
  );
}

function isNear(one: unknown, other: unknown): boolean {
  const [left, right] = [momentOf(one), momentOf(other)];
  if (left && right && left.kind === right.kind)
    return (
      Math.abs(left.value - right.value) <
      (left.kind === "time" ? 1_000 : Math.max(0.5, Math.abs(left.value) * 1e-9))
    );
  return false;
}
