import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { configCases } from "../derive/sweeps/configs.ts";
import { isBreakdown, isRefusal } from "../derive/sweeps/refusals.ts";

/** Cases that a default run samples: what a run costs depends on what has to be started for it. */
const sampledCases = {
  module: 60,
  program: 60,
  worker: 30,
  container: 12,
} as const satisfies Readonly<Record<Lab["target"]["kind"], number>>;

export default defineRule({
  id: "CHECK-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A setting of a wrong type, empty, blank, with control characters, far too long, out of range or unknown is a config error, never a crash.",
  why: "Configurations come from forms, files and APIs, with pasted line ends and swapped fields. What is not refused at once becomes `NaN` in a query, a forged header, or a stack trace in front of the user.",
  fix: "Validate the configuration against the spec before anything else; give strings a minLength, maxLength or pattern; refuse control characters.",
  good: "const faults = validate(config); if (faults.length > 0) throw configError(faults[0]);",
  bad: "query.set('limit', String(Number(config.page_size))); // page_size: 'abc'",
  async run(lab, report) {
    const cases = configCases(lab).filter(({ kind }) => kind !== "removed");
    for (const { name, config, isWrong, kind } of lab.sample(
      cases,
      sampledCases[lab.target.kind],
    )) {
      report.checked(name);
      const seen = await lab.run({ verb: "check", config }, { deadlineMs: 10_000 });
      const isRight = isWrong ? isRefusal(seen) : !isBreakdown(seen);
      if (isRight) continue;
      const expected = isWrong
        ? "a config error is expected"
        : "the spec allows it, so that it may be refused or work, but must not break the connector";
      report.fail(
        `${name}, and check ${endOf(seen)}; ${expected}.`,
        textEvidence("Configuration", kind === "1 MB" ? "(1 MB)" : JSON.stringify(config, null, 2)),
        messageEvidence("Messages", seen, []),
        exchangeEvidence("Requests", seen.exchanges),
      );
    }
  },
});

function endOf({ outcome, exchanges }: Observation): string {
  if (outcome.status === "succeeded")
    return `succeeded${exchanges.length > 0 ? ` after ${exchanges.length === 1 ? "a request" : `${exchanges.length} requests`}` : ""}`;
  const { message = "no message", classes = [] } = outcome.failures[0] ?? {};
  return `${outcome.status} with "${message.slice(0, 200)}" (class: ${classes.join(" or ") || "none"})`;
}
