/** Changes of a provider's rows over the years: fields change their type, go, and come. */

import { parseExact } from "svc-connectors";
import { canonicalize, isPlainObject, parsePointer } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import {
  changeFields,
  type RowField,
  readAll,
  type StreamFields,
} from "../derive/rows/row-fields.ts";
import { compareRows, type Difference, type OutputRow, outputRows } from "../derive/rows/rows.ts";
import { texts, type ValuePlan } from "../derive/rows/values.ts";
import { scalarText, toText } from "../learn/json.ts";
import { takePollution } from "./schema-06.prototype-pollution.ts";

/**
 * Fields of another type than they were. What fits the schema may be a copy of the value as text,
 * and nothing made up.
 */
export const otherTypes: ValuePlan = {
  name: "another type",
  mayBeRefused: true,
  count: (field) => foreignValuesOf(field).length,
  caseAt(field, n) {
    const all = foreignValuesOf(field);
    const value = all[n % all.length];
    return {
      text: toText(value),
      value,
      isSame: (given) => field.admits(given) && isTextOf(given, value),
    };
  },
  ordinary: (field, n, before) => ordinary(field, n, before),
};

/** Fields that are not there any more. */
export const removedFields: ValuePlan = {
  name: "a removed field",
  mayBeRefused: true,
  count: ({ isRequested, values }) => (isRequested || values.length === 0 ? 0 : 1),
  caseAt: (field) => ({
    text: "no such field",
    value: undefined,
    isSame: (given) =>
      !field.isKey &&
      (given === undefined ? !field.isRequired : given === null && field.admits(null)),
  }),
  ordinary: (field, n, before) => ordinary(field, n, before),
};

export const newWord = "conformance_new";

export const isWord = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z][\w -]{0,30}$/i.test(value);

/** Words that nobody has seen yet, where the provider has a few that come again and again. */
export const newWords: ValuePlan = {
  name: "a new word",
  mayBeRefused: true,
  count: (field) => (isEnumeration(field) ? 1 : 0),
  caseAt: () => ({ text: toText(newWord), value: newWord, isSame: (given) => given === newWord }),
  // The words that are known come through.
  ordinary: (_, __, before) => ({ text: toText(before), value: before, isSame: () => true }),
};

function isEnumeration({ values, isKey, isCursor, isRequested }: RowField): boolean {
  return (
    !isKey &&
    !isCursor &&
    !isRequested &&
    values.every(isWord) &&
    new Set(values).size < values.length
  );
}

const foreignValues = [{ nested: { value: "other" } }, 12345, "twelve", true, ["a", "b"]] as const;

function foreignValuesOf(field: RowField): readonly unknown[] {
  const { values, isRequested, types } = field;
  if (isRequested || values.length === 0 || types.length === 0) return [];
  const isText = types.includes("string");
  const isTime = isText && !field.admits("twelve");
  return foreignValues.filter((value) => {
    if (field.admits(value)) return false;
    // A list may be joined, a number be a time, true be one: what comes out then is a choice, not
    // an accident.
    if (isTime) return typeof value === "object" && !Array.isArray(value);
    return Array.isArray(value) ? !isText : value !== true || isText;
  });
}

function isTextOf(given: unknown, value: unknown): boolean {
  if (typeof given !== "string") return false;
  if (typeof value === "object") return isSameJson(given, value);
  return given.toLowerCase() === (scalarText(value) ?? "").toLowerCase();
}

function isSameJson(text: string, value: unknown): boolean {
  try {
    return canonicalize(parseExact(text)) === canonicalize(value);
  } catch {
    return false;
  }
}

/** A value of the recorded type; the recorded one itself where others are no free text. */
function ordinary(field: RowField, n: number, before: unknown): ReturnType<ValuePlan["ordinary"]> {
  if (texts.count(field) > 0 && before !== null) return texts.ordinary(field, n, before);
  return { text: toText(before), value: before, isSame: () => true };
}

const mark = "conformance_new_field";
const nested = "conformance_new_object";

/** Fields that were not there before. */
export const newFields: readonly { readonly name: string; readonly fields: object }[] = [
  { name: "the provider adds a field", fields: { [mark]: "new", [nested]: { [mark]: ["new"] } } },
  {
    name: "rows have the fields __proto__ and constructor",
    // Own properties: an object literal would set the prototype.
    fields: parseExact(
      `{"__proto__":{"${mark}":"new"},"constructor":{"prototype":{"${mark}":"new"}}}`,
    ) as object,
  },
];

/** A row of a kind that came later: none of its values is known. */
const otherKind: ProviderRow = { object: newWord, type: newWord, kind: newWord, [mark]: "new" };

export interface MixedRead {
  readonly observation: Observation;
  /** Keys of the records that the undisturbed read has and this one has not. */
  readonly missing: readonly string[];
}

/** A row of another kind comes first and last in each listing of the stream. */
export async function readMixed(
  lab: Lab,
  { stream, whole, pairs }: StreamFields,
): Promise<MixedRead> {
  const listings = new Set(pairs.map(({ listing }) => listing));
  const observation = await readAll(lab, stream, {
    provider: lab.learned.provider({
      rows: (listing, rows) => (listings.has(listing) ? [otherKind, ...rows, otherKind] : rows),
    }),
  });
  const { missing } = compareRows(
    outputRows(whole.messages, stream),
    outputRows(observation.messages, stream),
  );
  return { observation, missing };
}

export interface GrownRead {
  readonly observation: Observation;
  /** The difference in the declared fields to an undisturbed read. */
  readonly difference: Difference;
  /** Fields of the records that the undisturbed read does not have. */
  readonly added: readonly string[];
  /**
   * Properties that every object of the process has since then: the prototype of all was written
   * to.
   */
  readonly pollution: readonly string[];
}

/** All rows, and the objects in them, have these fields too. */
export async function readGrown(lab: Lab, facts: StreamFields, fields: object): Promise<GrownRead> {
  const { stream, whole, pairs } = facts;
  const changes = changeFields(pairs, ({ row }) => grown(row, fields) as ProviderRow);
  const { result: observation, pollution } = await takePollution(() =>
    readAll(lab, stream, { provider: lab.learned.provider(changes) }),
  );
  const before = outputRows(whole.messages, stream);
  const after = outputRows(observation.messages, stream);
  const known = new Set(before.flatMap(({ data }) => Object.keys(data)));
  const strange = [...new Set(after.flatMap(({ data }) => Object.keys(data)))].filter(
    (name) => !known.has(name),
  );
  return {
    observation,
    difference: compareRows(
      before.map((row) => only(known, row)),
      after.map((row) => only(known, row)),
    ),
    added: strange,
    pollution,
  };
}

function grown(value: unknown, fields: object): unknown {
  if (!isPlainObject(value)) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, part]) => [name, grown(part, fields)])),
    ...fields,
  };
}

/** The record as it was known, and its objects without what was put into the provider's. */
function only(names: ReadonlySet<string>, { key, data }: OutputRow): OutputRow {
  const kept = Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) =>
      names.has(name) ? [[name, pruned(value)]] : [],
    ),
  );
  return { key, data: kept, content: canonicalize(kept) };
}

const added = new Set(newFields.flatMap(({ fields }) => Object.keys(fields)));

function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      added.has(name) ? [] : [[name, pruned(part)]],
    ),
  );
}

export interface InheritedRead {
  readonly observation: Observation;
  /** Fields of records that have a value which no row has, but only its `__proto__`. */
  readonly inherited: readonly string[];
}

/**
 * Rows lose their free texts, and have a `__proto__` with other ones under the same names.
 * Undefined when there is no such field.
 */
export async function readInherited(
  lab: Lab,
  facts: StreamFields,
): Promise<InheritedRead | undefined> {
  const fields = facts.fields.filter(
    (field) => texts.count(field) > 0 && !field.pointer.slice(1).includes("/"),
  );
  if (fields.length === 0) return undefined;
  const names = new Set(fields.map(({ pointer }) => parsePointer(pointer).join("")));
  const text = "of the prototype";
  const proto = toText(Object.fromEntries([...names].map((name) => [name, text])));
  const changes = changeFields(facts.pairs, ({ row }) => ({
    ...Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name))),
    ...(parseExact(`{"__proto__":${proto}}`) as object),
  }));
  const { result: observation } = await takePollution(() =>
    readAll(lab, facts.stream, { provider: lab.learned.provider(changes) }),
  );
  const rows = outputRows(observation.messages, facts.stream);
  return {
    observation,
    inherited: [
      ...new Set(
        rows.flatMap(({ data }) => Object.keys(data).filter((name) => data[name] === text)),
      ),
    ],
  };
}
