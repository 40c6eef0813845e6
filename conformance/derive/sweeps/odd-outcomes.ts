/**
 * How a run may end that met more than it was made for: whole, with a typed failure, or with a
 * reported skip.
 */
import { isOfClass } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";

/**
 * Describes what is wrong with the end of such a run; undefined when it succeeded, or failed in a
 * way that names the cause.
 * @param usual a run that met nothing of the kind: accidents that happen there as well are reported
 * by ERROR-06
 */
export function untypedEnd(
  { outcome, traces }: Observation,
  usual?: Observation,
): string | undefined {
  const { status, failures } = outcome;
  if (status === "hung") return "it has not ended";
  if (status === "crashed")
    return `it crashed${failures[0] ? ` with "${failures[0].message}"` : ""}`;
  const accident = traces.accidents.find((one) => !usual?.traces.accidents.includes(one));
  if (accident !== undefined) return accident;
  const typed = failures.filter(({ classes }) => classes.length > 0);
  if (
    status === "failed" &&
    typed.length > 0 &&
    typed.every((one) => isOfClass(one, "internal") && one.classes.length === 1)
  )
    return `it failed with "${typed[0]?.message}", as if something inside were broken`;
  return undefined;
}
