/** Which rules are tried in one process, where there are several. */
import type { Rule } from "../contract/rule.ts";
import { runsOf } from "./yields.ts";

/** Families, and single rules, that look at every run of the sweeps, or make them. */
const ofEveryRun: ReadonlySet<string> = new Set([
  ...["READ", "ERROR", "LEAK", "AUTH", "NET"],
  ...["STATE-01", "RETRY-08"],
]);

/**
 * Rules in groups that look at the same runs: those of a family (PAGE-01, PAGE-02 …), and all that
 * look at every run. What takes most runs comes first.
 */
export function families<Subject>(rules: readonly Rule<Subject>[]): Rule<Subject>[][] {
  const groups = Map.groupBy(rules, ({ id }) => {
    const [family = ""] = id.split("-");
    return ofEveryRun.has(family) || ofEveryRun.has(id) ? "every run" : family;
  });
  return [...groups.values()].toSorted((one, other) => runsOf(other) - runsOf(one));
}
