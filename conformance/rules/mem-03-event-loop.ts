import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { largePage, readLargePage } from "../derive/rows/large-page.ts";

/** Processor time that one turn of the event loop may take; ms. */
const mostMs = 200;

/**
 * Times that a page is read at most. A busy machine takes processor time for the same work as it
 * comes, so that one reading blames nobody: the shortest of all counts.
 */
const mostReadings = 5;

export default defineRule({
  id: "MEM-03",
  level: "SHOULD",
  profile: "resilient",
  since: "0.1.0",
  title: `A large page does not block the event loop for more than ${mostMs} ms.`,
  why: "While a page is sorted or parsed in one go, the process answers nobody: heartbeats are missed, a cancel is not heard, and a supervisor takes it for dead.",
  fix: "Do no work on a whole page that grows faster than its rows: no sorting with costly comparisons, no search of each row in all others. Cut large work into pieces.",
  good: "const byId = new Map(rows.map((row) => [row.id, row]));",
  bad: "rows.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));",
  notApplicable: (lab) =>
    lab.can("inside")
      ? undefined
      : "it runs in a process of its own, whose event loop cannot be watched",
  async run(lab, report) {
    // Without such a page there is nothing that could block.
    const page = await largePage(lab);
    if (!page)
      return report.untried(
        "no page of a recorded read can be made larger, so that it could block",
      );
    const { one, rowCount, pageBytes } = page;
    let longestTurnMs = page.longestTurnMs;
    for (let readings = 1; readings < mostReadings && longestTurnMs > mostMs; readings++) {
      const again = await readLargePage(lab);
      longestTurnMs = Math.min(longestTurnMs, again?.longestTurnMs ?? longestTurnMs);
    }
    const name = `${one.stream.label}, a page of ${rowCount} rows (${Math.round(pageBytes / 100_000) / 10} MB)`;
    report.checked(name);
    if (longestTurnMs > mostMs)
      report.fail(
        `${name}: one turn of the event loop took ${Math.round(longestTurnMs)} ms of processor time. Expected: ${mostMs} ms at most.`,
        textEvidence(
          "What counts",
          "Processor time of the thread between two timers of 5 ms while the page is read; the kit's own work to make the page is left out. The page was read five times, and the shortest reading counts.",
        ),
      );
  },
});
