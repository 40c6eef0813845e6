import { defineRule } from "../contract/rule.ts";
import { asksForOrder, type CursorColumn, cursorColumn } from "../derive/cursors.ts";
import { lossyReads, unsortedRows } from "../derive/order.ts";
import { incrementalStreams, noIncrementalStream, stateText } from "../derive/reads.ts";
import { describeDifference } from "../derive/rows.ts";
import { exchangeEvidence, messageEvidence } from "../evidence.ts";
import type { Lab } from "../contract/lab.ts";

/** Cut-off reads per arrangement of the rows. */
const sampled = 4;

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
    const none = noIncrementalStream(lab);
    if (none) return none;
    return (await columnsWithoutOrder(lab)).length > 0 ? undefined : "every listing is asked for in an order, or its cursor field is not known";
  },
  async run(lab, look) {
    for (const column of await columnsWithoutOrder(lab)) {
      const { label } = column.stream;
      const arrangements = unsortedRows(column);
      for (const { name } of arrangements) look.at(`${label}: ${name}`);
      await lossyReads(lab, column, arrangements, sampled, ({ name }, { after, first, resumed, state, difference }) =>
        look.fail(
          `${label}: ${name}; cut off after message ${after} and resumed from ${stateText(state)}, the read ends with ${describeDifference({ ...difference, extra: [] })}. No request asks for an order (sort, order_by, …), so that none can be relied on.`,
          messageEvidence("Until it was cut off", first, [after - 1]),
          exchangeEvidence("Requests of the resumed read", resumed.exchanges),
        ),
      );
    }
  },
});

/** Streams whose rows come in no order that was asked for. */
async function columnsWithoutOrder(lab: Lab): Promise<readonly CursorColumn[]> {
  const columns = await Promise.all(incrementalStreams(lab).map((stream) => cursorColumn(lab, stream)));
  return columns.flatMap((column) => (column && !asksForOrder(column) ? [column] : []));
}
