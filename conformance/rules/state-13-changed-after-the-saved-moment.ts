import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { noIncrementalStream, reportUntried, stateText } from "../derive/sweeps/reads.ts";
import { datedColumns, type LaterRead, laterReads } from "./state-13.later-rows.ts";
import { type BorderRead, readAtBorders } from "./state-13.window-borders.ts";

export default defineRule({
  id: "STATE-13",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title:
    "Every row that changes at or after the saved moment is in the next read, whatever its precision and offset.",
  why: "A time that is saved to the second and asked for to the millisecond, that loses its offset, or is an hour off when summer time ends, passes over rows in silence: a few in every sync.",
  fix: "Save the provider's own text of the newest time, send it back as it was, and compare times as times. Where the provider takes coarser times than it gives, round down. Let each window of time begin where the one before ends, and the last one end when the read begins.",
  good: "query: { since: saved.since } // every digit and the offset, as the row had it",
  bad: "since: Math.round(Date.parse(row.updated_at) / 1000), row.updated_at.slice(0, 19)",
  async notApplicable(lab) {
    if (lab.database) return "the kit changes no rows of a database between two reads";
    return (
      noIncrementalStream(lab) ??
      ((await laterReads(lab)).length + (await borderReads(lab)).length > 0
        ? undefined
        : "no state says a time that is seen to come from the provider's rows, or a read from it does not give what changed days later")
    );
  },
  async run(lab, report) {
    const reads = await laterReads(lab);
    reportUntried(
      lab,
      report,
      reads.map(({ stream }) => stream),
      "its state says no time that is seen to come from the provider's rows, or a read from it does not give what changed days later",
    );
    for (const read of await borderReads(lab)) {
      if (typeof read === "string") {
        report.untried(read);
        continue;
      }
      const { name, first, next, state, lost } = read;
      report.checked(name);
      if (lost.length > 0)
        report.fail(
          `${name}; neither the read nor the next one, from ${stateText(state)}, gives those of ${lost.slice(0, 3).join(", ")}. Let each window begin where the one before ends, and the last one end when the read begins.`,
          exchangeEvidence("Requests of the first read", first.exchanges),
          exchangeEvidence("Requests of the next read", next.exchanges),
        );
    }
    for (const read of reads) {
      const { name, first, next, state, unreadable } = read;
      report.checked(name);
      const problem =
        unreadable === undefined ? problemOf(read) : `asks for ${unreadable}, which is no time`;
      if (problem !== undefined)
        report.fail(
          `${name}; the next read, from ${stateText(state)}, ${problem}.`,
          messageEvidence("The first read", first, []),
          exchangeEvidence("Requests of the next read", next.exchanges),
        );
    }
  },
});

/** Of the streams that read by windows. Done once. */
const borderReads = (lab: Lab): Promise<readonly (BorderRead | string)[]> =>
  lab.once("reads of rows at the borders of windows", async () => {
    const found: (BorderRead | string)[] = [];
    for (const column of await datedColumns(lab)) {
      const read = await readAtBorders(lab, column);
      if (read) found.push(typeof read === "string" ? `${column.stream.label}: ${read}` : read);
    }
    return found;
  });

function problemOf({ next, difference, isFarRead }: LaterRead): string | undefined {
  const { outcome } = next;
  if (outcome.status !== "succeeded")
    return `${outcome.status}: ${outcome.failures[0]?.message ?? "it gives no reason"}`;
  const { missing, changed } = difference;
  if (missing.length + changed.length === 0) return undefined;
  const none = isFarRead ? "" : ", not even a row that changed days later";
  return `does not give all of them${none}: ${describeDifference({ missing, changed, extra: [] })}`;
}
