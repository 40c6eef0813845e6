/** Recognises runs that refuse their configuration. */
import { isOfClass } from "../../contract/lab.ts";
import type { Failure, Observation } from "../../contract/observation.ts";
import { thrownText } from "../leaks/thrown-texts.ts";

/** Texts that no refusal may have: a value that went wrong on its way, a class without a text. */
const odd =
  /of undefined|undefined is|\bNaN\b|\[object Object\]|\b(?:Type|Key|Value|Attribute|Range|Syntax|Reference|Index|Unicode\w+)(?:Error|Exception)\b/i;

const isRaw = (text: string) => thrownText.test(text) || odd.test(text);

/**
 * A failed run whose failures are config errors; where a failed check says no class, one in words
 * that were meant for people.
 */
export function isRefusal({ outcome }: Observation): boolean {
  return (
    outcome.status === "failed" &&
    outcome.failures.some(isConfigFailure) &&
    !outcome.failures.some(({ message }) => isRaw(message))
  );
}

const isConfigFailure = (failure: Failure) =>
  failure.classes.length === 0 || isOfClass(failure, "config");

/** The failure broke something inside the connector instead of being noticed. */
export function isBreakdown({ outcome }: Observation): boolean {
  if (outcome.status === "crashed" || outcome.status === "hung") return true;
  return outcome.failures.some(
    (failure) =>
      isRaw(failure.message) || (failure.classes.length === 1 && isOfClass(failure, "internal")),
  );
}
