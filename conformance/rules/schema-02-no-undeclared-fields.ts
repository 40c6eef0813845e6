import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { isOpenSchema } from "../derive/spec/stream-schema.ts";
import { recordLines } from "../fixtures/records.ts";

export default defineRule({
  id: "SCHEMA-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No record has a field that its schema does not declare, unless the schema says that it is open.",
  why: "What was not declared was not approved: it may be personal data, and it makes columns that nobody expects.",
  fix: "Write only declared fields, or declare them.",
  good: "yield records(rows.map(({ id, name }) => ({ id, name })));",
  bad: "yield records(rows); // with whatever the provider adds next year",
  async run(lab, report) {
    for (const { recording, observation } of await lab.golden()) {
      for (const stream of lab.streams) {
        const rows = outputRows(observation.messages, stream);
        if (rows.length === 0) continue;
        const { properties = {} } = stream.stream.json_schema as { properties?: object };
        report.checked(`${recording.name}: ${rows.length} records of ${stream.label}`);
        if (isOpenSchema(stream.stream.json_schema)) continue;
        const undeclared = new Set(
          rows.flatMap(({ data }) =>
            Object.keys(data).filter((name) => !Object.hasOwn(properties, name)),
          ),
        );
        const index = rows.findIndex(({ data }) =>
          Object.keys(data).some((name) => undeclared.has(name)),
        );
        if (undeclared.size > 0)
          report.fail(
            `${recording.name}: records of ${stream.label} have ${[...undeclared].join(", ")}, which the schema does not declare.`,
            textEvidence(
              "The first of them",
              recordLines(observation.messages, stream.label)[index] ?? "",
            ),
          );
      }
    }
  },
});
