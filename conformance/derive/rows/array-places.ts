/** Where a value inside an array of the provider's rows stands in the arrays of the records. */
import { parsePointer, valueAt } from "svc-connectors/host";
import { arrayLeaves, nameOf } from "../../learn/json.ts";
import { type Pair, textOf } from "./row-pairs.ts";
import type { OutputRow } from "./rows.ts";

interface Place {
  readonly pointer: string;
  /** Rows that have the record's value there. */
  readonly agreeing: readonly Pair[];
}

/** Items of each array: further ones are treated alike. */
const mostItems = 2;

/** By pointer into the records. A value that is converted has none: only the very text counts. */
export function placesInArrays(
  pairs: readonly Pair[],
  records: readonly OutputRow[],
): ReadonlyMap<string, Place> {
  const properties = new Set(
    records.flatMap(({ data }) => [...arrayLeaves(data, mostItems).keys()]),
  );
  const pointers = new Set(pairs.flatMap(({ row }) => [...arrayLeaves(row, mostItems).keys()]));
  const places = new Map<string, Place>();
  for (const property of properties) {
    const [best] = [...pointers]
      .flatMap((pointer) => placeAt(property, pointer, pairs, records) ?? [])
      .sort((one, other) => likeness(property, other) - likeness(property, one));
    if (best) places.set(property, best);
  }
  return places;
}

/** Undefined where a record has another value than its row. */
function placeAt(
  property: string,
  pointer: string,
  pairs: readonly Pair[],
  records: readonly OutputRow[],
): Place | undefined {
  const agreeing: Pair[] = [];
  for (const pair of pairs) {
    const given = textOf(valueAt(pair.row, pointer));
    if (given === undefined) continue;
    if (given !== textOf(valueAt(records[pair.recordIndex]?.data, property))) return undefined;
    agreeing.push(pair);
  }
  return agreeing.length > 0 ? { pointer, agreeing } : undefined;
}

const likeness = (property: string, { pointer, agreeing }: Place) =>
  agreeing.length + (pointer === property ? 1 : nameOf(pointer) === nameOf(property) ? 0.5 : 0);

/** All values in the arrays of the record's field: items may come in another order. */
export const valuesBeside = (
  { property }: { readonly property: string },
  data: OutputRow["data"],
): readonly unknown[] => [...arrayLeaves(data[parsePointer(property)[0] ?? ""]).values()];
