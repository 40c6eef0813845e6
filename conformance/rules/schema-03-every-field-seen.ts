import { defineRule } from "../contract/rule.ts";
import { outputRows } from "../derive/rows/rows.ts";

export default defineRule({
  id: "SCHEMA-03",
  level: "SHOULD",
  profile: "core",
  since: "0.1.0",
  title: "Every declared field has a value in at least one recorded record.",
  why: "A field that was always null may be misspelt, or dropped on the way: nobody would notice.",
  fix: "Record from an account that uses the field, or compare its name with the provider's documentation and take it out.",
  good: "// the recording has a note with a due date",
  bad: "due_at: Nullable(Timestamp()) // no row has ever had one",
  async run(lab, report) {
    const golden = await lab.golden();
    for (const stream of lab.streams) {
      const rows = golden.flatMap(({ observation }) => outputRows(observation.messages, stream));
      if (rows.length === 0) continue;
      report.checked(stream.label);
      const declared = Object.keys(
        (stream.stream.json_schema as { properties?: object }).properties ?? {},
      );
      const unseen = declared.filter((name) =>
        rows.every(({ data }) => data[name] === undefined || data[name] === null),
      );
      if (unseen.length === 0) continue;
      const covered = Math.round((100 * (declared.length - unseen.length)) / declared.length);
      report.fail(
        `${covered} % of the fields of ${stream.label} have a value in its recordings; never seen: ${unseen.join(", ")}.`,
      );
    }
  },
});
