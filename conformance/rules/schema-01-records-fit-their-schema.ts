import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { compileStreamSchema } from "../derive/spec/stream-schema.ts";
import { recordLines } from "../fixtures/records.ts";

export default defineRule({
  id: "SCHEMA-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Every record fits its stream's schema, formats included.",
  why: "The destination made its columns from the schema. A value of another type fails the load, or ends up as null.",
  fix: "Declare what the provider really gives (it is in the recordings), or convert the value.",
  good: "amount: Nullable(Type.Number()) // the provider gives 12.5 and null",
  bad: "amount: Type.Integer() // the provider gives 12.5",
  async run(lab, report) {
    const compiled = new Map(
      lab.streams.map(({ label, stream }) => [label, compileStreamSchema(stream.json_schema)]),
    );
    for (const { recording, observation } of await lab.golden()) {
      for (const { label } of lab.streams) {
        const lines = recordLines(observation.messages, label);
        if (lines.length === 0) continue;
        report.checked(`${recording.name}: ${lines.length} records of ${label}`);
        const nulled = nulledFields(observation.messages, label);
        if (nulled.length > 0)
          report.fail(
            `${recording.name}: values of ${label} did not fit the schema and were written as null: ${nulled.slice(0, 5).join(", ")}.`,
            textEvidence("meta.changes", nulled.join("\n")),
          );
        for (const [index, line] of lines.entries()) {
          const faults = compiled.get(label)?.faults(JSON.parse(line)) ?? [];
          for (const { path, problem } of faults.slice(0, 3))
            report.fail(
              `${recording.name}: record ${index + 1} of ${label}: ${path || "the record"} ${problem}.`,
              textEvidence("Record", line),
            );
        }
      }
    }
  },
});

/** Fields that the runtime nulled because they did not fit: it reports them in `meta.changes`. */
function nulledFields(
  messages: readonly { readonly message: { readonly type: string } }[],
  label: string,
): string[] {
  const fields = messages.flatMap(({ message }) => {
    if (message.type !== "RECORD") return [];
    const { record } = message as unknown as {
      record: {
        stream: string;
        namespace?: string;
        meta?: { changes?: readonly { field?: string }[] };
      };
    };
    const own = record.namespace ? `${record.namespace}.${record.stream}` : record.stream;
    return own === label ? (record.meta?.changes ?? []).map(({ field }) => String(field)) : [];
  });
  return [...new Set(fields)];
}
