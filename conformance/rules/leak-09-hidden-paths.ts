import { defineRule } from "../contract/rule.ts";
import {
  controls,
  failForLeak,
  leakEvidence,
  leakFindings,
  searchedRuns,
} from "../derive/leaks/leak-findings.ts";
import { createLeakSearch } from "../derive/leaks/leaks.ts";
import { unexplainedRedactions } from "../derive/leaks/redactions.ts";
import type { SinkKind } from "../derive/leaks/sinks.ts";
import { markedRuns, rowMark } from "./leak-09.marked-rows.ts";

/** Where rows do not belong. */
const notForRows: ReadonlySet<SinkKind> = new Set([
  "log",
  "debug log",
  "error message",
  "error details",
  "status message",
  "thrown",
  "output",
  "error output",
  "artefact",
]);

export default defineRule({
  id: "LEAK-09",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Nothing secret comes out where a run ends badly (crash, cancel, timeout) or in debug lines, and no value of a row stands in a log or an error.",
  why: "Handlers of signals and of uncaught errors are written once and never seen; debug is switched on when something is wrong, and its lines are sent to strangers. Rows are personal data: a log has no deletion.",
  fix: "Treat these paths like all others: sentences of your own, ids and counts; log the key of a row where you must name it.",
  good: 'log("DEBUG", `Page ${page}: ${rows.length} rows.`);',
  bad: 'log("DEBUG", JSON.stringify(request.headers)); log("WARN", `Skipped ${JSON.stringify(row)}`);',
  async run(lab, report) {
    for (const { name } of await searchedRuns(lab)) report.checked(name);
    for (const finding of await leakFindings(lab))
      if (finding.isHidden) failForLeak(report, finding);
    for (const { run, where } of (await unexplainedRedactions(lab)).filter(
      ({ isHidden }) => isHidden,
    ))
      report.fail(
        `The connector put a secret into its ${where} in the run "${run.name}"; the runtime took it out. It must not be there: elsewhere nothing takes it out.`,
      );
    const mark = rowMark(lab);
    const search = createLeakSearch([mark]);
    if (!controls(search, [mark]))
      throw new Error("the search for leaks does not find what the kit itself planted");
    const seen = new Set<string>();
    for (const run of await markedRuns(lab)) {
      report.checked(run.name);
      for (const sink of run.sinks.filter(({ kind }) => notForRows.has(kind))) {
        const [leak] = search.find(sink.text);
        if (!leak || seen.has(sink.kind)) continue;
        seen.add(sink.kind);
        report.fail(
          `A value of a row stands in ${sink.name} of the run "${run.name}".`,
          ...leakEvidence(run, sink, leak),
        );
      }
    }
  },
});
