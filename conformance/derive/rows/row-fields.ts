/**
 * Which field of a provider's rows becomes which field of a stream's records. Values tell it, so
 * that renamed and nested ones are found too.
 */
import { canonicalize, isPlainObject, parsePointer, toPointer, valueAt } from "svc-connectors/host";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, nameOf, scalarText } from "../../learn/json.ts";
import { requestedValues } from "../requests/requested-values.ts";
import { compileStreamSchema, schemaAt, typesOf } from "../spec/stream-schema.ts";
import { placesInArrays } from "./array-places.ts";
import { momentOf } from "./moments.ts";
import { type OutputRow, outputRows } from "./rows.ts";

export interface RowField {
  /** JSON pointer into the records. */
  readonly property: string;
  /** As people write it: "owner.name". */
  readonly name: string;
  /** JSON pointer into the provider's rows. */
  readonly pointer: string;
  /** Whose rows agree with the records there. */
  readonly listings: ReadonlySet<Listing>;
  /** The values in the provider's rows, without null and what is missing. */
  readonly values: readonly unknown[];
  /** Types that the schema admits; none where it says nothing. */
  readonly types: readonly string[];
  readonly isKey: boolean;
  readonly isCursor: boolean;
  /** A record always has it. */
  readonly isRequired: boolean;
  /** The connector puts its values into requests: with others it asks for something else. */
  readonly isRequested: boolean;
  /** It stands in an array: the connector may sort the items, or leave some out. */
  readonly isInside: boolean;
  /** True when the schema takes the value. */
  admits(value: unknown): boolean;
}

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

export interface StreamFields {
  readonly stream: StreamFacts;
  /** An undisturbed read. */
  readonly whole: Observation;
  readonly pairs: readonly Pair[];
  readonly fields: readonly RowField[];
  /** Values in arrays of the rows that stand in arrays of the records. */
  readonly inside: readonly RowField[];
}

/** Enough to tell which field is which. */
const most = { listings: 12, rows: 20, records: 200 };

/**
 * A read from the beginning: a full refresh where the stream has one. Done once where nothing
 * disturbs it.
 */
export function readAll(
  lab: Lab,
  stream: StreamFacts,
  runOptions?: RunOptions,
): Promise<Observation> {
  const modes: unknown = stream.stream.supported_sync_modes;
  const isFull = !Array.isArray(modes) || modes.includes("full_refresh");
  const command = lab.readCommand([stream], { syncMode: isFull ? "full_refresh" : "incremental" });
  return runOptions ? lab.run(command, runOptions) : lab.undisturbed(command);
}

/** Done once. Without fields where the paging is not understood, or nothing was recorded. */
export const streamFields = (lab: Lab, stream: StreamFacts): Promise<StreamFields> =>
  lab.once(`row fields ${stream.label}`, () => findFields(lab, stream));

/** The fields of all recorded streams that have any. */
export async function everyStreamFields(lab: Lab): Promise<readonly StreamFields[]> {
  const found: StreamFields[] = [];
  for (const stream of lab.streams.filter(({ recording }) => recording))
    found.push(await streamFields(lab, stream));
  return found.filter(({ fields }) => fields.length > 0);
}

async function findFields(lab: Lab, stream: StreamFacts): Promise<StreamFields> {
  const whole = await readAll(lab, stream);
  const records = outputRows(whole.messages, stream).slice(0, most.records);
  const asked = new Set(
    whole.exchanges.flatMap(({ request }) => lab.learned.listingOf(request) ?? []),
  );
  const listings = [...asked].filter(
    ({ rows, paging }) => rows.length > 0 && paging.style !== "unknown",
  );
  const pairs = listings.slice(0, most.listings).flatMap((listing) => pairsOf(listing, records));
  const requested = requestedValues(whole);
  const properties = new Set([
    ...records.flatMap(({ data }) => [...jsonLeaves(data).keys()]),
    ...declaredOf(stream),
  ]);
  const fields = [...properties].flatMap((property) => {
    const pointer = bestPointer(property, pairs, records);
    return pointer === undefined
      ? []
      : [
          toField(
            stream,
            property,
            pointer,
            agreeing(property, pointer, pairs, records),
            requested,
          ),
        ];
  });
  const inside = [...placesInArrays(pairs, records)].map(
    ([property, { pointer, agreeing: some }]) =>
      toField(stream, property, pointer, some, requested, true),
  );
  return { stream, whole, pairs, fields, inside };
}

const declaredOf = ({ stream }: StreamFacts) =>
  Object.keys((stream.json_schema as { properties?: object }).properties ?? {}).map((name) =>
    toPointer(name),
  );

/** Undefined for null and what is missing. */
export const textOf = (value: unknown) =>
  (value ?? null) === null ? undefined : (scalarText(value) ?? canonicalize(value));
const textsOf = (tree: unknown) =>
  [...jsonLeaves(tree).values()].flatMap((value) => textOf(value) ?? []);

/**
 * Each row with the record that has most of its values; of several, the first that no row has yet.
 */
function pairsOf(listing: Listing, records: readonly OutputRow[]): Pair[] {
  const recordTexts = records.map(({ data }) => textsOf(data));
  const taken = new Set<number>();
  return listing.rows.slice(0, most.rows).flatMap((row) => {
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

function bestPointer(
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
function agreeing(
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

function toField(
  stream: StreamFacts,
  property: string,
  pointer: string,
  pairs: readonly Pair[],
  requested: ReadonlySet<string>,
  isInside = false,
): RowField {
  const path = parsePointer(property);
  const [first = ""] = path;
  const schema = stream.stream.json_schema as { required?: unknown };
  const values = pairs
    .map(({ row }) => valueAt(row, pointer))
    .filter((value) => value !== undefined && value !== null);
  const compiled = compileStreamSchema(propertySchema(schema, path));
  return {
    property,
    name: path.join("."),
    pointer,
    listings: new Set(pairs.map(({ listing }) => listing)),
    values,
    types: typesOf(schemaAt(schema, path)),
    isKey: stream.primaryKey.includes(first),
    isCursor: stream.cursorField === first,
    isRequired:
      path.length === 1 && Array.isArray(schema.required) && schema.required.includes(first),
    isRequested: isAsked(values, requested),
    isInside,
    admits: (value) => compiled.faults({ value }).length === 0,
  };
}

/** The property's schema below a name of its own, with what it may refer to. */
function propertySchema(schema: unknown, path: readonly string[]): object {
  const { $defs, definitions, $schema } = schema as {
    $defs?: object;
    definitions?: object;
    $schema?: string;
  };
  return {
    ...($schema === undefined ? {} : { $schema }),
    ...($defs ? { $defs } : {}),
    ...(definitions ? { definitions } : {}),
    properties: { value: schemaAt(schema, path) ?? {} },
  };
}

/** Short values are found in requests by chance: then all of several have to be there. */
function isAsked(values: readonly unknown[], requested: ReadonlySet<string>): boolean {
  const texts = [
    ...new Set(
      values.flatMap((value) => (typeof value === "boolean" ? [] : (scalarText(value) ?? []))),
    ),
  ].filter((text) => text !== "");
  const asked = texts.filter((text) => requested.has(text));
  return (
    asked.some((text) => text.length > 2) || (texts.length > 1 && asked.length === texts.length)
  );
}

/** The rows of a read, with other values at some fields of those that became records. */
export function changeFields(
  pairs: readonly Pair[],
  change: (pair: Pair, index: number) => ProviderRow,
): { rows(listing: Listing, rows: readonly ProviderRow[]): readonly ProviderRow[] } {
  const changed = new Map(pairs.map((pair, index) => [pair.row, change(pair, index)]));
  return {
    rows: (_, rows) => rows.map((row) => (isPlainObject(row) ? (changed.get(row) ?? row) : row)),
  };
}
