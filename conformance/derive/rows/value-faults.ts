/** Reports a value that did not come through, for the rules about values. */

import { exchangeEvidence, messageEvidence } from "../../contract/evidence.ts";
import type { Reporter } from "../../contract/rule.ts";
import { toText } from "../../learn/json.ts";
import type { StreamFields } from "./row-fields.ts";
import type { ValueFault } from "./splices.ts";

/** A value that can be represented has to come out as it went in. */
export const reportValueFault = (
  report: Reporter,
  { stream }: Pick<StreamFields, "stream">,
  fault: ValueFault,
): void => reportFault(report, stream.label, fault, "It has to come out as it went in.");

/** A value that does not fit has to be reported. */
export const reportDrift = (
  report: Reporter,
  { stream }: Pick<StreamFields, "stream">,
  fault: ValueFault,
): void =>
  reportFault(
    report,
    stream.label,
    fault,
    "Write null and name the field in meta.changes, or fail with a schema error.",
  );

function reportFault(report: Reporter, label: string, fault: ValueFault, advice: string): void {
  const { field, case: one, kind, observation, message } = fault;
  const where = `${label}: ${one.value === undefined ? `${field.name} is missing` : `${field.name} is ${one.text}`} in ${fault.place}`;
  report.fail(
    `${where}, ${becameOf(fault)}${kind === "changed" ? ` ${advice}` : ""}`,
    messageEvidence(
      "The run",
      observation,
      message === undefined
        ? kind === "lost"
          ? []
          : [observation.messages.length - 1]
        : [message],
    ),
    exchangeEvidence(
      "Requests",
      observation.exchanges,
      ({ answer }) =>
        one.value !== undefined && (answer?.body.includes(toText(one.value)) ?? false),
    ),
  );
}

function becameOf({ kind, given, field, observation: { outcome } }: ValueFault): string {
  if (kind === "lost") return "and its record does not come; nothing says why.";
  const reason = outcome.failures[0]
    ? `${outcome.failures[0].code ?? "error"}: ${outcome.failures[0].message}`
    : "it says nothing";
  if (kind === "crashed") return `and the run ${outcome.status} in no orderly way (${reason}).`;
  if (kind === "refused")
    return `and the run fails (${reason}), although ${field.name} may have this value.`;
  return `and ${given === undefined ? "the record has no such field" : `${shortText(given)} stands in the record`}.`;
}

/** A long value shows its beginning and its length. */
function shortText(value: unknown): string {
  const text = toText(value);
  return text.length > 5_000 ? `${text.slice(0, 40)}… (${text.length} characters)` : text;
}
