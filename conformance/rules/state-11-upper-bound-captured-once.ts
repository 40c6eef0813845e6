import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { incrementalStreams, noIncrementalStream, stateText } from "../derive/sweeps/reads.ts";
import {
  canChange,
  changesWhileReading,
  datedColumn,
  readWhileChanging,
} from "./state-11.moving-provider.ts";

export default defineRule({
  id: "STATE-11",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "The upper bound is taken once, when a read begins; rows that change during it come in the next one.",
  why: "A cursor that is the time at which the read ended passes over everything that changed while it ran: on a busy account that is something in every sync.",
  fix: "Take the time (or the newest value) before the first request, keep it in the state of the pass, and never let the cursor go beyond it.",
  good: "const bound = saved.pass?.bound ?? now(); … yield checkpoint({ since: earlier(newest, bound) });",
  bad: "… yield checkpoint({ since: now() }); // after the last page",
  async notApplicable(lab) {
    if (lab.database) return "PAGE-06 changes the rows of a database while they are read";
    const none = noIncrementalStream(lab);
    if (none) return none;
    const columns = await Promise.all(
      incrementalStreams(lab).map((stream) => datedColumn(lab, stream)),
    );
    return columns.some(Boolean)
      ? undefined
      : "no stream has a state that says a time, several pages or parents of rows whose cursor the kit can change, and a recording that resumes it";
  },
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const column = await datedColumn(lab, stream);
      if (!column) continue;
      for (const change of changesWhileReading.filter((one) => canChange(column, one))) {
        const subject = `${stream.label}: a row that was read is ${change.name}`;
        const read = await readWhileChanging(lab, column, change);
        if (typeof read === "string") {
          report.untried(`${subject}: ${read}`);
          continue;
        }
        report.checked(subject);
        const { missing, changed } = read.difference;
        if (missing.length + changed.length === 0) continue;
        report.fail(
          `${stream.label}: a row that was already read is ${change.name}. That read ends with the state ${stateText(read.state)}, and the next one, from it, does not give the change: ${describeDifference({ missing, changed, extra: [] })}.`,
          messageEvidence("The read during which it changed", read.first, []),
          exchangeEvidence("Requests of the next read", read.next.exchanges),
        );
      }
    }
  },
});
