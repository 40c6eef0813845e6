import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { asksForOrder, type CursorColumn } from "../derive/rows/cursors.ts";
import {
  comparableColumns,
  lossyRead,
  noComparableColumn,
  unsortedRows,
} from "../derive/rows/order.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { noIncrementalStream, reportUntried, stateText } from "../derive/sweeps/reads.ts";

export default defineRule({
  id: "STATE-04",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "The cursor never moves past older rows that are still to come on later pages.",
  why: "Providers seldom promise an order. A cursor that follows the rows as they come passes over older ones, and no later sync reads those.",
  fix: "Ask the provider for an order by the cursor, or keep the page in the state until the pass is over and take the newest value of all rows only then.",
  good: "yield checkpoint({ since: saved.since, pass: { next: page.next } }); // since moves when the pass is over",
  bad: "yield checkpoint({ since: page.rows.at(-1).updated_at });",
  async notApplicable(lab) {
    if (lab.database) return "a table is read in the order that its statement asks for";
    return (
      noIncrementalStream(lab) ??
      ((await columnsWithoutOrder(lab)).length > 0
        ? undefined
        : `every listing is asked for in an order, or ${noComparableColumn}`)
    );
  },
  async run(lab, report) {
    const columns = await columnsWithoutOrder(lab);
    reportUntried(
      lab,
      report,
      columns.map(({ stream }) => stream),
      `it is asked for in an order, or ${noComparableColumn}`,
    );
    for (const column of columns) {
      const { label } = column.stream;
      for (const arrangement of unsortedRows(column)) {
        const subject = `${label}: ${arrangement.name}`;
        const read = await lossyRead(lab, column, arrangement);
        if (typeof read === "string") {
          report.untried(`${subject}: ${read}`);
          continue;
        }
        report.checked(subject);
        if (!read) continue;
        report.fail(
          `${subject}; cut off after message ${read.after} and resumed from ${stateText(read.state)}, the read ends with ${describeDifference({ ...read.difference, extra: [] })}. No request asks for an order (sort, order_by, …), so that none can be relied on.`,
          messageEvidence("Until it was cut off", read.first, [read.after - 1]),
          exchangeEvidence("Requests of the resumed read", read.resumed.exchanges),
        );
      }
    }
  },
});

/** Streams whose rows come in no order that was asked for. */
const columnsWithoutOrder = async (lab: Lab): Promise<readonly CursorColumn[]> =>
  (await comparableColumns(lab)).filter((column) => !asksForOrder(column));
