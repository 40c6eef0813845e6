import { messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { failForLeak, leakFindings, searchedRuns } from "../derive/leaks/leak-findings.ts";
import { unexplainedRedactions } from "../derive/leaks/redactions.ts";

export default defineRule({
  id: "LEAK-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No secret of the settings comes out as it is: not in rows, states, catalogs, logs, errors, output, files or the process's title.",
  why: "Logs and error messages are mailed, pasted into tickets and kept for years by systems that nobody thinks of as secret. Whoever reads one has the customer's account.",
  fix: "Write the message yourself from what you know (status, stream, setting's name) and leave the settings, headers and foreign errors out of it. (Debug lines and runs that end badly: LEAK-09.)",
  good: 'log("INFO", `Reading ${stream} from page ${page}.`);',
  bad: 'log("INFO", `Starting with ${JSON.stringify(config)}`);',
  notApplicable: noSecrets,
  async run(lab, report) {
    for (const { name } of await searchedRuns(lab)) report.checked(name);
    for (const finding of await leakFindings(lab))
      if (finding.leak.isVerbatim && !finding.isIssued && !finding.isHidden)
        failForLeak(report, finding);
    for (const { run, where } of (await unexplainedRedactions(lab)).filter((one) => !one.isHidden))
      report.fail(
        `The connector put a secret into its ${where} in the run "${run.name}"; the runtime took it out. It must not be there: elsewhere nothing takes it out.`,
        messageEvidence(
          "The messages, with [redacted] in its place",
          run.observation,
          run.observation.messages.flatMap(({ line }, index) =>
            line.includes("[redacted]") ? [index] : [],
          ),
        ),
      );
  },
});

export function noSecrets(lab: Lab): string | undefined {
  return lab.canaries.some(({ name }) => name.startsWith("config"))
    ? undefined
    : "the settings hold no secret";
}
