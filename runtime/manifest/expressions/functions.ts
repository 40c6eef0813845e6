/**
 * Macros, filters and methods of expressions by their names: functions of plain values, none of
 * them reaches out.
 */
import { EvaluationError } from "./evaluation-error.ts";
import { filters } from "./filters.ts";
import { macros } from "./macros.ts";
import { methods } from "./methods.ts";
import type { PlainValue } from "./values.ts";

const tables = { macro: macros, filter: filters, method: methods };
export type CallKind = keyof typeof tables;
export const callNames: Readonly<Record<CallKind, readonly string[]>> = {
  macro: Object.keys(macros),
  filter: Object.keys(filters),
  method: Object.keys(methods),
};

/** Where an argument of that name stands; undefined when there is none of that name. */
export function argumentIndex(what: CallKind, name: string, argument: string): number | undefined {
  const index = tables[what][name]?.names.indexOf(argument) ?? -1;
  return index === -1 ? undefined : index;
}

/** Where the named arguments of one stand that takes any of them. */
export const namedPlace = (what: CallKind, name: string): number | undefined =>
  tables[what][name]?.namedAt;

/** @throws EvaluationError when the values do not fit */
export function callFunction(
  what: CallKind,
  name: string,
  args: readonly PlainValue[],
  now: number,
): PlainValue {
  const table = tables[what];
  if (!Object.hasOwn(table, name)) throw new EvaluationError("calls what is not there");
  return table[name]?.call(args, now);
}
