import { defineRule } from "../contract/rule.ts";
import { cursorColumn } from "../derive/cursors.ts";
import { lossyReads, tiedRows } from "../derive/order.ts";
import { incrementalStreams, noIncrementalStream, stateText } from "../derive/reads.ts";
import { describeDifference } from "../derive/rows.ts";
import { exchangeEvidence, messageEvidence } from "../evidence.ts";

/** Cut-off reads per arrangement of the rows. */
const sampled = 4;

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
    const columns = await Promise.all(incrementalStreams(lab).map((stream) => cursorColumn(lab, stream)));
    return noIncrementalStream(lab) ?? (columns.some(Boolean) ? undefined : "no field of the provider's rows is seen to become a cursor");
  },
  async run(lab, look) {
    for (const stream of incrementalStreams(lab)) {
      const column = await cursorColumn(lab, stream);
      if (!column) continue;
      const arrangements = tiedRows(column);
      for (const { name } of arrangements) look.at(`${stream.label}: ${name}`);
      await lossyReads(lab, column, arrangements, sampled, ({ name }, { after, first, resumed, state, difference }) =>
        look.fail(
          `${stream.label}: ${name}; cut off after message ${after} and resumed from ${stateText(state)}, the read ends with ${describeDifference({ ...difference, extra: [] })}.`,
          messageEvidence("Until it was cut off", first, [after - 1]),
          exchangeEvidence("Requests of the resumed read", resumed.exchanges),
        ),
      );
    }
  },
});
