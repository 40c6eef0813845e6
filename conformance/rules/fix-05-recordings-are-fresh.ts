import { textEvidence } from "../contract/evidence.ts";
import type { Interaction } from "../contract/recording.ts";
import { defineRule } from "../contract/rule.ts";

const dayMs = 86_400_000;

export default defineRule({
  id: "FIX-05",
  level: "SHOULD",
  profile: "core",
  since: "0.1.0",
  title:
    "Recordings are no older than max_age_days, and of no endpoint that its provider has announced to end.",
  why: "Providers change. A connector that passes on a recording of three years ago passes on a provider that is gone.",
  fix: "Record anew, and look at what changed. For an endpoint with a Sunset or Deprecation header (RFC 8594, RFC 9745), move to what follows it.",
  good: "max_age_days: 365 # in conformance.yaml",
  bad: "recorded_at: '2019-03-01T00:00:00Z'",
  notApplicable: (lab) =>
    lab.database ? "its data is what the seed says: nothing is recorded" : undefined,
  async run({ unfilled, answers, settings, todayMs }, report) {
    const files = [
      ...unfilled.map(({ name, metadata }) => ({ file: `${name}.yaml`, metadata })),
      ...(answers ? [{ file: "answers.yaml", metadata: answers.metadata }] : []),
    ];
    for (const { file, metadata } of files) {
      report.checked(file);
      const days = Math.floor((todayMs - Date.parse(metadata.recorded_at)) / dayMs);
      if (days > settings.max_age_days)
        report.fail(
          `${file} was recorded ${days} days ago, on ${metadata.recorded_at.slice(0, 10)}; ${settings.max_age_days} are allowed. Record it anew.`,
        );
    }
    for (const { name, interactions } of unfilled) {
      for (const [index, interaction] of interactions.entries()) {
        for (const problem of announcements(interaction, todayMs))
          report.fail(
            `${name}.yaml, interaction ${index + 1}: ${interaction.request.method} ${new URL(interaction.request.url).pathname} ${problem}.`,
            textEvidence("Headers", JSON.stringify(interaction.response.headers, null, 2)),
          );
      }
    }
  },
});

function announcements({ response: { headers } }: Interaction, todayMs: number): string[] {
  const { sunset, deprecation } = headers;
  const found: string[] = [];
  if (sunset !== undefined) {
    const endMs = Date.parse(sunset);
    found.push(
      endMs < todayMs
        ? `ended on ${sunset} (Sunset): what is recorded is no longer there`
        : `ends on ${sunset} (Sunset)`,
    );
  }
  if (deprecation !== undefined && deprecation !== "false") {
    const seconds = /^@(-?\d{1,12})$/.exec(deprecation)?.[1];
    const since =
      seconds === undefined
        ? deprecation
        : new Date(Number(seconds) * 1_000).toISOString().slice(0, 10);
    found.push(`is deprecated (Deprecation: ${since})`);
  }
  return found;
}
