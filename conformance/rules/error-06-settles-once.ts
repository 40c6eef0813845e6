import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, NamedRun } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";

/**
 * The replay's own: one for each request that it answered. The connections of a connector are
 * counted at the fault server.
 */
const isOfReplay = (handle: string) => /\bTCPSocketWrap$/.test(handle);

export default defineRule({
  id: "ERROR-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "When a run has ended, it has ended: no unhandled rejection, exception or warning comes after it, and nothing stays open.",
  why: "A promise that nobody awaits kills the process in the middle of somebody else's sync. What stays open piles up until the service is restarted.",
  fix: "Await or catch every promise that you start, and close in `finally` what you open: timers, listeners, connections.",
  good: "await Promise.all(pages.map(readPage));",
  bad: "pages.forEach(readPage); // nobody awaits them",
  notApplicable: (lab: Lab) =>
    lab.can("inside") ? undefined : "what happens inside of this target cannot be seen",
  async run(lab, report) {
    for (const run of [...(await lab.everyRun()), ...(await overConnections(lab))]) {
      report.checked(run.name);
      const { traces, exchanges, isStopped } = run.observation;
      const requests = exchangeEvidence("Requests", exchanges);
      for (const accident of traces.accidents)
        report.fail(
          `${run.name}: ${accident}.`,
          textEvidence(
            "What happened outside of the run's own course",
            traces.accidents.join("\n"),
          ),
          requests,
        );
      const left = traces.leftHandles.filter((handle) => !isOfReplay(handle));
      // A consumer that goes away may leave a run in the middle of things; LIMIT-05 sees whether
      // that piles up.
      if (left.length > 0 && !isStopped)
        report.fail(
          `${run.name}: after its end there are still open: ${left.join(", ")}.`,
          requests,
        );
      if (traces.openConnections > 0)
        report.fail(
          `${run.name}: after its end ${traces.openConnections} connections to the provider are still open.`,
          requests,
        );
    }
  },
});

/**
 * Over real connections. The fetch that programs are given keeps its connections itself: theirs are
 * not counted.
 */
async function overConnections(lab: Lab): Promise<NamedRun[]> {
  if (!lab.can("faults") || lab.manifest === undefined) return [];
  const [facts] = lab.streams.filter(({ recording }) => recording !== undefined);
  if (!facts) return [];
  return [
    {
      name: `${facts.label} over real connections`,
      observation: await lab.run(lab.readCommand([facts]), { transport: "server" }),
    },
  ];
}
