import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { isWithin, latest, momentOf } from "../derive/rows/moments.ts";
import { outputRows } from "../derive/rows/rows.ts";
import {
  finalState,
  incrementalStreams,
  isBeyondRecordings,
  noIncrementalStream,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { timedLeaves } from "../derive/sweeps/states.ts";

export default defineRule({
  id: "STATE-02",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "A read from the final state gives no rows, or only those at its cursor.",
  why: "Every sync that reads everything again costs the user requests, time and money, and hides that the cursor does not move.",
  fix: "Let the last checkpoint say the newest cursor value of all rows, over all partitions, and ask only for rows from there on.",
  good: "yield checkpoint({ since: newestOfAll });",
  bad: "yield checkpoint({ since: newestOf[parts[0]] }); // the first part's value wins",
  notApplicable: noIncrementalStream,
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const first = await undisturbed(lab, stream);
      const end = await resumedAtEnd(lab, stream);
      if (first.outcome.status !== "succeeded" || (end && isUnanswered(end.observation))) {
        report.untried(
          `${stream.label}: the read ${first.outcome.status === "succeeded" ? "from its final state asks for what was never recorded" : "from the beginning fails"}`,
        );
        continue;
      }
      report.checked(stream.label);
      if (!end) {
        report.fail(
          `${stream.label}: an incremental read wrote no state, so that the next one begins anew.`,
          messageEvidence("The read", first, []),
        );
        continue;
      }
      const { state, observation } = end;
      if (observation.outcome.status !== "succeeded") {
        report.fail(
          `${stream.label}: a read from its own final state ${stateText(state)} ${observation.outcome.status}: ${observation.outcome.failures[0]?.message ?? "it gave no reason"}`,
          messageEvidence("Resumed from the final state", observation, []),
          exchangeEvidence("Its requests", observation.exchanges),
        );
        continue;
      }
      if (lab.settings.capabilities.delivery === "at_least_once") continue;
      const { cursorField = "" } = stream;
      const rows = outputRows(first.messages, stream);
      const known = new Set(rows.map(({ content }) => content));
      const newest = momentOf(latest(rows.map(({ data }) => data[cursorField])));
      // Partitions have a cursor each: all that the final state says count.
      const borders = timedLeaves(
        finalState(first, stream),
        rows.map(({ data }) => data[cursorField]),
      ).map(({ moment }) => moment);
      const repeated = outputRows(observation.messages, stream).filter(({ content, data }) => {
        const cursor = data[cursorField];
        const isAtBorder =
          borders.some((border) => isWithin(cursor, border)) ||
          (newest !== undefined && isWithin(cursor, newest));
        return known.has(content) && !isAtBorder;
      });
      if (repeated.length > 0)
        report.fail(
          `${stream.label}: resumed from its final state ${stateText(state)}, the read gives ${repeated.length} of ${rows.length} rows again that are not the newest (${repeated
            .slice(0, 3)
            .map(({ key, data }) => `${key} at ${String(data[cursorField])}`)
            .join(
              ", ",
            )}). Declare delivery: at_least_once in conformance.yaml if destinations must expect this.`,
          messageEvidence("Resumed from the final state", observation, []),
          exchangeEvidence("Its requests", observation.exchanges),
        );
    }
  },
});

const isUnanswered = (observation: Observation) =>
  observation.outcome.status !== "succeeded" && isBeyondRecordings(observation);
