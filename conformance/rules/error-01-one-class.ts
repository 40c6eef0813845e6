import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { errorClasses, type Failure, type Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { lastingFaults } from "../derive/sweeps/lasting-faults.ts";

export default defineRule({
  id: "ERROR-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Every failure says which of the ten classes it is of.",
  why: "The class decides who acts: the user, who must mend a setting, nobody, who must wait, or the author. A failure without one is a ticket to support.",
  fix: `Map everything that can go wrong to one of ${errorClasses.join(", ")}: svc connectors by the code of a ConnectorError, Airbyte programs by failure_type, with the class as internal_message.`,
  good: 'throw new ConnectorError("PERMISSION_DENIED"); // or: {"failure_type":"config_error","internal_message":"permission"}',
  bad: "throw new Error(await response.text());",
  async run(lab, report) {
    for (const { name, observation } of [
      ...(await lab.everyRun()),
      ...(await lastingFaults(lab)),
    ]) {
      report.checked(name);
      for (const failure of observation.outcome.failures) {
        // The protocol has no place for a class in the answer of a check.
        if (
          observation.command.verb === "check" &&
          failure.classes.length === 0 &&
          failure.code === undefined
        )
          continue;
        const problem = problemOf(failure, lab);
        if (problem)
          report.fail(
            `${name}: the failure "${failure.message}"${failure.stream ? ` of ${failure.stream}` : ""} ${problem}`,
            ...evidenceOf(observation, failure),
          );
      }
      // A run that its consumer left may end in any way.
      if (observation.isStopped || observation.outcome.failures.length > 0) continue;
      const { status } = observation.outcome;
      if (status === "crashed")
        report.fail(
          `${name}: the connector crashed and wrote no error of any class. Catch what is thrown at the top and write one.`,
          textEvidence("Standard error", observation.traces.errorOutput),
          exchangeEvidence(
            "Requests",
            observation.exchanges,
            (exchange) => exchange === observation.exchanges.at(-1),
          ),
        );
    }
  },
});

function problemOf({ classes, code }: Failure, lab: Lab): string | undefined {
  if (classes.length === 0)
    return `is of no class${code ? `: nobody knows the code ${code}` : ""}. A TRACE ERROR needs a failure_type of config_error, transient_error or system_error.`;
  if (lab.can("classes") && classes.length > 1)
    return `may be of ${classes.length} classes (${classes.join(", ")}): its code does not say which.`;
  return undefined;
}

function evidenceOf(observation: Observation, failure: Failure) {
  const marked = [...observation.messages.keys()].filter((index) =>
    observation.messages[index]?.line.includes(JSON.stringify(failure.message).slice(1, -1)),
  );
  return [
    messageEvidence("Messages", observation, marked),
    exchangeEvidence("Requests", observation.exchanges),
  ];
}
