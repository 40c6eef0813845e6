import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { describeDifference } from "../derive/rows/rows.ts";
import { crashSweep } from "../derive/sweeps/crashes.ts";
import {
  finalState,
  incrementalStreams,
  resumableStreams,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { requestsUntilCrash } from "./state-01.last-requests.ts";
import { crashesInLongRead, type LongReadCrash } from "./state-01.long-read.ts";
import { repeatedBeyondCursors } from "./state-01.repeated-rows.ts";

const sampledStreams = 6;

export default defineRule({
  id: "STATE-01",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "A run that is cut off after any message and resumed from its last state loses no row.",
  why: "Syncs are killed, machines go away, destinations fail. A state that runs ahead of its rows loses data for ever, and nobody sees it.",
  fix: "Yield a checkpoint after the rows that it covers, never before, and let it say where to go on, not where reading has been.",
  good: "yield records(page.rows);\nyield checkpoint({ next: page.next });",
  bad: "yield checkpoint({ next: page.next });\nyield records(page.rows);",
  notApplicable: (lab) =>
    resumableStreams(lab).length === 0 ? "no stream can be resumed" : undefined,
  async run(lab, report) {
    const crashes = await crashSweep(lab);
    if (crashes.length === 0)
      report.untried("every read that could be resumed fails, also when nothing cuts it off");
    for (const stream of lab.sample(incrementalStreams(lab), sampledStreams))
      for (const crash of await crashesInLongRead(lab, stream)) reportLongRead(report, crash);
    for (const crash of crashes) {
      if (!crash.isAnswered) {
        report.untried(`${crash.name}: the resumed read asks for what was not recorded`);
        continue;
      }
      report.checked(crash.name);
      const { missing, changed } = crash.difference;
      if (missing.length + changed.length > 0) {
        report.fail(
          `${crash.name}: resumed from ${JSON.stringify(crash.state ?? {})}, the run ends with ${describeDifference({ missing, changed, extra: [] })}.`,
          messageEvidence("Until the crash", crash.first, [crash.first.messages.length - 1]),
          messageEvidence("Resumed", crash.resumed, []),
          requestsUntilCrash(crash.first),
          exchangeEvidence(
            "First requests of the resumed read",
            crash.resumed.exchanges.slice(0, 2),
          ),
        );
      }
      if (lab.settings.capabilities.delivery === "boundary") {
        // STATE-02 reports what a read from the final state repeats.
        const end = finalState(await undisturbed(lab, crash.stream), crash.stream);
        const isEnd = canonicalize(end ?? null) === canonicalize(crash.state ?? null);
        const repeated = isEnd ? [] : repeatedBeyondCursors(crash);
        if (repeated.length > 0)
          report.fail(
            `${crash.name}: rows that the state already covers come again, and they are not those at its cursor (${repeated.slice(0, 3).join(", ")}). Declare delivery: at_least_once in conformance.yaml if destinations must expect this.`,
            messageEvidence("Until the crash", crash.first, [crash.first.messages.length - 1]),
            messageEvidence("Resumed", crash.resumed, []),
            exchangeEvidence(
              "First requests of the resumed read",
              crash.resumed.exchanges.slice(0, 2),
            ),
          );
      }
    }
  },
});

function reportLongRead(report: Reporter, crash: LongReadCrash | string): void {
  if (typeof crash === "string") {
    report.untried(crash);
    return;
  }
  const { name, first, resumed, state, difference } = crash;
  report.checked(name);
  const { missing, changed } = difference;
  if (missing.length + changed.length === 0) return;
  report.fail(
    `${name}: resumed from ${JSON.stringify(state)}, the run ends with ${describeDifference({ missing, changed, extra: [] })}.`,
    messageEvidence("Until the crash", first, [first.messages.length - 1]),
    requestsUntilCrash(first),
    exchangeEvidence("First requests of the resumed read", resumed.exchanges.slice(0, 2)),
  );
}
