import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { statementsText } from "../derive/database/faults.ts";
import {
  comparableColumns,
  lossyRead,
  noComparableColumn,
  tiedRows,
} from "../derive/rows/order.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { noIncrementalStream, reportUntried, stateText } from "../derive/sweeps/reads.ts";
import { streamsWithTies, tiedReads } from "./state-03.tied-rows.ts";

export default defineRule({
  id: "STATE-03",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "Rows with equal cursor values on both sides of a page or checkpoint are all read.",
  why: "Bulk edits give hundreds of rows the same time. A resume that asks for newer rows than the last one skips the rest of them for ever.",
  fix: "Ask for rows from the cursor value on (>=), not after it, or write a checkpoint only between different values; keep every digit of the value.",
  good: "query: { since: saved.since } // the provider gives updated_at >= since",
  bad: "rows.filter((row) => row.updated_at > saved.since)",
  async notApplicable(lab) {
    if (lab.database)
      return (await streamsWithTies(lab)).length > 0
        ? undefined
        : "no table has a cursor in which two rows could have the same value";
    return (
      noIncrementalStream(lab) ??
      ((await comparableColumns(lab)).length > 0 ? undefined : noComparableColumn)
    );
  },
  async run(lab, report) {
    if (lab.database) return await tryTables(lab, report);
    const columns = await comparableColumns(lab);
    reportUntried(
      lab,
      report,
      columns.map(({ stream }) => stream),
      noComparableColumn,
    );
    for (const column of columns) {
      const { label } = column.stream;
      for (const arrangement of tiedRows(column)) {
        const subject = `${label}: ${arrangement.name}`;
        const read = await lossyRead(lab, column, arrangement);
        if (typeof read === "string") {
          report.untried(`${subject}: ${read}`);
          continue;
        }
        report.checked(subject);
        if (!read) continue;
        report.fail(
          `${subject}; cut off after message ${read.after} and resumed from ${stateText(read.state)}, the read ends with ${describeDifference({ ...read.difference, extra: [] })}.`,
          messageEvidence("Until it was cut off", read.first, [read.after - 1]),
          exchangeEvidence("Requests of the resumed read", read.resumed.exchanges),
        );
      }
    }
  },
});

async function tryTables(lab: Lab, report: Reporter): Promise<void> {
  for (const stream of await streamsWithTies(lab))
    for (const { name, resumed, difference } of await tiedReads(lab, stream)) {
      report.checked(`${stream.label}: ${name}`);
      if (difference.missing.length > 0)
        report.fail(
          `${stream.label}: ${name}, the read ends with ${describeDifference({ ...difference, extra: [] })}.`,
          textEvidence("Statements of the resumed read", statementsText(resumed)),
        );
    }
}
