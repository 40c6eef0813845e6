import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, NamedRun } from "../contract/lab.ts";
import type { Failure, Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { type FaultRun, faultSweep, withFault } from "../derive/sweeps/faults.ts";
import { lastingFaults } from "../derive/sweeps/lasting-faults.ts";

/** One sentence or two; longer ones are dumps. */
const maxLength = 500;
/** Texts that say no more than that something went wrong. */
const useless =
  /^\W*(?:(?:an?|some|the|unknown|unexpected|internal|unhandled|runtime|general|generic|request|sync|read|check|error|exception|\w+(?:error|exception)|failed|failure|fail|something|went|wrong|happened|has|have|occurr?ed|undefined|null|none|nan|object|n\/a|oops)\b\W*)*$/i;
/** Failures that are provoked again to see whether their code stays. */
const sampledAgain = 6;

export default defineRule({
  id: "ERROR-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every failure has a message of one readable line, at most 500 characters, and a code that is always the same.",
  why: "The message is all that a user sees: an empty one, or a page of output, helps nobody. Alerts and documentation hang on the code: one that changes matches nothing.",
  fix: "Say in a sentence what happened and what to do. Keep details for the log, and take codes from a fixed list.",
  good: 'message: "The provider did not accept the API token. Check it and try again.", internal_message: "auth"',
  bad: 'message: "error:\\n" + response.body, internal_message: "E-" + randomUUID()',
  async run(lab, report) {
    for (const { name, observation } of [
      ...(await lab.everyRun()),
      ...(await lastingFaults(lab)),
    ]) {
      report.checked(name);
      if (!observation.isStopped) inspect(name, observation, report, lab);
    }
    await provokeAgain(lab, report);
  },
});

function inspect(name: string, observation: Observation, report: Reporter, lab: Lab): void {
  for (const { failure, text } of textsOf(observation)) {
    const problem = problemOf(text);
    if (problem)
      report.fail(
        `${name}: the message ${JSON.stringify(text.slice(0, 200))} ${problem}`,
        messageEvidence("Messages", observation, markedIn(observation)),
      );
    if (failure && failure.code === undefined && lab.can("classes"))
      report.fail(
        `${name}: the failure ${JSON.stringify(text.slice(0, 200))} has no code.`,
        messageEvidence("Messages", observation, markedIn(observation)),
      );
  }
}

/** Texts that a user is shown: the failures, and the status of a failed check. */
function textsOf({
  messages,
  outcome,
}: Observation): { readonly failure?: Failure; readonly text: string }[] {
  const statuses = messages.flatMap(({ message }) =>
    message.type === "CONNECTION_STATUS" && message.connectionStatus.status === "FAILED"
      ? [{ text: message.connectionStatus.message ?? "" }]
      : [],
  );
  const shown = [
    ...outcome.failures.map((failure) => ({ failure, text: failure.message })),
    ...statuses,
  ];
  return shown.filter(
    ({ text }, index) => shown.findIndex((other) => other.text === text) === index,
  );
}

function problemOf(text: string): string | undefined {
  if (text.trim() === "") return "is empty: say what happened and what to do.";
  if (text.length > maxLength)
    return `has ${text.length} characters; at most ${maxLength} are read. Put the rest into the log.`;
  if (/[\n\r\u2028\u2029]/.test(text)) return "has more than one line.";
  if (/\[object \w+\]/.test(text)) return "shows an object where its text belongs.";
  if (useless.test(text))
    return "says no more than that something failed: say what, and what to do.";
  return undefined;
}

const markedIn = ({ messages }: Observation) =>
  [...messages.keys()].filter((index) => {
    const message = messages[index]?.message;
    return (
      message?.type === "CONNECTION_STATUS" ||
      (message?.type === "TRACE" && message.trace.type === "ERROR")
    );
  });

/** The same fault at the same request has the same code, whenever it comes. */
async function provokeAgain(lab: Lab, report: Reporter): Promise<void> {
  const failed = (await faultSweep(lab)).filter(
    ({ observation, fault }) => codesOf(observation).length > 0 && fault.name !== "never answered",
  );
  const kinds = [
    ...new Map(
      failed.map((run) => [codesOf(run.observation).map(withoutNumbers).join(" "), run]),
    ).values(),
  ];
  for (const run of lab.sample(kinds, sampledAgain)) {
    report.checked(`${run.name}, twice`);
    const again = await repeat(lab, run);
    const [first, second] = [codesOf(run.observation), codesOf(again)];
    if (second.length > 0 && first.join() !== second.join())
      report.fail(
        `${run.name} has the code ${first.join(", ")} once and ${second.join(", ")} the next time: a code is one of a fixed list.`,
        messageEvidence("First", run.observation, markedIn(run.observation)),
        messageEvidence("Second", again, markedIn(again)),
      );
  }
}

/** An hour later, so that a code made of the time differs. */
function repeat(lab: Lab, { golden, at, fault }: FaultRun): Promise<NamedRun["observation"]> {
  const nowMs = Date.parse(golden.recording.metadata.clock_origin);
  return lab.run(lab.commandOf(golden.recording), {
    provider: withFault(lab.learned.provider(), at, fault, nowMs),
    clockShiftMs: 3_600_000,
  });
}

const codesOf = ({ outcome }: Observation) =>
  outcome.failures.flatMap(({ code }) => (code === undefined ? [] : [code]));
const withoutNumbers = (code: string) => code.replaceAll(/[0-9a-f]*\d[0-9a-f-]*/gi, "#");
