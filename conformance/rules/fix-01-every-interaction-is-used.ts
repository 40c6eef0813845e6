import { exchangeEvidence } from "../contract/evidence.ts";
import type { GoldenRun, Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { declaredOrigins } from "../derive/requests/hosts.ts";
import { disorderIn, isOfPages, unusedIn } from "../derive/requests/strict-findings.ts";

export default defineRule({
  id: "FIX-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A replay asks for every recorded interaction once, in the order of its path, and for nothing else.",
  why: "A recording that is half used proves half of what it seems to. A request that was never recorded is answered by nobody, and a connector that swallows that hides it from every other test.",
  fix: "Record the run anew. If the connector should not have stopped asking, or should not ask for more, mend it first.",
  good: "svc record my-connector --config config.json",
  bad: "// five interactions in the file, three requests in the run",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    const origins = declaredOrigins(lab);
    for (const golden of await lab.golden()) {
      report.checked(golden.recording.name);
      for (const sentence of problemsOf(lab, golden, origins))
        report.fail(
          sentence,
          exchangeEvidence(
            "Requests of the replay",
            golden.observation.exchanges.slice(0, 60),
            ({ unmatched }) => unmatched !== undefined,
          ),
        );
    }
  },
});

/** Pages of listings are PAGE-04's, other hosts NET-01's. */
function problemsOf(lab: Lab, golden: GoldenRun, origins: ReadonlySet<string>): string[] {
  const { recording, observation } = golden;
  const unmatched = observation.exchanges.filter(
    ({ request, unmatched: why }) =>
      why !== undefined && origins.has(request.url.origin) && !isOfPages(lab, request),
  );
  const strange = unmatched.map(
    ({ request, unmatched: why }) =>
      `${recording.name}: request ${request.index + 1} was not recorded: ${why}. The run ${observation.outcome.status} all the same; no other rule may see it.`,
  );
  // READ-04 and CHECK-01 report a run that ended otherwise.
  if (observation.outcome.status !== recording.outcome.status) return strange;
  const own = ({ interaction }: ReturnType<typeof unusedIn>[number]) =>
    !isOfPages(lab, interaction.request);
  const unused = unusedIn(golden).filter(own);
  return [
    ...strange,
    ...(unused.length === 0
      ? []
      : [
          `${recording.name}: ${unused.length} of ${recording.interactions.length} recorded interactions were not asked for: ${unused
            .map(({ text }) => text)
            .slice(0, 3)
            .join("; ")}.`,
        ]),
    ...disorderIn(golden)
      .filter(own)
      .map(({ text }) => `${recording.name}: ${text}.`),
  ];
}
