/**
 * Types of DuckDB that a stream's schema has no words for. A source that names PostgreSQL's type
 * beside (`native_type`) gives the texts that PostgreSQL writes.
 */
import { type BatchColumn, isValid, type StreamColumn } from "svc-connectors/destination";
import { intervalValues } from "./intervals.ts";
import { type Texts, textAt } from "./strings.ts";

const byPostgresType: ReadonlyMap<string | undefined, string> = new Map([
  ["interval", "INTERVAL"],
  ["time with time zone", "TIMETZ"],
  ["bit varying", "BIT"],
]);

/** Undefined where the column has no such type. */
export const nativeType = ({
  type,
  nativeTypes,
}: Pick<StreamColumn, "type" | "nativeTypes">): string | undefined =>
  type.kind === "text" ? byPostgresType.get(nativeTypes?.postgresql) : undefined;

/** Texts that DuckDB casts to the type, and to the same value: it cuts what has more digits. */
const forms: Readonly<Record<string, RegExp>> = {
  TIMETZ: /^\d\d:\d\d:\d\d(?:\.\d{1,6})?[-+]\d\d(?::\d\d){0,2}$/,
  // There is no empty one.
  BIT: /^[01]+$/,
};

/** Whether all texts are of the type, as far as it can be seen before they are cast. */
export function areOfType(column: BatchColumn & Texts, rowCount: number, type: string): boolean {
  if (type === "INTERVAL") return intervalValues(column, rowCount) !== undefined;
  const form = forms[type];
  if (!form) return true;
  for (let row = 0; row < rowCount; row++)
    if (isValid(column, row) && !form.test(textAt(column, row).toString("latin1"))) return false;
  return true;
}
