import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { failForLeak, leakFindings, searchedRuns } from "../derive/leaks/leak-findings.ts";

export default defineRule({
  id: "LEAK-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No token, cookie or signature that the provider issues during a run comes out, in any form.",
  why: "An access token or a session is as good as the password, and nobody thinks of rotating it: it is not in the settings, so no list of secrets has it.",
  fix: "Do not write answers, headers or foreign errors; take from an answer the fields that you need and leave the rest.",
  good: "const { access_token } = await answer.json(); // used, and told to nobody",
  bad: 'log("DEBUG", `Signed in: ${await answer.text()}`);',
  notApplicable: noHttp,
  async run(lab, report) {
    for (const { name } of await searchedRuns(lab)) report.checked(name);
    for (const finding of await leakFindings(lab))
      if (finding.isIssued && !finding.isHidden) failForLeak(report, finding);
  },
});

export function noHttp(lab: Lab): string | undefined {
  return lab.egress === "http"
    ? undefined
    : "the provider is a database: there are no HTTP answers to put anything into";
}
