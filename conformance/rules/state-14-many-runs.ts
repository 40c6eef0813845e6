import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import {
  finalState,
  incrementalStreams,
  noIncrementalStream,
  stateText,
} from "../derive/sweeps/reads.ts";
import { type FoundAgain, readFoundAgain } from "./state-14.found-again.ts";
import { growthOf } from "./state-14.growth.ts";
import { lives } from "./state-14.lives.ts";
import { reportNewParent } from "./state-14.new-parent-report.ts";
import { readNewParent } from "./state-14.new-parents.ts";

export default defineRule({
  id: "STATE-14",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "Over many runs, states grow no larger than what there is, and what comes back is read like everything else.",
  why: "Accounts live: folders are deleted, members leave and return. A state that keeps what has gone ends a sync after a year; one that takes it for known never reads it again. A folder that is shared later brings rows that are older than the newest of the others.",
  fix: "Write into a state only what the provider still has, and nothing for each run. Decide by its time whether a row is new, not by whether it was seen, and ask again about a parent that had none. Keep a cursor for each parent: one for all passes over what an added parent had before.",
  good: "cursors: Object.fromEntries(folders.map(({ id }) => [id, cursors[id]]))",
  bad: "cursors: { ...saved.cursors, [folder.id]: newest }; if (saved.done.includes(folder.id)) continue;",
  async notApplicable(lab) {
    if (lab.database) return "the kit brings no rows into a database between two reads";
    return (
      noIncrementalStream(lab) ??
      ((await hasNone(lab))
        ? "no field of the provider's rows is seen to become a cursor"
        : undefined)
    );
  },
  async run(lab, report) {
    const { lives: found, untried } = await lives(lab);
    for (const reason of untried) report.untried(reason);
    for (const stream of incrementalStreams(lab)) {
      const read = await readNewParent(lab, stream, "whole");
      if (read !== undefined) reportNewParent(report, stream, read);
      reportFoundAgain(report, stream, await readFoundAgain(lab, stream));
    }
    for (const life of found) {
      report.checked(life.name);
      const grown = growthOf(life);
      if (grown)
        report.fail(
          `${life.name}: the state grows in every run, by ${grown.perRun} characters, to ${grown.to}; a first read of what there is writes ${grown.fresh}. Its end: ${grown.end}.`,
          textEvidence("The last state", stateText(life.runs.at(-1)?.state)),
        );
      const lossy = life.runs.findIndex(
        ({ difference }) => difference && difference.missing.length + difference.changed.length > 0,
      );
      const run = life.runs[lossy];
      if (!run?.difference) continue;
      report.fail(
        `${life.name}: run ${lossy + 1}, from ${stateText(life.runs[lossy - 1]?.state)}, does not give all rows that are new in it: ${describeDifference({ ...run.difference, extra: [] })}.`,
        messageEvidence("The run", run.observation, []),
        exchangeEvidence("Its requests", run.observation.exchanges),
      );
    }
  },
});

function reportFoundAgain(
  report: Reporter,
  { label }: StreamFacts,
  found: FoundAgain | string | undefined,
): void {
  if (found === undefined) return;
  if (typeof found === "string") {
    report.untried(`${label}, a parent is not found once: ${found}`);
    return;
  }
  const { name, without, next, difference } = found;
  report.checked(name);
  const { missing, changed } = difference;
  if (missing.length + changed.length > 0)
    report.fail(
      `${name}: from ${stateText(finalState(without, { label }))} the next read leaves out what it gives otherwise: ${describeDifference({ missing, changed, extra: [] })}.`,
      exchangeEvidence("The read that did not find it", without.exchanges),
      exchangeEvidence("Requests of the next read", next.exchanges),
    );
}

async function hasNone(lab: Lab): Promise<boolean> {
  const { lives: found, untried } = await lives(lab);
  return found.length + untried.length === 0;
}
