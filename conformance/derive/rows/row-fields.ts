/**
 * The fields of a provider's rows that become fields of a stream's records, renamed and nested ones
 * too.
 */
import { isPlainObject, parsePointer, toPointer, valueAt } from "svc-connectors/host";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, scalarText } from "../../learn/json.ts";
import { requestedValues } from "../requests/requested-values.ts";
import { compileStreamSchema, schemaAt, typesOf } from "../spec/stream-schema.ts";
import { placesInArrays } from "./array-places.ts";
import { agreeing, bestPointer, type Pair, pairsOf } from "./row-pairs.ts";
import { outputRows } from "./rows.ts";

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
const most = { listings: 12, records: 200 };

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
