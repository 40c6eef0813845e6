import type { JsonValue } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { compareRows, outputRows, statesOf } from "../derive/rows/rows.ts";
import {
  incrementalStreams,
  noIncrementalStream,
  readFrom,
  refusingProvider,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { type BadState, badStates, beginnings } from "../derive/sweeps/states.ts";

/** Bad states of each good one that a default run tries. */
const sampledStates = 40;

export default defineRule({
  id: "STATE-08",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "A state that the connector did not write is refused or understood; it never starts a full read in silence.",
  why: "States are edited, cut off, and kept over upgrades. A silent full read costs days and doubles rows; a crash tells the user nothing.",
  fix: "Check the state's form before the first request (svc: declare `state`); fail with STATE_INVALID, or bring an older form into the new one.",
  good: "if (!isState(saved)) throw new ConnectorError('STATE_INVALID', { … });",
  bad: "const since = saved?.since ?? undefined; // whatever else was in there",
  notApplicable: noIncrementalStream,
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      if ((await undisturbed(lab, stream)).outcome.status !== "succeeded") {
        report.untried(`${stream.label}: its read fails without a state too`);
        continue;
      }
      for (const bad of beginnings) {
        report.checked(`${stream.label}: the state is ${bad.name}`);
        const observation = await readFrom(lab, stream, bad.state);
        if (isBroken(observation)) failBroken(report, stream, bad, observation);
      }
      for (const good of await goodStates(lab, stream)) {
        const intact = await readFrom(lab, stream, good);
        if (intact.outcome.status !== "succeeded") continue;
        for (const bad of lab.sample(badStates(good, stream.label), sampledStates)) {
          report.checked(`${stream.label}: ${bad.name}`);
          judge(
            report,
            stream,
            { bad, good },
            intact,
            await readFrom(lab, stream, bad.state, { provider: refusingProvider(lab) }),
          );
        }
      }
    }
  },
});

/** The final state, and one of the middle where it has another form. */
async function goodStates(lab: Lab, stream: StreamFacts): Promise<JsonValue[]> {
  const end = await resumedAtEnd(lab, stream);
  const middle = statesOf(await undisturbed(lab, stream), stream.label).find(
    ({ state }) => form(state) !== form(end?.state),
  );
  const states = [end?.state, middle?.state].filter((state) => state !== undefined);
  return states.filter(
    (state) => !beginnings.some((one) => canonicalize(one.state) === canonicalize(state)),
  );
}

const form = (state: JsonValue | undefined) =>
  typeof state === "object" && state !== null ? Object.keys(state).sort().join() : typeof state;

const isBroken = ({ outcome }: Observation) =>
  outcome.status === "crashed" ||
  outcome.status === "hung" ||
  outcome.failures.some(
    ({ classes }) => classes.length === 0 || (classes.length === 1 && classes[0] === "internal"),
  );

function failBroken(
  report: Reporter,
  { label }: StreamFacts,
  { name, state }: BadState,
  observation: Observation,
): void {
  const { status, failures } = observation.outcome;
  const how =
    status === "failed"
      ? `fails inside the connector (${failures[0]?.message ?? ""})`
      : status === "hung"
        ? "never ends"
        : "crashes the connector";
  report.fail(
    `${label}: a read from the state ${stateText(state)} (${name}) ${how}; a state error was expected.`,
    messageEvidence("The read", observation, []),
  );
}

function judge(
  report: Reporter,
  stream: StreamFacts,
  { bad, good }: { readonly bad: BadState; readonly good: JsonValue },
  intact: Observation,
  observation: Observation,
): void {
  if (isBroken(observation)) {
    failBroken(report, stream, bad, observation);
    return;
  }
  if (observation.outcome.status !== "succeeded") {
    const refused = observation.exchanges.find(
      ({ answer }) => answer !== undefined && answer.status >= 400,
    );
    const isState = observation.outcome.failures.some(({ classes }) => classes.includes("state"));
    // A state that only the provider can judge (a token of the right form) is refused by the
    // provider.
    if (!isState && !refused)
      report.fail(
        `${stream.label}: a read from the state ${stateText(bad.state)} (${bad.name}) fails with "${observation.outcome.failures[0]?.message ?? ""}", of class ${observation.outcome.failures[0]?.classes.join(" or ") ?? "none"}; a state error was expected.`,
        messageEvidence("The read", observation, []),
      );
    return;
  }
  const expected = outputRows(intact.messages, stream);
  const rows = outputRows(observation.messages, stream);
  const { missing, extra, changed } = compareRows(expected, rows);
  if (missing.length + extra.length + changed.length === 0 || isReported(observation)) return;
  report.fail(
    `${stream.label}: a read from the state ${stateText(bad.state)} (${bad.name}) succeeds in silence with ${rows.length} rows, where the intact state ${stateText(good)} gives ${expected.length}: ${extra.length > 0 ? "everything is read again" : "rows are lost"}. A state error was expected.`,
    messageEvidence("The read", observation, []),
    exchangeEvidence("Its requests", observation.exchanges),
  );
}

/** True when the log tells its reader that the state was not usable. */
const isReported = ({ messages }: Observation) =>
  messages.some(
    ({ message }) =>
      message.type === "LOG" &&
      /^(warn|error|fatal)/i.test(message.log.level) &&
      /state|cursor|resync|reset/i.test(message.log.message),
  );
