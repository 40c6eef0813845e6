import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { contrast, firstDifference, firstLogDifference } from "../derive/sweeps/canonical-log.ts";
import {
  numbered,
  recordedCommands,
  type SettledRun,
  settledRun,
} from "../derive/sweeps/environments.ts";

const runCount = 3;
/** Recordings that a default run tries. */
const sampledCommands = 20;

export default defineRule({
  id: "DET-01",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "The same data and state give the same requests and the same messages, byte for byte, every time.",
  why: "Output that differs from run to run makes every row look changed, breaks deduplication, and hides real differences from every test.",
  fix: "Make ids from the data (a hash of the key), not from chance, and put no time of the run into a row or a state but the provider's (where one is needed, a connector of svc asks ctx.clock); do not depend on the order of a set or of answers.",
  good: "const at = new Date(ctx.clock.now()).toISOString();",
  bad: "yield record({ ...row, _id: randomUUID(), _read_at: Date.now() });",
  async run(lab, report) {
    for (const { name, command } of lab.sample(
      recordedCommands(lab, ["check", "discover", "read"]),
      sampledCommands,
    )) {
      const [first, ...others] = await runSome(() => settledRun(lab, command));
      if (!first) continue;
      const isFailing = first.observation.outcome.status === "failed";
      if (isFailing && command.verb === "read") report.untried(`${name}: it fails`);
      else report.checked(name);
      for (const [at, other] of others.entries()) {
        const asked = firstDifference(first.asked, other.asked);
        if (asked) {
          report.fail(
            `${name}: runs 1 and ${at + 2} ask for different things at ${numbered(lab, "request", asked.at)}: ${contrast(asked.lines)}.`,
            textEvidence("Run 1", asked.lines[0]),
            textEvidence(`Run ${at + 2}`, asked.lines[1]),
          );
          break;
        }
        const found = firstLogDifference(first.log, other.log);
        if (!found) continue;
        report.fail(
          `${name}: runs 1 and ${at + 2} differ in ${numbered(lab, "message", found.at)}: ${contrast(found.lines)}.`,
          textEvidence("Run 1", found.lines[0]),
          textEvidence(`Run ${at + 2}`, found.lines[1]),
          messageEvidence("Run 1", first.observation, []),
        );
        break;
      }
    }
  },
});

async function runSome(run: () => Promise<SettledRun>): Promise<SettledRun[]> {
  const runs: SettledRun[] = [];
  for (let count = 0; count < runCount; count++) runs.push(await run());
  return runs;
}
