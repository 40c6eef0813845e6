import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { compileStreamSchema } from "../derive/spec/stream-schema.ts";

export default defineRule({
  id: "DISC-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Every stream's schema is a valid JSON Schema of an object with properties.",
  why: "Destinations make tables from schemas. A type that JSON Schema does not know becomes a column of text, or a failed sync at the destination.",
  fix: 'Use JSON Schema\'s types; times are strings with format "date-time".',
  good: '{ type: "string", format: "date-time" }',
  bad: '{ type: "datetime" }',
  async run(lab, report) {
    for (const { label, stream } of lab.streams) {
      report.checked(label);
      const { problem } = compileStreamSchema(stream.json_schema);
      if (problem !== undefined) {
        report.fail(
          `The schema of ${label} is not valid: ${problem}.`,
          textEvidence("Schema", JSON.stringify(stream.json_schema, null, 2)),
        );
        continue;
      }
      const { type, properties } = stream.json_schema as { type?: unknown; properties?: unknown };
      const isObject =
        type === "object" || (Array.isArray(type) && type.includes("object")) || type === undefined;
      const count =
        typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0;
      if (!isObject)
        report.fail(
          `The schema of ${label} has the type ${JSON.stringify(type)}; a record is an object.`,
        );
      else if (count === 0)
        report.fail(
          `The schema of ${label} declares no property, so that a destination makes a table without columns.`,
        );
    }
  },
});
