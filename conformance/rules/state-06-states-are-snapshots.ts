import type { JsonValue } from "svc-connectors";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { compareRows, describeDifference, outputRows, statesOf } from "../derive/rows/rows.ts";
import {
  incrementalStreams,
  isBeyondRecordings,
  noIncrementalStream,
  readFrom,
  stateText,
  syncModeOf,
  undisturbed,
} from "../derive/sweeps/reads.ts";

/** States of a read that are read from. */
const sampledStates = 3;

export default defineRule({
  id: "STATE-06",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "The state that a read is given is not changed, and each state that it writes is a copy of its own.",
  why: "A changed input state is written back by hosts that keep it, and a state that goes on changing after it was handed out tells of rows that nobody has.",
  fix: "Build a new object for each checkpoint; never assign to the saved state, nor to one that was already yielded.",
  good: "yield checkpoint({ ...saved, since: newest });",
  bad: "saved.since = newest; yield checkpoint(saved);",
  notApplicable: noIncrementalStream,
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      await lookAtInput(lab, report, stream);
      await lookAtAliases(lab, report, stream);
    }
  },
});

/** Reads from states that were written, and looks at them afterwards. */
async function lookAtInput(lab: Lab, report: Reporter, stream: StreamFacts): Promise<void> {
  const written = statesOf(await undisturbed(lab, stream), stream.label).map(({ state }) => state);
  for (const state of lab.sample(written, sampledStates)) {
    report.checked(`${stream.label} read from ${stateText(state)}`);
    const given = structuredClone(state);
    const command = lab.readCommand([stream], {
      syncMode: syncModeOf(stream),
      state: { [stream.label]: given },
    });
    const observation = await lab.run(command);
    if (JSON.stringify(given) !== JSON.stringify(state)) {
      report.fail(
        `${stream.label}: the read changed the state that it was given, from ${stateText(state)} to ${stateText(given)}.`,
        messageEvidence("The read", observation, []),
      );
      continue;
    }
    // svc freezes the state: who writes to it throws.
    const isInternal = observation.outcome.failures.some(
      ({ classes }) => classes.includes("internal") && classes.length === 1,
    );
    if (isInternal && lab.manifest && !isBeyondRecordings(observation))
      report.fail(
        `${stream.label}: a read from its own state ${stateText(state)} fails inside the connector. The state is frozen: writing to it throws.`,
        messageEvidence("The read", observation, []),
      );
  }
}

/**
 * Two states in a row that are the same though rows lie between them: the first one must not cover
 * of those rows.
 */
async function lookAtAliases(lab: Lab, report: Reporter, stream: StreamFacts): Promise<void> {
  const whole = await undisturbed(lab, stream);
  const states = statesOf(whole, stream.label);
  const pairs = states.flatMap((one, at) => {
    const next = states[at + 1];
    const isSame = next && JSON.stringify(next.state) === JSON.stringify(one.state);
    if (!isSame) return [];
    // Rows that share a cursor value may share a state.
    const cursors = new Set(
      outputRows(whole.messages.slice(0, one.index), stream).map(
        ({ data }) => data[stream.cursorField ?? ""],
      ),
    );
    const between = outputRows(whole.messages.slice(one.index, next.index), stream);
    return between.some(({ data }) => !cursors.has(data[stream.cursorField ?? ""])) ? [one] : [];
  });
  for (const { index, state } of lab.sample(pairs, 2)) {
    report.checked(`${stream.label}: the state of message ${index + 1}`);
    const resumed = await readFrom(lab, stream, state as JsonValue);
    const rows = [
      ...outputRows(whole.messages.slice(0, index), stream),
      ...outputRows(resumed.messages, stream),
    ];
    const { missing, changed } = compareRows(outputRows(whole.messages, stream), rows);
    if (missing.length + changed.length > 0)
      report.fail(
        `${stream.label}: the state of message ${index + 1} is the same as the next one and already covers the rows between them (resumed from it: ${describeDifference({ missing, changed, extra: [] })}). A state that was handed out was changed.`,
        messageEvidence("The read", whole, [index]),
      );
  }
}
