import { streamLabel } from "svc-connectors/host";
import { textEvidence } from "../contract/evidence.ts";
import type { StreamFacts } from "../contract/lab.ts";
import type { Baseline } from "../contract/recording.ts";
import { defineRule } from "../contract/rule.ts";
import { typesOf } from "../derive/spec/stream-schema.ts";

export default defineRule({
  id: "DISC-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A stream or field that was published stays: removing one, or changing a type, key or cursor, needs a new major version.",
  why: "Tables exist at the destination. A changed key makes duplicates, a changed type makes the load fail, a removed column breaks the reports that use it: and nobody decided it.",
  fix: "Keep it, or raise the major version and record the baseline anew with `svc record`.",
  good: 'version: "2.0.0" // the key of orders is now [account_id, id]',
  bad: 'version: "1.4.1" // the key of orders is now [account_id, id]',
  notApplicable: (lab) =>
    lab.baseline === undefined && lab.target.kind === "container"
      ? "there is no baseline.yaml with what was published"
      : undefined,
  async run(lab, report) {
    const { baseline } = lab;
    if (!baseline)
      return report.missing(
        "There is no baseline.yaml beside the recordings, so that nobody notices a breaking change. `svc record` writes it.",
      );
    const isMajor =
      lab.manifest !== undefined && majorOf(lab.manifest.version) > majorOf(baseline.version);
    for (const published of baseline.streams) {
      const label = streamLabel(published);
      report.checked(label);
      if (isMajor) continue;
      const now = lab.streams.find((stream) => stream.label === label);
      for (const change of changesOf(published, now))
        report.fail(
          `${label}: ${change} since version ${baseline.version}. Raise the major version, or keep it.`,
          textEvidence("Published", JSON.stringify(published, null, 2)),
          ...(now ? [textEvidence("Now", JSON.stringify(now.stream, null, 2))] : []),
        );
    }
  },
});

const majorOf = (version: string) => Number(version.split(".")[0]);

function changesOf(published: Baseline["streams"][number], now: StreamFacts | undefined): string[] {
  if (!now) return ["the stream is gone"];
  const changes: string[] = [];
  const text = (paths: readonly (readonly string[])[]) =>
    paths
      .map((path) => path.join("."))
      .sort()
      .join(", ");
  const {
    source_defined_primary_key: key = [],
    default_cursor_field: cursor = [],
    json_schema,
  } = now.stream;
  if (text(published.primary_key) !== text(key))
    changes.push(`the primary key was [${text(published.primary_key)}] and is [${text(key)}]`);
  if (published.cursor_field.join(".") !== cursor.join("."))
    changes.push(
      `the cursor was "${published.cursor_field.join(".")}" and is "${cursor.join(".")}"`,
    );
  const properties = ((json_schema as { properties?: { [name: string]: never } }).properties ??
    {}) as Record<string, never>;
  for (const [field, type] of Object.entries(published.fields)) {
    if (!Object.hasOwn(properties, field)) {
      changes.push(`the field ${field} is gone`);
      continue;
    }
    const before = (Array.isArray(type) ? type : [type]).map(String);
    const after = typesOf(properties[field]);
    if (after.length > 0 && before.some((one) => !after.includes(one) && one !== "null"))
      changes.push(`the field ${field} was ${before.join(" or ")} and is ${after.join(" or ")}`);
  }
  return changes;
}
