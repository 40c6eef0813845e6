/**
 * How long the kit takes for a connector, and where the time goes: the default profiles on the
 * mailer, in sandboxed workers and in this process. `node --conditions=svc-source
 * bench/conformance.ts [connector]`, after `npm run build` for the workers' sake.
 */
import { openKit } from "svc-connectors/conformance";

const connector = process.argv[2] ?? "mailer";
const profiles = ["core", "resumable", "resilient", "oauth"] as const;

console.log("| target | wall | runs | runs a second | slowest rules |\n|---|---|---|---|---|");
for (const kind of ["worker", "module"] as const) {
  const startMs = performance.now();
  await using kit = await openKit({
    connector,
    cwd: process.cwd(),
    kind,
    profiles,
    rules: [],
    seed: 1,
    isExhaustive: false,
    command: "svc conformance",
  });
  const { rules, runCount } = await kit.run();
  const seconds = (performance.now() - startMs) / 1_000;
  const slowest = rules
    .toSorted((one, other) => other.durationMs - one.durationMs)
    .slice(0, 5)
    .map(
      (rule) => `${rule.id} ${(rule.durationMs / 1_000).toFixed(1)} s for ${rule.runCount} runs`,
    );
  console.log(
    `| ${kind} | ${seconds.toFixed(0)} s | ${runCount} | ${(runCount / seconds).toFixed(0)} | ${slowest.join(", ")} |`,
  );
}
process.exit();
