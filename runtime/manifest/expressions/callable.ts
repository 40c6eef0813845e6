/** The form that macros, filters and methods share: functions of plain values. */
import { momentOf } from "./dates.ts";
import type { Moment } from "./moment.ts";
import type { PlainValue } from "./values.ts";

/** @param now of the clock, in milliseconds */
export type Fn = (args: readonly PlainValue[], now: number) => PlainValue;
export interface Callable {
  readonly call: Fn;
  /** By which its arguments may be named, the one before a `|` or `.` included. */
  readonly names: readonly string[];
  /** Where a mapping of the named arguments stands, for one that takes any. */
  readonly namedAt?: number;
}
export const fn = (
  call: (...args: readonly PlainValue[]) => PlainValue,
  ...names: string[]
): Callable => ({
  call: (args) => call(...args),
  names,
});
/** One that takes arguments of any name: they are the argument at that place. */
export const open = (
  namedAt: number,
  call: (...args: readonly PlainValue[]) => PlainValue,
): Callable => ({ ...fn(call), namedAt });
export const timed = (
  call: (now: Moment, ...args: readonly PlainValue[]) => PlainValue,
  ...names: string[]
): Callable => ({
  call: (args, now) => call(momentOf(now), ...args),
  names,
});
