import { messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { expectSame, expectSuccess, noLog, openChanges } from "../derive/changes/changes.ts";

/** Reads that are cut off, over the messages of a whole one. */
const cutReads = 5;
const change = "UPDATE {} SET n = n + 1; INSERT INTO {} SELECT max(id) + 1, 0, 'new', 'x' FROM {}";

export default defineRule({
  id: "CDC-08",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title:
    "The server is let forget only what a state covers that the next read was given: whatever is not saved comes again.",
  why: "The destination commits after the source has written. If the source confirms its place first and the commit fails, the changes are gone from both.",
  fix: "Confirm the place of the state that the run was given, the oldest one of all its streams, and never a place that this run has reached.",
  good: "confirm(min(states.map((state) => state.lsn)))",
  bad: "yield checkpoint({ lsn }); await confirm(lsn);",
  notApplicable: noLog,
  async run(lab, report) {
    const { database } = lab;
    await using changes = await openChanges(lab, report);
    if (!changes || !database) return;
    if (!expectSuccess(report, "the tables are read whole", await changes.read())) return;
    await changes.change(change);
    const forgotten = await changes.read({ isForgotten: true });
    const what = "nothing of a read was saved, and it was repeated";
    if (!expectSuccess(report, what, forgotten)) return;
    const again = await changes.read();
    if (!expectKept(report, what, again)) return;
    await expectSame(database, changes, report, what, again);
    const messageCount = again.messages.length;
    const cuts = Array.from({ length: messageCount - 1 }, (_, at) => at + 1);
    for (const stopAfter of lab.sample(cuts, cutReads)) {
      await changes.change(change);
      await changes.read({ stopAfter });
      const cut = `a read was cut off after message ${stopAfter}, and gone on with`;
      const next = await changes.read();
      if (!expectKept(report, cut, next)) return;
      await expectSame(database, changes, report, cut, next);
    }
  },
});

function expectKept(report: Reporter, what: string, run: Observation): boolean {
  const { status, failures } = run.outcome;
  if (status === "succeeded") return true;
  report.fail(
    `${what}, and the next read ${status}: ${failures[0]?.message ?? "it says nothing"} The server was let forget what no saved state covers.`,
    messageEvidence("The next read", run, []),
  );
  return false;
}
