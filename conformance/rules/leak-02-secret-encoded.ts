import { defineRule } from "../contract/rule.ts";
import { failForLeak, leakFindings, searchedRuns } from "../derive/leaks/leak-findings.ts";
import { noSecrets } from "./leak-01-secret-verbatim.ts";

export default defineRule({
  id: "LEAK-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No secret of the settings comes out in another form either: base64, hex, percent or JSON escapes, HTTP Basic, compressed, or eight characters of it.",
  why: "Filters look for the secret as it is. Written otherwise it passes all of them, and everybody can turn it back; eight characters are enough to find the rest in a dump.",
  fix: "Keep headers, URLs and bodies that carry the secret out of everything that you write; show no masked secret either, not even its beginning.",
  good: 'log("INFO", "Signed in.");',
  bad: 'log("INFO", `Using token ${token.slice(0, 8)}…`); // or the whole Authorization header: Basic is only base64',
  notApplicable: noSecrets,
  async run(lab, report) {
    for (const { name } of await searchedRuns(lab)) report.checked(name);
    for (const finding of await leakFindings(lab))
      if (!finding.leak.isVerbatim && !finding.isIssued && !finding.isHidden)
        failForLeak(report, finding);
  },
});
