import type { JsonValue } from "svc-connectors";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { outputRows, statesOf } from "../derive/rows/rows.ts";
import {
  finalState,
  readFrom,
  resumableStreams,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";

/** The shortest time that Docker and Kubernetes wait before they kill. */
const graceMs = 10_000;
const sampledStreams = 3;
const deadlineMs = 15_000;

export default defineRule({
  id: "CANCEL-06",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A read that is told to end (SIGTERM) ends within 10 seconds, and leaves a state that keeps what it has done.",
  why: "Every deployment sends SIGTERM. Who is deaf to it is killed in the middle of a line; who forgets its state reads for six hours what it had read before.",
  fix: "Handle SIGTERM (a container's first process is not ended by it otherwise), stop at the next row, and let the last state that was written stand.",
  good: "process.once('SIGTERM', () => controller.abort());",
  bad: "process.on('SIGTERM', () => {}); // or no handler, as process 1 of a container",
  notApplicable(lab) {
    if (!lab.can("cancel")) return "runs of this target cannot be cancelled";
    return lab.streams.some(({ recording }) => recording)
      ? undefined
      : "it has no stream whose read is recorded";
  },
  async run(lab, report) {
    for (const stream of lab.sample(
      lab.streams.filter(({ recording }) => recording),
      sampledStreams,
    )) {
      const whole = await undisturbed(lab, stream);
      for (const count of pointsIn(whole, stream)) {
        const name = `${stream.label}, told to end after message ${count}`;
        const seen = await readFrom(lab, stream, undefined, {
          cancel: { at: "message", count },
          deadlineMs,
        });
        if (!seen.cancelledAt) continue;
        report.checked(name);
        lookAtEnd(name, seen, report);
        if (resumableStreams(lab).includes(stream))
          await lookAtState(lab, stream, { name, whole, seen, count }, report);
      }
    }
  },
});

/** In the middle of the first rows, and right after a state in the middle. */
function pointsIn(whole: Observation, stream: StreamFacts): readonly number[] {
  const firstRow = whole.messages.findIndex(({ message }) => message.type === "RECORD");
  const states = statesOf(whole, stream.label).map(({ index }) => index);
  const middle = states[Math.floor((states.length - 1) / 2)];
  return [
    ...new Set([
      ...(firstRow >= 0 ? [firstRow + 1] : []),
      ...(middle === undefined ? [] : [middle + 1]),
    ]),
  ].filter((count) => count < whole.messages.length);
}

function lookAtEnd(name: string, seen: Observation, report: Reporter): void {
  const { outcome, traces } = seen;
  if (outcome.status === "hung")
    report.fail(
      `${name}, had not ended ${graceMs / 1_000} s later and was killed. Expected: it ends by itself.`,
      messageEvidence("Messages", seen, []),
    );
  else if ((traces.settledAfterMs ?? 0) > graceMs)
    report.fail(
      `${name}, took ${Math.round((traces.settledAfterMs ?? 0) / 1_000)} s. Expected: 10 s at most.`,
      messageEvidence("Messages", seen, []),
    );
}

interface Ended {
  readonly name: string;
  readonly whole: Observation;
  readonly seen: Observation;
  readonly count: number;
}

/**
 * The states that an undisturbed read had written by then are there, and none after them takes it
 * back.
 */
async function lookAtState(
  lab: Lab,
  stream: StreamFacts,
  { name, whole, seen, count }: Ended,
  report: Reporter,
): Promise<void> {
  const before = statesOf(whole, stream.label)
    .filter(({ index }) => index < count)
    .at(-1);
  if (!before) return;
  const state = finalState(seen, stream);
  const evidence = messageEvidence("Messages", seen, [count - 1]);
  if (state === undefined)
    return report.fail(
      `${name}, left no state although an undisturbed read had written ${stateText(before.state)} by then.`,
      evidence,
    );
  const own = statesOf(
    seen.messages.length >= count ? { messages: seen.messages.slice(0, count) } : seen,
    stream.label,
  ).at(-1);
  if (own === undefined || JSON.stringify(own.state) === JSON.stringify(state)) return;
  // Another state was written on the way out: it must not ask for more than the one before.
  const [fromLast, fromBefore] = [
    await rowsFrom(lab, stream, state),
    await rowsFrom(lab, stream, own.state),
  ];
  const covered = new Set(
    outputRows(seen.messages.slice(0, own.index), stream).map(({ key }) => key),
  );
  const again = [...fromLast].filter((key) => covered.has(key) && !fromBefore.has(key));
  if (again.length > 0)
    report.fail(
      `${name}, ended with the state ${stateText(state)}, which forgets what ${stateText(own.state)} had kept: ${again.length} rows would be read again (${again.slice(0, 3).join(", ")}). Expected: no state on the way out, or one that goes further.`,
      evidence,
    );
}

const rowsFrom = async (lab: Lab, stream: StreamFacts, state: JsonValue) =>
  new Set(outputRows((await readFrom(lab, stream, state)).messages, stream).map(({ key }) => key));
