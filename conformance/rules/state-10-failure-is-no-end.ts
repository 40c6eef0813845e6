import type { JsonValue } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Answer, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { compareRows, describeDifference, outputRows, statesOf } from "../derive/rows/rows.ts";
import { faultsOf } from "../derive/sweeps/faults.ts";
import {
  finalState,
  incrementalStreams,
  readFrom,
  resumableStreams,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { withAnswers } from "../replay/strict.ts";

/** Requests at which the provider begins to fail: of all streams together, at most four of each. */
const sampledRequests = 16;
const faultNames = ["answered 403", "answered 503", "answered with JSON cut in half"];

export default defineRule({
  id: "STATE-10",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "A stream that fails never writes the state of one that has finished, and moves no other stream's state.",
  why: "A completed state after a failure skips everything that was not read. Nobody notices: the next sync is green.",
  fix: "Write the last checkpoint after the loop, not in `finally`; keep what is saved apart by stream.",
  good: "for await (const page of pages) yield records(page.rows);\nyield checkpoint({ since: newest });",
  bad: "try { … } finally { yield checkpoint({ since: bound }); }",
  notApplicable: (lab) =>
    resumableStreams(lab).length === 0 ? "no stream can be resumed" : undefined,
  async run(lab, report) {
    for (const stream of resumableStreams(lab)) await lookAtFailures(lab, report, stream);
    if (
      lab.streams.filter(({ recording }) => recording).length > 1 &&
      incrementalStreams(lab).length > 0
    )
      await lookAtOthers(lab, report);
  },
});

/** From request `at` on nothing but the fault comes. */
function failingFrom(
  provider: Provider,
  fails: (url: URL, index: number) => boolean,
  fault: (truth: Answer) => Answer,
): Provider {
  return withAnswers(provider, (answer, request) =>
    fails(request.url, request.index) ? fault(answer) : answer,
  );
}

async function lookAtFailures(lab: Lab, report: Reporter, stream: StreamFacts): Promise<void> {
  const whole = await undisturbed(lab, stream);
  if (whole.outcome.status !== "succeeded")
    return report.untried(`${stream.label}: its read fails in any case`);
  const expected = outputRows(whole.messages, stream);
  const before = new Set(
    statesOf(whole, stream.label)
      .slice(0, -1)
      .map(({ state }) => canonicalize(state)),
  );
  const share = Math.min(
    4,
    Math.max(2, Math.floor(sampledRequests / resumableStreams(lab).length)),
  );
  const indexes = lab.sample(
    whole.exchanges.map(({ request }) => request.index),
    share,
  );
  const faults = faultsOf(lab).filter(({ name }) => faultNames.includes(name));
  for (const [position, at] of indexes.entries()) {
    const fault = faults[position % faults.length];
    if (!fault) continue;
    report.checked(`${stream.label}: every request from ${at + 1} on ${fault.name}`);
    const provider = failingFrom(
      lab.learned.provider(),
      (_, index) => index >= at,
      (truth) => fault.apply(truth, 0),
    );
    const failed = await readFrom(lab, stream, undefined, { provider });
    // Data that is quietly missing is the concern of ERROR-05.
    if (failed.outcome.status === "succeeded") continue;
    const complete = failed.messages.findIndex(
      ({ message }) =>
        message.type === "TRACE" && message.trace.stream_status?.status === "COMPLETE",
    );
    const where = `${stream.label}: request ${at + 1} and all later ones were ${fault.name}`;
    const evidence = [
      messageEvidence("The read that failed", failed, complete < 0 ? [] : [complete]),
      exchangeEvidence("Its requests", failed.exchanges),
    ];
    if (complete >= 0)
      report.fail(`${where}; the stream is reported COMPLETE all the same.`, ...evidence);
    const last = statesOf(failed, stream.label).at(-1);
    // STATE-01 reports the losses of a state that an undisturbed read writes too.
    if (last && before.has(canonicalize(last.state))) continue;
    const resumed = await readFrom(lab, stream, last?.state);
    const rows = [
      ...outputRows(failed.messages.slice(0, last?.index ?? 0), stream),
      ...outputRows(resumed.messages, stream),
    ];
    const { missing, changed } = compareRows(expected, rows);
    if (missing.length + changed.length > 0)
      report.fail(
        `${where}; the last state that was written is ${stateText(last?.state)}. A read from it ends with ${describeDifference({ missing, changed, extra: [] })}.`,
        ...evidence,
      );
  }
}

/**
 * All streams together: one of them fails, or begins anew, and the others come as they do alone.
 */
async function lookAtOthers(lab: Lab, report: Reporter): Promise<void> {
  const streams = lab.streams.filter(({ recording }) => recording);
  const incremental = incrementalStreams(lab);
  const together = lab.readCommand(streams, { syncMode: "incremental" });
  const whole = await lab.run(together);
  if (whole.outcome.status !== "succeeded") return;
  for (const broken of lab.sample(streams, 2)) {
    const paths = new Set(
      (await undisturbed(lab, broken)).exchanges.map(({ request }) => request.url.pathname),
    );
    for (const other of streams) {
      if (other === broken) continue;
      for (const { request } of (await undisturbed(lab, other)).exchanges)
        paths.delete(request.url.pathname);
    }
    if (paths.size === 0) continue;
    report.checked(`${broken.label} fails beside the other streams`);
    const provider = failingFrom(
      lab.learned.provider(),
      ({ pathname }) => paths.has(pathname),
      (truth) => ({
        ...truth,
        status: 403,
        body: Buffer.from('{"error":{"message":"Forbidden."}}'),
      }),
    );
    const failed = await lab.run(together, { provider });
    for (const other of incremental.filter((one) => one !== broken))
      compareStates(report, other, `${broken.label} fails beside it`, whole, failed);
  }
  const states: Record<string, JsonValue> = {};
  for (const stream of incremental) {
    const state = finalState(whole, stream);
    if (state !== undefined) states[stream.label] = state;
  }
  for (const reset of lab.sample(incremental, 2)) {
    if (incremental.length < 2) continue;
    report.checked(`${reset.label} begins anew beside the other streams`);
    const { [reset.label]: _, ...kept } = states;
    const seen = await lab.run(lab.readCommand(streams, { syncMode: "incremental", state: kept }));
    for (const stream of incremental) {
      const alone =
        stream === reset
          ? await undisturbed(lab, stream)
          : (await resumedAtEnd(lab, stream))?.observation;
      const { missing, extra } = compareRows(
        outputRows(alone?.messages ?? [], stream),
        outputRows(seen.messages, stream),
      );
      if (missing.length + extra.length > 0)
        report.fail(
          `${stream.label}: when ${reset.label} begins anew in the same read, it comes with ${describeDifference({ missing, extra, changed: [] })}, compared with a read of its own.`,
          messageEvidence("The read", seen, []),
        );
    }
  }
}

function compareStates(
  report: Reporter,
  stream: StreamFacts,
  when: string,
  whole: Observation,
  seen: Observation,
): void {
  const [expected, given] = [finalState(whole, stream), finalState(seen, stream)];
  if (
    expected === undefined ||
    given === undefined ||
    canonicalize(expected) === canonicalize(given)
  )
    return;
  const { missing } = compareRows(
    outputRows(whole.messages, stream),
    outputRows(seen.messages, stream),
  );
  if (missing.length > 0)
    report.fail(
      `${stream.label}: ${when}; its final state is ${stateText(given)} instead of ${stateText(expected)}, and ${missing.length} of its rows did not come.`,
      messageEvidence("The read", seen, []),
    );
}
