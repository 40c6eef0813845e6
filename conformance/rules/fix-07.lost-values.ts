/** Values that an answer has, and that its record has lost: null stands where others arrive. */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { Observation } from "../contract/observation.ts";
import type { RowField, StreamFields } from "../derive/rows/row-fields.ts";
import type { Pair } from "../derive/rows/row-pairs.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { scalarText } from "../learn/json.ts";

export interface LostValue {
  /** Name of the property, as people write it. */
  readonly property: string;
  readonly value: string;
  /** Primary key of the record. */
  readonly key: string;
  readonly whole: Observation;
}

/**
 * For each field of which other values arrive as they are, the first value that became null though
 * the schema admits it. Rows are known by their keys: a stream without one is not looked at.
 */
export function lostValues({ stream, whole, pairs, fields }: StreamFields): readonly LostValue[] {
  const records = outputRows(whole.messages, stream);
  const valuesIn = ({ pointer, property }: RowField, { row, recordIndex }: Pair) =>
    [textOf(valueAt(row, pointer)), textOf(valueAt(records[recordIndex]?.data, property))] as const;
  const arrives = (field: RowField) => (pair: Pair) => {
    const [given, made] = valuesIn(field, pair);
    return given !== undefined && given === made;
  };
  const keys = fields.filter(({ isKey }) => isKey);
  if (keys.length === 0 || keys.length < stream.primaryKey.length) return [];
  const known = pairs.filter((pair) => keys.every((key) => arrives(key)(pair)));
  return fields.flatMap((field) => {
    const own = known.filter(({ listing }) => field.listings.has(listing));
    if (!own.some(arrives(field))) return [];
    for (const pair of own) {
      const [given, made] = valuesIn(field, pair);
      if (given === undefined || made !== undefined || isNothing(given)) continue;
      if (!field.admits(valueAt(pair.row, field.pointer))) continue;
      return [{ property: field.name, value: given, key: pair.key, whole }];
    }
    return [];
  });
}

/** Undefined for null and what is missing. */
const textOf = (value: unknown) =>
  (value ?? null) === null ? undefined : (scalarText(value) ?? canonicalize(value));

/** Forms in which providers write nothing: "", "N/A", "0000-00-00", 0, -1, [], {}. */
const isNothing = (text: string) =>
  /^(?:[\W_0]*|-1|n\/?a|nan|none|nil|null|undefined|unknown|false)$/i.test(text.trim());
