import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { StreamFacts } from "../contract/lab.ts";
import type { Reporter } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { stateText } from "../derive/sweeps/reads.ts";
import type { NewParentRead } from "./state-14.new-parents.ts";

/** Of a parent that came between two reads; STATE-15 asks the same of one that is cut off. */
export function reportNewParent(
  report: Reporter,
  { label }: StreamFacts,
  read: NewParentRead | string,
): void {
  if (typeof read === "string") {
    report.untried(`${label}, another parent comes: ${read}`);
    return;
  }
  const { name, first, next, state, difference } = read;
  report.checked(name);
  if (difference.missing.length + difference.changed.length === 0) return;
  report.fail(
    `${name}: neither the next read, from ${stateText(state)}, nor the one after it gives them: ${describeDifference({ ...difference, extra: [] })}.`,
    messageEvidence("The read before it came", first, []),
    exchangeEvidence("Requests of the next read", next.exchanges),
  );
}
