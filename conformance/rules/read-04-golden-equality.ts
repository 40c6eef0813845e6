import { streamLabel } from "svc-connectors/host";
import type { Database } from "../contract/database.ts";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { isOfClass } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import type { Recording } from "../contract/recording.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { compareWithTable } from "../derive/database/rows.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { streamOracle } from "../fixtures/oracle.ts";
import { recordLines } from "../fixtures/records.ts";
import { classify } from "../target/classes.ts";

export default defineRule({
  id: "READ-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A replayed run gives exactly the records that were recorded: their number, their keys, their content.",
  why: "A mapping that changed by accident changes a column in every table of every user, without an error.",
  fix: "Look at what differs. If the change is wanted, record the stream anew, and review the recording.",
  good: "// the recording was made anew in the commit that changed the mapping",
  bad: "amount: Math.round(row.amount)",
  async run(lab, report) {
    for (const { recording, observation } of await lab.golden()) {
      const { status, error } = recording.outcome;
      report.checked(recording.name);
      const unselected = recording.run.streams
        ?.map(streamLabel)
        .find((label) => !lab.streams.some((stream) => stream.label === label));
      if (unselected !== undefined) {
        report.fail(
          `${recording.name}.yaml is a recording of ${unselected}, a stream that the connector does not have: remove the file, or rename the stream in it.`,
        );
        continue;
      }
      const { outcome } = observation;
      const isSame =
        status === "succeeded" ? outcome.status === "succeeded" : outcome.status === "failed";
      if (!isSame) {
        const [reason] = outcome.failures;
        report.fail(
          `${recording.name}: the recorded run ${status}, the replayed one ${outcome.status}${reason ? ` with ${reason.code ?? "an error"}: ${reason.message}` : ""}.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges,
            ({ unmatched }) => unmatched !== undefined,
          ),
          messageEvidence("The run", observation, [observation.messages.length - 1]),
        );
        continue;
      }
      const [failure] = outcome.failures;
      // Recorded is a code, or a failure_type: classify() knows them apart.
      if (
        error !== undefined &&
        failure &&
        failure.classes.length > 0 &&
        !isOfClass(failure, ...classify(error, error).classes) &&
        failure.code !== error
      )
        report.fail(
          `${recording.name}: the recorded run failed with ${error}, the replayed one with ${failure.code ?? failure.message}.`,
        );
      if (lab.database)
        await compareWithDatabase(lab, lab.database, recording, observation, report);
      for (const [label, oracle] of Object.entries(recording.outcome.streams ?? {})) {
        const lines = recordLines(observation.messages, label);
        const primaryKey = lab.streams.find((stream) => stream.label === label)?.primaryKey ?? [];
        const given = streamOracle(lines, primaryKey);
        const records = messageEvidence("Messages", observation, []);
        const requests = exchangeEvidence("Requests", observation.exchanges);
        if (given.record_count !== oracle.record_count)
          report.fail(
            `${recording.name}: ${given.record_count} records of ${label} came, ${oracle.record_count} were recorded.`,
            requests,
            records,
          );
        else if (
          given.keys !== undefined &&
          oracle.keys !== undefined &&
          given.keys !== oracle.keys
        )
          report.fail(
            `${recording.name}: the ${given.record_count} records of ${label} have other keys than were recorded.`,
            requests,
            records,
          );
        else if (given.content !== oracle.content)
          report.fail(
            `${recording.name}: the records of ${label} are as many as recorded, but their content is another.`,
            requests,
            records,
          );
      }
    }
  },
});

/** A read from the beginning gives what stands in the table, to the last digit. */
async function compareWithDatabase(
  lab: Lab,
  database: Database,
  recording: Recording,
  observation: Observation,
  report: Reporter,
): Promise<void> {
  if (recording.run.verb !== "read") return;
  const label = recording.run.streams?.map(streamLabel)[0];
  const stream = lab.streams.find((facts) => facts.label === label);
  if (!stream) return;
  for (const sentence of await compareWithTable(
    database.sql,
    database,
    stream,
    outputRows(observation.messages, stream),
  ))
    report.fail(`${recording.name}: ${sentence}.`, messageEvidence("The run", observation, []));
}
