import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { isOfClass, type Lab, type RunOptions } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { refusalProblem, unreachableDatabases } from "../derive/database/refusals.ts";
import { withAnswers } from "../replay/strict.ts";

/**
 * Short enough for a sweep; servers that hang are given up after these, real time, by targets that
 * can be told.
 */
const timeouts = { connectMs: 100, headersMs: 150, idleMs: 150, totalMs: 200 };
/** The runtime dials in real time, for ten seconds. */
const databaseDeadlineMs = 25_000;
/** A check is waited for by a person. Targets with a virtual clock need next to none of it. */
const deadlineMs = (lab: Lab) => (lab.can("clock") ? 6_000 : 90_000);

export default defineRule({
  id: "CHECK-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "check fails in time, with a class, when the provider cannot be reached: unknown name, refused connection, bad certificate, no answer.",
  why: "A check that waits for ever blocks the form that called it; one that crashes tells the user nothing about the host that he has mistyped.",
  fix: "Give every request a connect, a headers and a total timeout, try a bounded number of times, and report network errors as transient (a bad name or certificate as config).",
  good: "await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(toTransientError)",
  bad: "await fetch(url) // no timeout, and the TypeError of fetch is the message",
  notApplicable(lab) {
    if (!lab.can("faults")) return "faults cannot be put between this target and its provider";
    return undefined;
  },
  async run(lab, report) {
    if (lab.database) return await tryDatabase(lab, report);
    const whole = await lab.undisturbed({ verb: "check", config: lab.config });
    if (whole.exchanges.length === 0)
      return report.missing(
        "check sends no request, so that nothing can go wrong on the way: let it try the credentials.",
      );
    const scenes: readonly (readonly [string, RunOptions])[] = [
      ["the provider's name cannot be resolved", { connection: { fault: "unknown-host" } }],
      ["connections are refused", { connection: { fault: "refused" } }],
      ["the certificate is not trusted", { connection: { fault: "untrusted-certificate" } }],
      ["the certificate has expired", { connection: { fault: "expired-certificate" } }],
      ["the certificate is for another host", { connection: { fault: "wrong-host-certificate" } }],
      [
        "requests are never answered",
        {
          transport: "server",
          timeouts,
          provider: withAnswers(lab.learned.provider(), (answer) => ({
            ...answer,
            fault: { type: "hang" },
          })),
        },
      ],
      ["connections are never made", { connection: { fault: "connect-hang" }, timeouts }],
    ];
    for (const [name, runOptions] of scenes) {
      report.checked(name);
      const seen = await lab.run(
        { verb: "check", config: lab.config },
        { deadlineMs: deadlineMs(lab), ...runOptions },
      );
      const problem = problemOf(seen, lab);
      if (problem !== undefined)
        report.fail(
          `When ${name}, check ${problem}.`,
          messageEvidence("Messages", seen, []),
          exchangeEvidence("Requests", seen.exchanges),
        );
      if (seen.outcome.status === "hung") return; // the next one would only cost as much time
    }
  },
});

async function tryDatabase(lab: Lab, report: Reporter): Promise<void> {
  for (const { name, command, runOptions, expected } of unreachableDatabases(lab)) {
    report.checked(name);
    const seen = await lab.run(command, { deadlineMs: databaseDeadlineMs, ...runOptions });
    const problem = refusalProblem(seen, expected);
    if (problem !== undefined)
      report.fail(`When ${name}, check ${problem}.`, messageEvidence("Messages", seen, []));
  }
}

function problemOf({ outcome, messages }: Observation, lab: Lab): string | undefined {
  if (outcome.status === "hung")
    return `has not ended after ${Math.round((deadlineMs(lab) * lab.slowness) / 1_000)} s; it has to fail in time`;
  if (outcome.status === "succeeded") return "succeeded; it has to fail";
  if (outcome.status !== "failed")
    return `${outcome.status} with "${outcome.failures[0]?.message ?? "no message"}"; it has to fail with a reason`;
  const [failure] = outcome.failures;
  if (!failure) return "failed without a reason";
  if (!messages.some(({ message }) => message.type === "CONNECTION_STATUS"))
    return "gave no CONNECTION_STATUS message";
  if (outcome.failures.some((one) => isOfClass(one, "transient", "config"))) return undefined;
  if (failure.classes.length === 0 && !lab.can("classes")) return undefined;
  return `failed with "${failure.message}" as ${failure.classes.join(" or ") || "no class"}; transient or config is expected`;
}
