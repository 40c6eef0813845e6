import { exchangeEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { controls, leakEvidence, searchedRuns } from "../derive/leaks/leak-findings.ts";
import { createLeakSearch } from "../derive/leaks/leaks.ts";
import { plantsOf } from "../derive/leaks/plants.ts";
import { userVisible } from "../derive/leaks/sinks.ts";

export default defineRule({
  id: "LEAK-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No text of a provider's error answer, of its body or its headers, reaches the messages that users read.",
  why: "Providers' errors quote the request with its token, other customers' data, SQL and traces. Passed on, they stand in the user's mailbox, and a page of HTML tells nobody what to do.",
  fix: "Map status and documented error codes to sentences of your own; keep the raw answer out, or in a diagnostic that only you can read.",
  good: 'if (status === 403) throw failure("The API token lacks a permission. Grant it and try again.");',
  bad: "throw new Error(`API error ${status}: ${await response.text()}`);",
  async run(lab, report) {
    const { payload } = plantsOf(lab);
    const search = createLeakSearch([payload]);
    if (!controls(search, [payload]))
      throw new Error("the search for leaks does not find what the kit itself planted");
    const seen = new Set<string>();
    for (const run of (await searchedRuns(lab)).filter(({ isTalkative }) => isTalkative)) {
      report.checked(run.name);
      for (const sink of run.sinks.filter(({ kind }) => userVisible.has(kind))) {
        const [leak] = search.find(sink.text);
        if (!leak || seen.has(sink.kind)) continue;
        seen.add(sink.kind);
        const { exchanges } = run.observation;
        report.fail(
          `${sink.name} of the run "${run.name}" holds text of the provider's error answer.`,
          ...leakEvidence(run, sink, leak),
          exchangeEvidence(
            "Requests",
            exchanges.slice(0, 6),
            ({ answer }) => answer?.body.includes(payload.value) === true,
          ),
        );
      }
    }
  },
});
