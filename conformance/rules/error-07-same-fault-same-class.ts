import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { ErrorClass, Failure, Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { lastingFaults } from "../derive/sweeps/lasting-faults.ts";

export default defineRule({
  id: "ERROR-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "The same fault of the provider is of the same class in check, discover and read, and whatever is thrown becomes an error.",
  why: 'A check that calls an outage a wrong password makes users change settings that were right. A text or an object that is thrown in place of an error arrives as "undefined".',
  fix: "Map faults in one place that all verbs go through. Throw errors only, and wrap what libraries throw.",
  good: 'throw new ConnectorError("PROVIDER_UNAVAILABLE", { status });',
  bad: 'check: catch { return "Invalid credentials" } // whatever it was',
  async run(lab, report) {
    const firsts = new Map<string, Seen>();
    for (const { name, verb, fault, observation } of await lastingFaults(lab)) {
      report.checked(name);
      const unwrapped = unwrappedIn(observation);
      if (unwrapped !== undefined)
        report.fail(
          `${name}: what was thrown is no error and was not made one: ${unwrapped}.`,
          textEvidence("Standard error", observation.traces.errorOutput),
          messageEvidence("Messages", observation, []),
        );
      const failure = observation.outcome.failures.find(({ classes }) => classes.length > 0);
      if (!failure) continue;
      const first = firsts.get(fault.name) ?? { verb, observation, failure };
      firsts.set(fault.name, first);
      if (isShared(first.failure.classes, failure.classes)) continue;
      report.fail(
        `Every request ${fault.name}: ${first.verb} fails as ${first.failure.classes.join(" or ")} ("${first.failure.message}"), ${verb} as ${failure.classes.join(" or ")} ("${failure.message}").`,
        messageEvidence(first.verb, first.observation, [first.observation.messages.length - 1]),
        messageEvidence(verb, observation, [observation.messages.length - 1]),
      );
    }
  },
});

interface Seen {
  readonly verb: string;
  readonly observation: Observation;
  readonly failure: Failure;
}

const isShared = (one: readonly ErrorClass[], other: readonly ErrorClass[]) =>
  one.some((each) => other.includes(each));

/** Finds signs that something else than an error was thrown, and passed on as it was. */
function unwrappedIn({ outcome, traces }: Observation): string | undefined {
  const shown = outcome.failures.find(({ message }) =>
    /^\W*(?:undefined|null|\[object \w+\])\W*$/i.test(message),
  );
  if (shown) return `the message is "${shown.message}"`;
  // Node's text of an error begins with the name of its class.
  const text = traces.errorOutput.trim();
  if (outcome.status === "crashed" && text !== "" && !/\b\w*(?:Error|Exception)\b/.test(text))
    return `the program ended with ${JSON.stringify(text.slice(0, 100))}`;
  return undefined;
}
