/** Recognises runs that refuse their configuration. */
import { isOfClass } from "../../contract/lab.ts";
import type { Failure, Observation } from "../../contract/observation.ts";

/** Texts of exceptions that nobody has thought of. */
const raw =
  /cannot read propert|is not (?:a function|iterable)|of undefined|undefined is|\bNaN\b|\[object Object\]|maximum call stack|invalid (?:array|string) length|NoneType|Traceback|\b(?:Type|Key|Value|Attribute|Range|Syntax|Reference|Index|Unicode\w+)(?:Error|Exception)\b|NullPointer|panic:/i;

/**
 * A failed run whose failures are config errors; where a failed check says no class, one in words
 * that were meant for people.
 */
export function isRefusal({ outcome }: Observation): boolean {
  return (
    outcome.status === "failed" &&
    outcome.failures.some(isConfigFailure) &&
    !outcome.failures.some(({ message }) => raw.test(message))
  );
}

const isConfigFailure = (failure: Failure) =>
  failure.classes.length === 0 || isOfClass(failure, "config");

/** The failure broke something inside the connector instead of being noticed. */
export function isBreakdown({ outcome }: Observation): boolean {
  if (outcome.status === "crashed" || outcome.status === "hung") return true;
  return outcome.failures.some(
    (failure) =>
      raw.test(failure.message) || (failure.classes.length === 1 && isOfClass(failure, "internal")),
  );
}
