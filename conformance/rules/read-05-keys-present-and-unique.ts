import { messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { messageOf } from "../derive/rows/splices.ts";

export default defineRule({
  id: "READ-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "In a full refresh every record has all parts of its primary key, not null, and no two have the same.",
  why: "Destinations merge by key: two rows with one key become one, a null key matches nothing. Data disappears after it arrived.",
  fix: "Declare all parts of the key: ids that are unique only below a parent need the parent's.",
  good: 'primaryKey: ["account_id", "id"]',
  bad: 'primaryKey: ["id"] // each account counts from 1',
  notApplicable: (lab) =>
    lab.streams.some(({ primaryKey }) => primaryKey.length > 0)
      ? undefined
      : "no stream declares a primary key",
  async run(lab, report) {
    for (const { recording, observation } of await lab.golden()) {
      if (recording.run.verb !== "read" || observation.outcome.status !== "succeeded") continue;
      const isFull = (label: string) =>
        recording.run.state === undefined &&
        recording.run.streams?.some(
          ({ name, namespace }) => (namespace ? `${namespace}.${name}` : name) === label,
        );
      for (const stream of lab.streams.filter(
        ({ label, primaryKey }) => primaryKey.length > 0 && isFull(label),
      )) {
        report.checked(`${recording.name}: ${stream.label}`);
        const rows = outputRows(observation.messages, stream);
        const first = new Map<string, number>();
        for (const [index, { key, data, content }] of rows.entries()) {
          const missing = stream.primaryKey.filter(
            (field) => data[field] === undefined || data[field] === null,
          );
          if (missing.length > 0)
            report.fail(
              `${recording.name}: record ${index + 1} of ${stream.label} has no ${missing.join(", ")}, which is part of the key.`,
              messageEvidence("Record", observation, [numberOf(observation, stream.label, index)]),
            );
          const other = first.get(key);
          if (other !== undefined && rows[other]?.content !== content)
            report.fail(
              `${recording.name}: records ${other + 1} and ${index + 1} of ${stream.label} are different rows with the same key ${key}.`,
              messageEvidence("Records", observation, [
                numberOf(observation, stream.label, other),
                numberOf(observation, stream.label, index),
              ]),
            );
          else if (other !== undefined)
            report.fail(
              `${recording.name}: record ${index + 1} of ${stream.label} is record ${other + 1} once more (key ${key}).`,
              messageEvidence("Records", observation, [
                numberOf(observation, stream.label, other),
                numberOf(observation, stream.label, index),
              ]),
            );
          else first.set(key, index);
        }
      }
    }
  },
});

const numberOf = (observation: Observation, label: string, nth: number) =>
  messageOf(observation, label, nth) ?? 0;
