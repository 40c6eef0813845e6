import { exchangeEvidence } from "../contract/evidence.ts";
import type { GoldenRun, Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { disorderIn, isOfPages, unusedIn } from "../derive/requests/strict-findings.ts";
import { withoutPages } from "../derive/sweeps/pages.ts";

export default defineRule({
  id: "PAGE-04",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A replayed read asks for each recorded page once, in its order, and for no other.",
  why: "A page that is left out is data that is missing; one that is asked for twice is money and time, and rows that come double when the data moves.",
  fix: "Compare the requests with the recorded ones. If the new sequence is right, record the stream anew.",
  good: "for await (const page of pagesByNumber(fetchPage, lastPage)) yield records(page.rows);",
  bad: "const first = await fetchPage(1); // and in the loop once more\nfor (let page = 1; page <= first.pages; page++) …",
  notApplicable: withoutPages,
  async run(lab, report) {
    for (const golden of await lab.golden()) {
      if (!golden.recording.interactions.some(({ request }) => isOfPages(lab, request))) continue;
      const { recording, observation } = golden;
      const problems = problemsOf(lab, golden);
      // A run that failed before its pages shows none of them.
      if (problems.length === 0 && observation.outcome.status !== recording.outcome.status) {
        report.untried(`${recording.name}: its replay ${observation.outcome.status}`);
        continue;
      }
      report.checked(recording.name);
      for (const sentence of problems) {
        const { exchanges } = golden.observation;
        report.fail(
          sentence,
          exchangeEvidence(
            "Requests of the replay",
            exchanges.slice(0, 60),
            ({ unmatched }) => unmatched !== undefined,
          ),
        );
      }
    }
  },
});

function problemsOf(lab: Lab, golden: GoldenRun): string[] {
  const { recording, observation } = golden;
  const doubled = observation.exchanges.flatMap(({ request, unmatched }) =>
    unmatched !== undefined && isOfPages(lab, request)
      ? [
          `${recording.name}: request ${request.index + 1} asks for a page that it should not: ${unmatched}. The run ended as ${observation.outcome.status}.`,
        ]
      : [],
  );
  // READ-04 reports a run that failed.
  if (observation.outcome.status !== "succeeded" || recording.outcome.status !== "succeeded")
    return doubled;
  const unused = unusedIn(golden).filter(({ interaction }) => isOfPages(lab, interaction.request));
  const disorder = disorderIn(golden).filter(({ interaction }) =>
    isOfPages(lab, interaction.request),
  );
  return [
    ...doubled,
    ...(unused.length === 0
      ? []
      : [
          `${recording.name}: the run succeeded and never asked for ${unused
            .map(({ text }) => text)
            .slice(0, 3)
            .join("; ")}.`,
        ]),
    ...disorder.map(({ text }) => `${recording.name}: ${text}.`),
  ];
}
