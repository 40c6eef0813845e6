import { streamLabel } from "svc-connectors/host";
import { messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import type { TargetKind } from "../contract/target.ts";

export default defineRule({
  id: "READ-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Each stream starts, gives its records and states, and ends with exactly one COMPLETE or INCOMPLETE; nothing comes after it.",
  why: "A destination commits a stream when it is complete. Rows after that are lost; a stream without an end is never committed, or too early.",
  fix: "Send STARTED before the first row, one terminal status after the last, also when the stream fails; wait for everything that is still under way first.",
  good: "STARTED, RECORD…, STATE, COMPLETE",
  bad: "RECORD, STARTED, COMPLETE, RECORD",
  async run(lab, report) {
    for (const { name, observation } of await lab.everyRun()) {
      if (observation.command.verb !== "read") continue;
      report.checked(name);
      for (const { sentence, index } of grammarFaults(observation, lab.target.kind))
        report.fail(
          `${name}: ${sentence}`,
          messageEvidence(
            "The run",
            observation,
            index === undefined ? [observation.messages.length - 1] : [index],
          ),
        );
    }
  },
});

interface StreamProgress {
  readonly isStarted: boolean;
  readonly ending?: string | undefined;
}

function grammarFaults(
  { command, messages, isStopped, outcome }: Observation,
  target: TargetKind,
): { sentence: string; index?: number }[] {
  const faults: { sentence: string; index?: number }[] = [];
  const places = new Map<string, StreamProgress>();
  const at = (stream: string): StreamProgress => places.get(stream) ?? { isStarted: false };
  for (const [index, { message }] of messages.entries()) {
    const own = streamOf(message);
    if (own === undefined) continue;
    const { stream, kind } = own;
    const place = at(stream);
    if (place.ending !== undefined) {
      // Airbyte's CDK sends a stream's last state after it, whoever writes the source.
      if (target === "container" && kind === "a STATE") continue;
      faults.push({ sentence: `${kind} of ${stream} comes after its ${place.ending}.`, index });
      continue;
    }
    if (kind === "STARTED") {
      if (place.isStarted) faults.push({ sentence: `${stream} starts twice.`, index });
      places.set(stream, { isStarted: true });
    } else if (!place.isStarted) {
      faults.push({ sentence: `${kind} of ${stream} comes before its STARTED.`, index });
      places.set(stream, { isStarted: true });
    }
    if (kind === "COMPLETE" || kind === "INCOMPLETE")
      places.set(stream, { isStarted: true, ending: kind });
  }
  // A run that was cut off from outside cannot end its streams.
  if (isStopped || outcome.status === "hung") return faults;
  if (outcome.status === "succeeded" && command.verb === "read")
    for (const { stream } of command.catalog.streams) {
      const name = streamLabel(stream);
      if (!places.has(name))
        faults.push({ sentence: `${name} was selected, and the run says nothing of it.` });
    }
  for (const [stream, { isStarted, ending }] of places) {
    if (isStarted && ending === undefined)
      faults.push({ sentence: `${stream} started and has no COMPLETE or INCOMPLETE.` });
  }
  return faults;
}

function streamOf(
  message: Observation["messages"][number]["message"],
): { stream: string; kind: string } | undefined {
  const label = ({ name, namespace }: { name: string; namespace?: string | undefined }) =>
    namespace ? `${namespace}.${name}` : name;
  if (message.type === "RECORD")
    return {
      stream: label({ name: message.record.stream, namespace: message.record.namespace }),
      kind: "a RECORD",
    };
  if (message.type === "STATE" && message.state.stream)
    return { stream: label(message.state.stream.stream_descriptor), kind: "a STATE" };
  const status = message.type === "TRACE" ? message.trace.stream_status : undefined;
  return status ? { stream: label(status.stream_descriptor), kind: status.status } : undefined;
}
