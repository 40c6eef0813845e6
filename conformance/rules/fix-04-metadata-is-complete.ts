import { textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { RecordingMetadata } from "../contract/recording.ts";
import { defineRule } from "../contract/rule.ts";

/** Words that people write where they do not know. */
const unknownWords =
  /^(?:|-|\?+|\.+|x+|0|n\/?a|none|null|undefined|unknown|todo|tbd|fixme|any|latest|current|default|version|provider|example|test|v?x(?:\.x)*)$/i;
/** HTTP APIs are younger. */
const firstMs = Date.UTC(2000, 0, 1);
const dayMs = 86_400_000;

export default defineRule({
  id: "FIX-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every recording says of which version of the provider's API it is, when it was made, from which clock and seed, and what was redacted.",
  why: "In a year somebody asks whether a recording is still true. Without its version and date nobody can say; without its seed and clock nobody can make it again.",
  fix: "Record with `svc record`, which writes all of it; it takes the API's version from --provider-version.",
  good: "provider_api_version: '2020-09-14'\nrecorded_at: '2026-06-01T00:00:00Z'\nseed: 1",
  bad: "provider_api_version: unknown",
  notApplicable: (lab) =>
    lab.database ? "its data is what the seed says: nothing is recorded" : undefined,
  async run(lab, report) {
    const files = [
      ...lab.unfilled.map(({ name, metadata, ...rest }) => ({
        file: `${name}.yaml`,
        metadata,
        rest: JSON.stringify(rest),
      })),
      ...(lab.answers ? [{ file: "answers.yaml", metadata: lab.answers.metadata, rest: "" }] : []),
    ];
    for (const { file, metadata, rest } of files) {
      report.checked(file);
      for (const problem of problemsOf(lab, metadata, rest))
        report.fail(
          `${file}: ${problem}`,
          textEvidence("Metadata", JSON.stringify(metadata, null, 2) ?? "none"),
        );
    }
  },
});

/** `rest`: the recording as text. */
function problemsOf(
  { todayMs }: Lab,
  metadata: Partial<RecordingMetadata> | undefined,
  rest: string,
): string[] {
  const {
    kit,
    matcher,
    provider,
    provider_api_version,
    recorded_at = "",
    clock_origin = "",
    seed,
    redactions,
  } = metadata ?? {};
  const recordedMs = Date.parse(recorded_at);
  const originMs = Date.parse(clock_origin);
  const names = Array.isArray(redactions) ? redactions : [];
  return [
    ...(kit === 1 ? [] : ["kit, the version of the format, has to be 1."]),
    ...(matcher === 1
      ? []
      : ["matcher, the version of the rules that match requests, has to be 1."]),
    ...(isKnown(provider) ? [] : ["provider does not name the provider."]),
    ...(isKnown(provider_api_version)
      ? []
      : [
          `provider_api_version (${JSON.stringify(provider_api_version)}) names no version of the API. Look it up in the URL, a header or the provider's changelog.`,
        ]),
    ...(isTime(recordedMs) ? [] : ["recorded_at is no time."]),
    ...(recordedMs > todayMs + dayMs ? [`recorded_at (${recorded_at}) lies in the future.`] : []),
    ...(recordedMs < firstMs ? [`recorded_at (${recorded_at}) is too long ago to be true.`] : []),
    ...(isTime(originMs)
      ? []
      : ["clock_origin is no time: a replay does not know when it begins."]),
    ...(Math.abs(originMs - recordedMs) > dayMs
      ? [
          `clock_origin (${clock_origin}) is more than a day from recorded_at (${recorded_at}): one of the two was changed by hand.`,
        ]
      : []),
    ...(typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0
      ? []
      : ["seed, from which the pseudonyms were made, has to be a whole number from 0."]),
    ...(Array.isArray(redactions) &&
    names.every((one) => typeof one === "string" && one.trim() !== "")
      ? []
      : ["redactions has to list the ids of what was redacted."]),
    ...(names.length === 0 && /\{\{(?:secret|issued):/.test(rest)
      ? [
          "redactions is empty, but placeholders stand in the recording: it was redacted by something that does not say so.",
        ]
      : []),
  ];
}

const isKnown = (text: unknown) => typeof text === "string" && !unknownWords.test(text.trim());
const isTime = (ms: number) => !Number.isNaN(ms);
