import { textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Access } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { recordedCommands } from "../derive/sweeps/environments.ts";
import { codeOf } from "./det-04.source-code.ts";

export default defineRule({
  id: "DET-04",
  level: "SHOULD",
  profile: "resumable",
  since: "0.1.0",
  title: "Time comes from the context's clock, and nothing that comes out is left to chance.",
  why: "What takes the machine's time or a random number cannot be replayed, tested or explained: every run differs.",
  fix: "Use ctx.clock.now() and ctx.clock.sleep(); make ids from the row's own fields.",
  good: "const bound = new Date(ctx.clock.now()).toISOString();",
  bad: "const bound = new Date().toISOString(); const id = crypto.randomUUID();",
  notApplicable: (lab) =>
    lab.can("inside") || lab.target.sources.length > 0
      ? undefined
      : "neither the sources nor the process of this target are at hand",
  async run(lab, report) {
    // The runtime does the backoff of svc connectors: theirs need no chance. Other programs may
    // jitter their own.
    if (lab.manifest) lookAtSources(lab, report);
    if (lab.can("inside")) await lookAtRuns(lab, report);
    if (report.problemCount === 0) for (const { path } of lab.target.sources) report.checked(path);
  },
});

const uses = [
  /\bDate\.now\b/,
  /\bnew Date(?:\(\s*\)|(?!\s*\())/,
  /(?<![.\w]|new )Date\(\s*\)/,
  /\bperformance\.now\b/,
  /\bprocess\.hrtime\b/,
  /\bTemporal\.Now\b/,
  /\bMath\.random\b/,
  /\brandomUUID\b/,
  /\brandomBytes\b/,
  /\brandomInt\b/,
  /\bgetRandomValues\b/,
];

function lookAtSources(lab: Lab, report: Reporter): void {
  for (const { path, text } of lab.target.sources) {
    report.checked(path);
    for (const [at, line] of codeOf(text).split("\n").entries()) {
      const used = uses.map((use) => use.exec(line)?.[0]).find((found) => found !== undefined);
      if (used !== undefined)
        report.fail(
          `${path}:${at + 1} uses ${used}: take the time from ctx.clock, and leave nothing to chance.`,
          textEvidence(`${path}:${at + 1}`, text.split("\n")[at] ?? ""),
        );
    }
  }
}

/**
 * Watches what the connector's own code uses while it reads, also by ways that its sources do not
 * show.
 */
async function lookAtRuns(lab: Lab, report: Reporter): Promise<void> {
  const found = new Map<string, Access>();
  for (const { name, command } of recordedCommands(lab, ["check", "discover", "read"])) {
    report.checked(`${name}, watched`);
    const { traces } = await lab.run(command, { watchAccess: true });
    for (const access of traces.accesses ?? [])
      if (access.kind === "clock" || access.kind === "random")
        found.set(`${access.what} ${access.where}`, access);
  }
  for (const { what, where, kind } of found.values())
    report.fail(
      `${where} used ${what} during a run: ${kind === "clock" ? "take the time from the context's clock" : "leave nothing to chance"}.`,
      textEvidence("Used", `${what} at ${where}`),
    );
}
