/**
 * Which field of a provider's rows becomes the cursor of a stream's records, so that rules can
 * change it.
 */
import { valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../../contract/learned.ts";
import { jsonLeaves, scalarText, withValue } from "../../learn/json.ts";
import { undisturbed } from "../sweeps/reads.ts";
import { momentOf } from "./moments.ts";
import { type OutputRow, outputRows } from "./rows.ts";

export interface CursorColumn {
  readonly stream: StreamFacts;
  /** Name of the cursor field in records. */
  readonly cursorField: string;
  /** JSON pointer into the provider's rows. */
  readonly field: string;
  /** Pointers of the fields that identify a row: they hold the primary key. */
  readonly keyFields: readonly string[];
  readonly listings: readonly Listing[];
  /** The longest of them. */
  readonly listing: Listing;
  /** Number of pages that an undisturbed read asks for. */
  readonly pageCount: number;
}

/** Undefined where no field was found, or where the paging is not understood. Done once. */
export const cursorColumn = (lab: Lab, stream: StreamFacts): Promise<CursorColumn | undefined> =>
  lab.once(`cursor column ${stream.label}`, () => findColumn(lab, stream));

async function findColumn(lab: Lab, stream: StreamFacts): Promise<CursorColumn | undefined> {
  const { cursorField, recording } = stream;
  if (cursorField === undefined || recording === undefined) return undefined;
  const { exchanges, messages } = await undisturbed(lab, stream);
  const records = outputRows(messages, stream);
  const asked = exchanges.flatMap(({ request }) => lab.learned.listingOf(request) ?? []);
  const listings = [...new Set(asked)].filter(
    ({ rows, paging }) => rows.length > 0 && paging.style !== "unknown",
  );
  const candidates = listings.flatMap((listing) =>
    fieldsOf(listing).map((field) => ({
      listing,
      field,
      score: countMatches(listing, field, records, stream),
    })),
  );
  const byField = [
    ...Map.groupBy(
      candidates.filter(({ score }) => score > 0),
      ({ field }) => field,
    ).values(),
  ];
  const best = byField.sort((one, other) => rate(other, cursorField) - rate(one, cursorField))[0];
  const longest = best?.toSorted(
    (one, other) => other.listing.rows.length - one.listing.rows.length,
  )[0];
  if (!best || !longest) return undefined;
  const { field, listing } = longest;
  const pageCount = asked.filter((one) => one === listing).length;
  return {
    stream,
    cursorField,
    field,
    keyFields: keyFieldsOf(listing, records, stream),
    listings: best.map((one) => one.listing),
    listing,
    pageCount,
  };
}

const fieldsOf = ({ rows }: Listing) =>
  [...new Set(rows.flatMap((row) => [...jsonLeaves(row).keys()]))].filter((field) => field !== "");

/** Rows whose field says the same moment as the record with the same key. */
function countMatches(
  { rows }: Listing,
  field: string,
  records: readonly OutputRow[],
  { cursorField = "", primaryKey }: StreamFacts,
): number {
  return rows.filter((row) => {
    const moment = momentOf(valueAt(row, field));
    if (moment === undefined) return false;
    const texts = new Set([...jsonLeaves(row).values()].map(scalarText));
    return records.some(({ data }) => {
      const own = momentOf(data[cursorField]);
      if (own === undefined || own.kind !== moment.kind || Math.abs(own.value - moment.value) >= 1)
        return false;
      return (
        primaryKey.length === 0 || primaryKey.some((name) => texts.has(scalarText(data[name])))
      );
    });
  }).length;
}

function rate(
  found: readonly { readonly field: string; readonly score: number }[],
  cursorField: string,
): number {
  const isSameName = found[0]?.field === `/${cursorField}`;
  return found.reduce((sum, { score }) => sum + score, 0) + (isSameName ? 0.5 : 0);
}

/** Fields of the listing's rows that become the primary key of the records. */
export function keyFieldsOf(
  listing: Listing,
  records: readonly OutputRow[],
  { primaryKey }: StreamFacts,
): string[] {
  return primaryKey.flatMap((name) => {
    const values = new Set(records.map(({ data }) => scalarText(data[name])));
    const fits = (field: string) => {
      const texts = listing.rows.map((row) => scalarText(valueAt(row, field)));
      return (
        new Set(texts).size === texts.length &&
        texts.every((text) => text !== undefined && values.has(text))
      );
    };
    return fieldsOf(listing).find(fits) ?? [];
  });
}

/** Changes of the rows of this stream only. */
export const changeRows = (
  { listings }: CursorColumn,
  edit: (
    rows: readonly ProviderRow[],
    listing: Listing,
    requestCount: number,
  ) => readonly ProviderRow[],
): Pick<Required<ProviderChanges>, "rows"> => ({
  rows: (listing, rows, requestCount) =>
    listings.includes(listing) ? edit(rows, listing, requestCount) : rows,
});

export const cursorOf = (row: ProviderRow | undefined, { field }: CursorColumn) =>
  valueAt(row, field);

export const withCursor = (row: ProviderRow, { field }: CursorColumn, value: unknown) =>
  withValue(row, field, value) as ProviderRow;

/**
 * The row under another key, of the same type and length where it is a number or a UUID. Undefined
 * when the key's field is not known.
 */
export function underKey(
  row: ProviderRow,
  { keyFields }: Pick<CursorColumn, "keyFields">,
  number: number,
): ProviderRow | undefined {
  const [field] = keyFields;
  if (field === undefined) return undefined;
  return withValue(row, field, otherKey(valueAt(row, field), number)) as ProviderRow;
}

function otherKey(key: unknown, number: number): unknown {
  if (typeof key === "number") return key + number * 1_000_003;
  if (typeof key === "bigint") return key + BigInt(number) * 1_000_003n;
  const text = String(key);
  if (/^\d+$/.test(text)) return String(BigInt(text) + BigInt(number) * 1_000_003n);
  if (/^[0-9a-f-]{32,36}$/i.test(text))
    return `${(number + 16).toString(16).padStart(8, "0")}${text.slice(8)}`;
  return `${text}-${number}`;
}

/** How the recorded rows stand by their cursor. */
export function directionOf(column: CursorColumn): "ascending" | "descending" | "none" {
  const values = column.listing.rows.flatMap((row) => momentOf(cursorOf(row, column))?.value ?? []);
  if (values.every((value, at) => at === 0 || value >= (values[at - 1] ?? value)))
    return "ascending";
  return values.every((value, at) => at === 0 || value <= (values[at - 1] ?? value))
    ? "descending"
    : "none";
}

/** Names of parameters that ask a provider for an order, and of parts of them: `sort[0][field]`. */
const orderParameter =
  /^((sort|order)(by|key|field|column|dir|direction|order|ing)?|direction|sorts|sorted)$/;
/** Queries as text that do so: `ORDER BY updated`, `tickets(orderBy: UPDATED_ASC)`. */
const orderInQuery = /\bORDER\s+BY\s+\w|\b(orderBy|sortBy|sort|sortKey|order)\s*:\s*[\w{["$]/i;

/** True when the connector asks for an order: then the provider keeps it. */
export function asksForOrder({ listing }: Pick<CursorColumn, "listing">): boolean {
  const isOrder = (part: string) =>
    orderParameter.test(part.toLowerCase().replaceAll(/[^a-z]/g, ""));
  return Object.entries(listing.fixed).some(
    ([name, value]) => name.split(/[^\w-]/).some(isOrder) || orderInQuery.test(value),
  );
}

/** The rows as this provider gives them: by their cursor, where it keeps that order. */
export function inOrder(
  rows: readonly ProviderRow[],
  column: CursorColumn,
): readonly ProviderRow[] {
  const direction = directionOf(column);
  if (direction === "none" && !asksForOrder(column)) return rows;
  const timeOf = (row: ProviderRow) => momentOf(cursorOf(row, column))?.value ?? 0;
  const sorted = rows.toSorted((one, other) => timeOf(one) - timeOf(other));
  return direction === "descending" ? sorted.toReversed() : sorted;
}
