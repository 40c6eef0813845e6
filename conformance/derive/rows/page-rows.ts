/** Listings with other rows than the recorded ones, and what a read of them has to give. */
import { valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../../contract/learned.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, nameOf, scalarText } from "../../learn/json.ts";
import { listingsOf, type PagedRead } from "../sweeps/pages.ts";
import { underKey } from "./cursors.ts";
import { outputRows } from "./rows.ts";

/** The part of the primary key that tells the rows of some listings apart. */
export interface RowKey {
  /** Property of the records. */
  readonly property: string;
  /**
   * Pointer into the rows of each listing that the records are made from; listings of their parents
   * are not among them.
   */
  readonly fields: ReadonlyMap<Listing, string>;
}

interface Candidate {
  readonly property: string;
  readonly listing: Listing;
  readonly field: string;
  readonly matchCount: number;
  readonly isSameName: boolean;
}

/** Finds it by equal values. Undefined where no field of a row is seen in the records' keys. */
export function rowKeyOf(lab: Lab, { whole, stream }: PagedRead): RowKey | undefined {
  const records = outputRows(whole.messages, stream);
  const listings = listingsOf(lab, whole).filter(
    ({ rows, paging }) => rows.length > 0 && paging.style !== "unknown",
  );
  const best = stream.primaryKey
    .map((property) => {
      const values = new Set(records.map(({ data }) => scalarText(data[property])));
      const fields = new Map(
        listings.flatMap((listing) => {
          const field = fieldFor(property, values, listing);
          return field === undefined ? [] : [[listing, field] as const];
        }),
      );
      return { property, fields, valueCount: values.size };
    })
    .filter(({ fields }) => fields.size > 0)
    // Rows of a parent share their key with many records.
    .sort(
      (one, other) =>
        other.valueCount - one.valueCount || deepest(other.fields) - deepest(one.fields),
    )[0];
  return best && { property: best.property, fields: best.fields };
}

const deepest = (fields: ReadonlyMap<Listing, string>) =>
  Math.max(...[...fields.keys()].map(({ path }) => path.split("/").length));

function fieldFor(
  property: string,
  values: ReadonlySet<string | undefined>,
  listing: Listing,
): string | undefined {
  const pointers = new Set(listing.rows.flatMap((row) => [...jsonLeaves(row).keys()]));
  const candidates = [...pointers].flatMap((field): Candidate[] => {
    const texts = listing.rows.map((row) => scalarText(valueAt(row, field)));
    const matchCount = texts.filter((text) => text !== undefined && values.has(text)).length;
    const isUnambiguous = new Set(texts).size === texts.length && matchCount * 2 > texts.length;
    return isUnambiguous
      ? [
          {
            property,
            listing,
            field,
            matchCount,
            isSameName: nameOf(field) === property.toLowerCase().replaceAll(/[_-]/g, ""),
          },
        ]
      : [];
  });
  const [best] = candidates.sort(
    (one, other) =>
      other.matchCount - one.matchCount || Number(other.isSameName) - Number(one.isSameName),
  );
  return best?.field;
}

export const keyText = (row: ProviderRow | undefined, field: string) =>
  scalarText(valueAt(row, field));

/** Values of the key's property in the records of a run. */
export function givenKeys(
  { stream }: PagedRead,
  { property }: RowKey,
  { messages }: Observation,
): ReadonlySet<string> {
  return new Set(
    outputRows(messages, stream).flatMap(({ data }) => scalarText(data[property]) ?? []),
  );
}

/**
 * Exactly so many rows: the first ones, or all of them and copies under fresh keys, each beside its
 * model.
 */
export function resized(
  rows: readonly ProviderRow[],
  count: number,
  field: string,
  number: number,
): readonly ProviderRow[] {
  if (count <= rows.length || rows.length === 0) return rows.slice(0, count);
  let next = number;
  return rows.flatMap((row, at) => {
    const own = Math.floor(count / rows.length) + (at < count % rows.length ? 1 : 0);
    return Array.from({ length: own }, (_, copy) =>
      copy === 0 ? row : (underKey(row, { keyFields: [field] }, next++) ?? row),
    );
  });
}

/**
 * So many rows in each listing that records are made from. Numbers keep copies of different
 * listings apart.
 */
export function withRowCount(
  { fields }: RowKey,
  countOf: (listing: Listing) => number,
): Pick<Required<ProviderChanges>, "rows"> {
  const numbers = new Map([...fields.keys()].map((listing, at) => [listing, 1 + at * 10_000]));
  const resize = (listing: Listing, rows: readonly ProviderRow[]) => {
    const field = fields.get(listing);
    return field === undefined
      ? rows
      : resized(rows, countOf(listing), field, numbers.get(listing) ?? 1);
  };
  return {
    rows(listing, rows) {
      const whole = wholeOf(listing, fields);
      if (!whole) return resize(listing, rows);
      // Another view of the same rows shows those that are left, in its own order.
      const left = new Set(
        resize(whole, whole.rows).map((row) => keyText(row, fields.get(whole) ?? "")),
      );
      return rows.filter((row) => left.has(keyText(row, fields.get(listing) ?? "")));
    },
  };
}

/**
 * The listing that has all rows of this one and more: the same rows, asked for in another order or
 * from another time on.
 */
function wholeOf(listing: Listing, fields: ReadonlyMap<Listing, string>): Listing | undefined {
  const keysOf = (one: Listing) =>
    new Set(one.rows.map((row) => keyText(row, fields.get(one) ?? "")));
  const own = keysOf(listing);
  return [...fields.keys()].find(
    (other) =>
      other !== listing &&
      other.rows.length > listing.rows.length &&
      [...own].every((key) => keysOf(other).has(key)),
  );
}

/**
 * Keys that a read of the changed listings has to give: of rows that become records, and of their
 * copies.
 */
export function expectedKeys(
  read: PagedRead,
  key: RowKey,
  changes: Pick<Required<ProviderChanges>, "rows">,
): ReadonlySet<string> {
  const usual = givenKeys(read, key, read.whole);
  return new Set(
    [...key.fields].flatMap(([listing, field]) => {
      const known = new Map(listing.rows.map((row) => [keyText(row, field), row]));
      const isLeftOut = (text: string | undefined) =>
        known.has(text) && (text === undefined || !usual.has(text));
      const leftOut = listing.rows.some((row) => isLeftOut(keyText(row, field)));
      return changes.rows(listing, listing.rows, 0).flatMap((row) => {
        const text = keyText(row, field);
        // Where the connector leaves out rows, a copy may be of one of them.
        return text === undefined || isLeftOut(text) || (leftOut && !known.has(text)) ? [] : [text];
      });
    }),
  );
}
