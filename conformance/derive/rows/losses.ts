/** Rows that a disturbed read lost, against an undisturbed run of the same connector. */
import { streamLabel } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import { errorClasses, type Observation } from "../../contract/observation.ts";
import type { Recording } from "../../contract/recording.ts";
import { compareRows, type Difference, describeDifference, isSame, outputRows } from "./rows.ts";

/** The run of a recording's command when nothing goes wrong. */
export const undisturbed = (lab: Lab, recording: Recording): Promise<Observation> =>
  lab.undisturbed(lab.commandOf(recording));

/**
 * Rows that a run which calls itself successful did not give, as "notes: 2 rows missing (…)";
 * undefined when it gave all of them, failed, or reported what it left out: a warning that names a
 * class or code of error and how many.
 */
export const quietLoss = (
  lab: Lab,
  observation: Observation,
  whole: Observation,
): string | undefined =>
  lossOf(lab, observation, whole, ({ missing, changed }) => ({ missing, changed, extra: [] }));

/** As {@link quietLoss}, of whole rows: a value may have become another one. */
export const quietlyMissing = (
  lab: Lab,
  observation: Observation,
  whole: Observation,
): string | undefined =>
  lossOf(lab, observation, whole, ({ missing, extra }) =>
    missing.length > extra.length ? { missing, changed: [], extra: [] } : nothing,
  );

const nothing: Difference = { missing: [], changed: [], extra: [] };

function lossOf(
  lab: Lab,
  observation: Observation,
  whole: Observation,
  lostOf: (difference: Difference) => Difference,
): string | undefined {
  const { command } = observation;
  if (command.verb !== "read" || !isQuietSuccess(observation, whole)) return undefined;
  const losses = command.catalog.streams.flatMap(({ stream }) => {
    const facts = lab.streams.find(({ label }) => label === streamLabel(stream));
    if (!facts) return [];
    const lost = lostOf(
      compareRows(outputRows(whole.messages, facts), outputRows(observation.messages, facts)),
    );
    return isSame(lost) ? [] : [`${facts.label}: ${describeDifference(lost)}`];
  });
  return losses.length === 0 ? undefined : losses.join("; ");
}

/** True when a run calls itself successful and reports nothing that it left out. */
export const isQuietSuccess = (observation: Observation, whole: Observation): boolean =>
  observation.outcome.status === "succeeded" && !reportsSkip(observation, whole);

const countForm =
  /\bcount\W{1,3}[1-9]\d*|\b[1-9]\d* [a-z ]{0,30}(?:skipped|left out|omitted|not read)|(?:skipped|left out|omitted|not read)\W{1,3}[1-9]\d*\b/i;
const typeForm = new RegExp(`\\b(?:${errorClasses.join("|")}|[A-Z]+(?:_[A-Z]+)+)\\b`);

/**
 * True when a warning names a class or code of error and how many rows it met; `whole`: the run
 * without a disturbance.
 */
export function reportsSkip(observation: Observation, whole: Observation): boolean {
  const usual = new Set(warningsOf(whole));
  return warningsOf(observation).some(
    (text) => !usual.has(text) && countForm.test(text) && typeForm.test(text),
  );
}

const warningsOf = ({ messages }: Observation) =>
  messages.flatMap(({ message }) =>
    message.type === "LOG" && /^(?:WARN|ERROR|FATAL)/i.test(message.log.level)
      ? [message.log.message]
      : [],
  );
