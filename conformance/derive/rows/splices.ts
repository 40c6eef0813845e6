/**
 * Reads in which the provider's rows hold other values than the recorded ones, and what became of
 * each value.
 */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { ProviderRow } from "../../contract/learned.ts";
import type { Observation, RecordBody } from "../../contract/observation.ts";
import type { Reporter } from "../../contract/rule.ts";
import { withValue } from "../../learn/json.ts";
import { valuesBeside } from "./array-places.ts";
import { namesNews } from "./news.ts";
import {
  changeFields,
  everyStreamFields,
  type RowField,
  readAll,
  type StreamFields,
} from "./row-fields.ts";
import type { Pair } from "./row-pairs.ts";
import { type OutputRow, outputRows } from "./rows.ts";
import type { ValueCase, ValuePlan } from "./values.ts";

export interface ValueFault {
  readonly field: RowField;
  readonly case: ValueCase;
  /** "row 3 of GET /v1/notes". */
  readonly place: string;
  /**
   * changed: another value came out · lost: the record did not come · refused: the run failed in an
   * orderly way, though the value can be represented · crashed: it failed in no orderly way.
   */
  readonly kind: "changed" | "lost" | "refused" | "crashed";
  readonly given: unknown;
  readonly observation: Observation;
  /** Number of the message with the record. */
  readonly message?: number | undefined;
}

export interface ValueTrial {
  /** "notes: number 9007199254740993". */
  readonly subjects: readonly string[];
  readonly faults: readonly ValueFault[];
}

/** Reads that one plan may take for one stream. */
const maxRounds = 4;
/**
 * Fields that lose their values at once, and groups of such fields that are tried. svc's runtime
 * names 20 fields a record.
 */
const maxLost = 10;
const maxGroups = 4;
/** Fields that are tried alone when all together end the run. */
const maxAlone = 6;

/** Tries the plan on all its fields of the stream at once, as often as its values need. */
export async function tryValues(
  lab: Lab,
  facts: StreamFields,
  plan: ValuePlan,
  mostRounds = maxRounds,
): Promise<ValueTrial> {
  const fields = facts.fields.filter((field) => plan.count(field) > 0);
  // A value that few rows have in an array takes no reads of its own.
  const counted = fields.some(({ isInside }) => !isInside)
    ? fields.filter(({ isInside }) => !isInside)
    : fields;
  const counts = counted.map(
    (field) => plan.count(field) / Math.max(1, pairsWith(facts, field).length),
  );
  const own = Math.min(mostRounds, Math.ceil(Math.max(0, ...counts)));
  // Where few rows take many reads, the largest values get one more, in place of no other.
  const rounds = plan.largest && own > 1 ? own + 1 : own;
  const tried: ValueTrial[] = [];
  const groups = layersOf(fields).flatMap((layer) =>
    // A row without its key or cursor may end the run: what becomes of the other fields is seen in
    // runs of their own.
    plan.mayBeRefused
      ? [...batches(layer.filter((field) => !isVital(field))), layer.filter(isVital)]
      : [layer],
  );
  for (const group of lab.sample(
    groups.filter(({ length }) => length > 0),
    maxGroups,
  ))
    for (let round = 0; round < rounds; round++)
      tried.push(
        await tryRound(lab, facts, plan, group, { number: round, isLast: round === rounds - 1 }),
      );
  return {
    subjects: tried.flatMap(({ subjects }) => subjects),
    faults: firstOfEach(tried.flatMap(({ faults }) => faults)),
  };
}

/** Says of a plan that nothing of the stream could be tried with it. */
export const reportUntriedPlan = (report: Reporter, facts: StreamFields, plan: ValuePlan): void =>
  report.untried(
    facts.fields.some((field) => plan.count(field) > 0)
      ? `${facts.stream.label}: ${plan.name}: a read with them asks for what was not recorded`
      : `${facts.stream.label}: ${plan.name}: none of its fields takes them`,
  );

/** Names the streams whose fields nothing is known of. */
export async function reportUnseenStreams(lab: Lab, report: Reporter): Promise<void> {
  const seen = (await everyStreamFields(lab)).map(({ stream }) => stream);
  for (const stream of lab.streams)
    if (!seen.includes(stream))
      report.untried(
        `${stream.label}: ${stream.recording ? "no field of the provider's rows is seen to become one of its own" : "it is not recorded"}`,
      );
}

/** Fields of one place in the rows are tried one after another. */
function layersOf(fields: readonly RowField[]): readonly (readonly RowField[])[] {
  const byPointer = [...Map.groupBy(fields, ({ pointer }) => pointer).values()];
  const depth = Math.max(0, ...byPointer.map(({ length }) => length));
  return Array.from({ length: depth }, (_, at) =>
    byPointer.flatMap((alike) => alike.slice(at, at + 1)),
  );
}

/** A record names only so many of the values that it lost. */
function batches(fields: readonly RowField[]): (readonly RowField[])[] {
  return Array.from({ length: Math.ceil(fields.length / maxLost) }, (_, at) =>
    fields.slice(at * maxLost, (at + 1) * maxLost),
  );
}

const isVital = ({ isKey, isCursor }: RowField) => isKey || isCursor;

/** A few of a kind show what is wrong. */
const firstOfEach = (faults: readonly ValueFault[]) =>
  [...Map.groupBy(faults, ({ field, kind }) => `${field.property} ${kind}`).values()].flatMap(
    (alike) => alike.slice(0, 3),
  );

/** Rows that have the field's place: a stream's fields may come from several listings. */
const pairsWith = ({ pairs }: StreamFields, { pointer, listings }: RowField) =>
  pairs.filter(({ row, listing }) => listings.has(listing) && valueAt(row, pointer) !== undefined);

interface Round {
  readonly number: number;
  readonly isLast: boolean;
}

async function tryRound(
  lab: Lab,
  facts: StreamFields,
  plan: ValuePlan,
  fields: readonly RowField[],
  round: Round,
): Promise<ValueTrial> {
  const largest = largestRows(facts, fields, plan, round);
  const splice = await read(
    lab,
    facts,
    fields,
    (field, n, before, pair) =>
      (largest.get(field) === pair ? plan.largest?.(field) : undefined) ??
      plan.caseAt(field, n, before),
    round.number,
  );
  const { observation, cases } = splice;
  const isCut = isBeyond(observation, facts) || observation.outcome.status !== "succeeded";
  const tryAlone = async (some: readonly RowField[]): Promise<ValueTrial> => {
    const alone: ValueTrial[] = [];
    for (const field of lab.sample(some, maxAlone))
      alone.push(await tryRound(lab, facts, plan, [field], round));
    return {
      subjects: alone.flatMap(({ subjects }) => subjects),
      faults: alone.flatMap(({ faults }) => faults),
    };
  };
  if (isCut && fields.length > 1) return await tryAlone(fields);
  if (isBeyond(observation, facts)) return { subjects: [], faults: [] };
  const subjects = cases.map(
    ({ field, case: { text } }) => `${facts.stream.label}: ${field.name} ${text}`,
  );
  const isImage = lab.target.kind === "container";
  const suspicious = judge(facts, splice, { mayBeRefused: plan.mayBeRefused, isImage });
  if (suspicious.length === 0) return { subjects, faults: [] };
  // Another field may be what changed it.
  if (fields.length > 1) {
    const { faults } = await tryAlone([...new Set(suspicious.map(({ field }) => field))]);
    return { subjects, faults };
  }
  // A field that everyday values do not pass through either is converted, or decides which rows are
  // wanted.
  const control = await read(
    lab,
    facts,
    fields,
    (field, n, before) => plan.ordinary(field, n, before),
    round.number,
  );
  const opaque = new Set(
    judge(facts, control, { mayBeRefused: false, isImage }).map(({ field }) => field),
  );
  if (isBeyond(control.observation, facts)) return { subjects: [], faults: [] };
  return { subjects, faults: suspicious.filter(({ field }) => !opaque.has(field)) };
}

/** The row of each field that has the largest value, in the last read: the last one. */
const largestRows = (
  facts: StreamFields,
  fields: readonly RowField[],
  plan: ValuePlan,
  { isLast }: Round,
): ReadonlyMap<RowField, Pair | undefined> =>
  new Map(
    plan.largest && isLast
      ? fields.map((field) => [field, pairsWith(facts, field).at(-1)] as const)
      : [],
  );

interface Splice {
  readonly observation: Observation;
  readonly fields: readonly RowField[];
  readonly cases: readonly {
    readonly field: RowField;
    readonly pair: Pair;
    readonly case: ValueCase;
  }[];
}

async function read(
  lab: Lab,
  facts: StreamFields,
  fields: readonly RowField[],
  choose: (field: RowField, n: number, before: unknown, pair: Pair) => ValueCase,
  round: number,
): Promise<Splice> {
  const cases: Splice["cases"][number][] = [];
  const { pairs } = facts;
  const changes = changeFields(pairs, (pair, index) =>
    fields.reduce<ProviderRow>((row, field) => {
      const before = valueAt(pair.row, field.pointer);
      if (before === undefined || !field.listings.has(pair.listing)) return row;
      const chosen = choose(
        field,
        index + facts.fields.indexOf(field) + round * pairs.length,
        before,
        pair,
      );
      cases.push({ field, pair, case: chosen });
      return withValue(row, field.pointer, chosen.value) as ProviderRow;
    }, pair.row),
  );
  const observation = await readAll(lab, facts.stream, { provider: lab.learned.provider(changes) });
  return { observation, fields, cases };
}

/**
 * The stand-in for the provider could not answer: the values were more than data to the connector.
 */
function isBeyond({ exchanges }: Observation, { whole }: StreamFields): boolean {
  const refusals = (observation: Pick<Observation, "exchanges">) =>
    observation.exchanges.filter(
      ({ answer, unmatched }) => unmatched !== undefined || (answer?.status ?? 0) >= 400,
    ).length;
  return refusals({ exchanges }) > refusals(whole);
}

function judge(
  facts: StreamFields,
  { observation, fields, cases }: Splice,
  { mayBeRefused, isImage }: { readonly mayBeRefused: boolean; readonly isImage: boolean },
): ValueFault[] {
  const { stream, whole } = facts;
  const records = outputRows(observation.messages, stream);
  const recordCount = outputRows(whole.messages, stream).length;
  const byKey = new Map(records.map((record) => [record.key, record]));
  const isKeyChanged =
    stream.primaryKey.length === 0 ||
    byKey.size < records.length ||
    fields.some(({ isKey }) => isKey);
  const { status, failures } = observation.outcome;
  const isOrderly =
    status === "failed" &&
    failures.length > 0 &&
    failures.every(({ classes }) => !(classes.length === 1 && classes[0] === "internal"));
  return cases.flatMap(({ field, pair, case: one }) => {
    const inPlace =
      records.length >= recordCount || isKeyChanged ? records[pair.recordIndex] : undefined;
    const record = (isKeyChanged ? undefined : byKey.get(pair.key)) ?? inPlace;
    const given = valueAt(record?.data, field.property);
    const place = `row ${pair.listing.rows.indexOf(pair.row) + 1} of ${pair.listing.id}`;
    const fault = (kind: ValueFault["kind"]): ValueFault[] => {
      const message =
        kind === "lost" || !record
          ? undefined
          : messageOf(observation, stream.label, records.indexOf(record));
      return [
        {
          field,
          case: one,
          place,
          kind,
          given,
          observation,
          message,
        },
      ];
    };
    if (record && one.isSame(given)) return [];
    // Airbyte's CDK leaves out fields that are null, whoever writes the source: no column differs.
    if (record && isImage && one.value === null && given === undefined) return [];
    // Rows may come in another order, or several of one: what stands anywhere has come through.
    if (isInformative(one) && records.some(({ data }) => valuesOf(field, data).some(one.isSame)))
      return [];
    if (status !== "succeeded")
      return isOrderly ? (mayBeRefused ? [] : fault("refused")) : fault("crashed");
    if (!record)
      return mayBeRefused && namesNews(observation, whole, field.name) ? [] : fault("lost");
    if (isUntouched(facts, field, pair, one, given)) return [];
    // A key tells rows apart: the record in this place is another row's.
    if (field.isKey && isOfOthers(given, field, cases, records)) return fault("lost");
    if (
      cases.some(
        (other) => other.field === field && isRival(other.pair, pair) && other.case.isSame(given),
      )
    )
      return [];
    return mayBeRefused && isNulled(given) && isNoted(observation, record, records, facts, field)
      ? []
      : fault("changed");
  });
}

const valuesOf = (field: RowField, data: OutputRow["data"]) =>
  field.isInside ? valuesBeside(field, data) : [valueAt(data, field.property)];

/** Nothing of a value is left: a list may keep its length. */
const isNulled = (given: unknown): boolean =>
  given === null || given === undefined || (Array.isArray(given) && given.every(isNulled));

/** Where several rows look like one record, it may be made of another of them. */
const isRival = (one: Pair, other: Pair) => one !== other && one.recordIndex === other.recordIndex;

/** True when rows with this very value account for all the records that have it. */
function isOfOthers(
  given: unknown,
  field: RowField,
  cases: Splice["cases"],
  records: readonly OutputRow[],
): boolean {
  const own = cases.filter((one) => one.field === field && one.case.isSame(given)).length;
  const text = canonicalize(given ?? null);
  const count = records.filter(
    ({ data }) => canonicalize(valueAt(data, field.property) ?? null) === text,
  ).length;
  return own > 0 && own >= count;
}

/**
 * True when the field comes from somewhere else: the row has another value now, and the record is
 * as it was.
 */
function isUntouched(
  { stream, whole }: StreamFields,
  field: RowField,
  pair: Pair,
  one: ValueCase,
  given: unknown,
): boolean {
  const recorded = valueAt(
    outputRows(whole.messages, stream)[pair.recordIndex]?.data,
    field.property,
  );
  const isChanged = canonicalize(valueAt(pair.row, field.pointer)) !== canonicalize(one.value);
  return isChanged && (recorded ?? null) !== null && canonicalize(recorded) === canonicalize(given);
}

/** Nothing else in the rows looks like it. */
const isInformative = ({ value }: ValueCase) =>
  value !== null && value !== undefined && value !== "";

function isNoted(
  observation: Observation,
  record: OutputRow,
  records: readonly OutputRow[],
  { stream, whole }: StreamFields,
  field: RowField,
): boolean {
  const at = messageOf(observation, stream.label, records.indexOf(record));
  const message = observation.messages[at ?? -1]?.message;
  return (
    (message?.type === "RECORD" && isNulledIn(message.record, field.name)) ||
    namesNews(observation, whole, field.name)
  );
}

/** The record says itself that the field lost its value. @see AirbyteRecordMessageMeta */
export function isNulledIn({ meta }: RecordBody, name: string): boolean {
  const changes = Array.isArray(meta?.changes) ? meta.changes : [];
  const fields = changes.flatMap((change) =>
    typeof change === "object" && change !== null && "field" in change
      ? [String(change.field)]
      : [],
  );
  return fields.some(
    (field) => field === name || field.startsWith(`${name}.`) || name.startsWith(`${field}.`),
  );
}

/** Number of the message with the nth record of a stream. */
export function messageOf(
  { messages }: Observation,
  label: string,
  nth: number,
): number | undefined {
  let count = -1;
  const at = messages.findIndex(({ message }) => {
    if (message.type !== "RECORD") return false;
    const { stream, namespace } = message.record;
    return (namespace ? `${namespace}.${stream}` : stream) === label && ++count === nth;
  });
  return at < 0 ? undefined : at;
}
