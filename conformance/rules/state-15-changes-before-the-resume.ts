import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { missingText } from "../derive/sweeps/pages.ts";
import {
  incrementalStreams,
  reportUntried,
  resumableStreams,
  stateText,
} from "../derive/sweeps/reads.ts";
import { reportNewParent } from "./state-14.new-parent-report.ts";
import { readNewParent } from "./state-14.new-parents.ts";
import { resumedReads } from "./state-15.changes-between.ts";
import { type ReadInFront, readChangesInFront } from "./state-15.changes-in-front.ts";

export default defineRule({
  id: "STATE-15",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "What is deleted, added or moved between a crash and the resumed run hides no row that was there all the time, none of a parent that came meanwhile, and none that changed.",
  why: "Hours lie between a crash and the next run. A state that names its place by an index or a page number means another place then: rows slide past it, and no later run reads them.",
  fix: "Name the place by what stands there (an id, the provider's token), keep a cursor for each parent, and when the place is gone begin the pass anew rather than behind it.",
  good: "pass: { folder: folder.id, next: page.next }",
  bad: "pass: { folder: 3, page: 7 }",
  async notApplicable(lab) {
    if (lab.database) return "the kit changes no rows of a database between two reads";
    if (resumableStreams(lab).length === 0) return "no stream can be resumed";
    return (await resumedReads(lab)).length > 0
      ? undefined
      : "no read writes a state in the midst of a listing whose rows are known by their keys";
  },
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const read = await readNewParent(lab, stream, "cut");
      if (read !== undefined) reportNewParent(report, stream, read);
      for (const changed of await readChangesInFront(lab, stream)) reportChange(report, changed);
    }
    const reads = await resumedReads(lab);
    reportUntried(
      lab,
      report,
      reads.map(({ stream }) => stream),
      "it is not in the sample, or no read writes a state in the midst of a listing whose rows are known by their keys",
    );
    for (const { name, first, resumed, state, isWhole, missing } of reads) {
      if (isWhole) report.checked(name);
      else report.untried(`${name}: the resumed read fails`);
      if (missing.length > 0)
        report.fail(
          `${name}. Resumed from ${stateText(state)}, the read succeeds, but ${missingText(missing)}, though nothing happened to them.`,
          messageEvidence("Until the crash", first, [first.messages.length - 1]),
          exchangeEvidence("Requests of the resumed read", resumed.exchanges),
        );
    }
  },
});

function reportChange(report: Reporter, read: ReadInFront | string): void {
  if (typeof read === "string") {
    report.untried(read);
    return;
  }
  const { name, first, next, state, difference } = read;
  report.checked(name);
  const { missing, changed } = difference;
  if (missing.length + changed.length === 0) return;
  report.fail(
    `${name}. The resumed read ends with the state ${stateText(state)}, and neither it nor the next one, from that, gives the change: ${describeDifference({ missing, changed, extra: [] })}.`,
    messageEvidence("Until the crash", first, [first.messages.length - 1]),
    exchangeEvidence("Requests of the next read", next.exchanges),
  );
}
