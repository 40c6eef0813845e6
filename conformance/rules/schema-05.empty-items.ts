/** Arrays with an item that is null or empty: it keeps its position, and so do those behind it. */

import type { RowField } from "../derive/rows/row-fields.ts";
import type { ValuePlan } from "../derive/rows/values.ts";
import { scalarText, toText } from "../learn/json.ts";

/** An item of nothing in place of the first. */
export const emptyItems: ValuePlan = {
  name: "empty items of arrays",
  // Where an object is meant, a connector may say that it needs one.
  mayBeRefused: true,
  count: (field) => emptyFor(field).length,
  caseAt(field, n, before) {
    const all = emptyFor(field);
    const empty = all[n % all.length];
    const value = Array.isArray(before) && before.length > 0 ? before.with(0, empty) : before;
    return { text: shortText(value), value, isSame: (given) => hasAsMany(given, value, empty) };
  },
  /** The recorded array. One that loses items, or is put together of others, is no plain copy. */
  ordinary: (_, __, before) => ({
    text: shortText(before),
    value: before,
    isSame: (given) => lengthOf(given) === lengthOf(before),
  }),
};

/** Those that the schema admits as items of this array. */
function emptyFor(field: RowField): readonly (null | "")[] {
  const arrays = field.values.filter((value) => Array.isArray(value));
  const items = arrays.flat();
  if (field.isInside || field.isKey || field.isCursor || field.isRequested) return [];
  if (items.length === 0 || arrays.length < field.values.length) return [];
  const areTexts = items.every((item) => typeof item === "string");
  return [null, ...(areTexts ? ["" as const] : [])].filter((empty) =>
    arrays.every((array) => array.length === 0 || field.admits(array.with(0, empty))),
  );
}

/** Items may come in another order, and in another form. */
function hasAsMany(given: unknown, value: unknown, empty: unknown): boolean {
  if (!Array.isArray(given) || !Array.isArray(value)) return (given ?? null) === (value ?? null);
  const count = (items: readonly unknown[]) => items.filter((item) => item === empty).length;
  return given.length === value.length && count(given) === count(value);
}

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** Objects in it are left out. */
const shortText = (value: unknown) =>
  Array.isArray(value)
    ? `[${value.map((item) => (item === null || scalarText(item) !== undefined ? toText(item) : "…")).join(",")}]`
    : toText(value);
