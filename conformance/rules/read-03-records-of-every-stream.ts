import { exchangeEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { outputRows } from "../derive/rows/rows.ts";

export default defineRule({
  id: "READ-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every stream gives at least one record of its recording, unless it is listed as empty with a reason.",
  why: "A stream whose endpoint was renamed gives no rows for years, and every sync is green.",
  fix: "Record the stream from an account that has rows. If it cannot have any, list it under empty_streams in conformance.yaml, with the reason.",
  good: "empty_streams: { drafts: the sandbox account cannot make any }",
  bad: "# a stream that nobody has ever seen a row of",
  async run(lab, report) {
    const golden = await lab.golden();
    for (const stream of lab.streams) {
      const runs = golden.filter(({ recording }) => recording === stream.recording);
      const reason = lab.settings.empty_streams[stream.label];
      const count = runs.reduce(
        (sum, { observation }) => sum + outputRows(observation.messages, stream).length,
        0,
      );
      // READ-04 reports a recorded read that fails.
      const isFailing = runs.some(({ observation }) => observation.outcome.status !== "succeeded");
      if (count === 0 && isFailing) {
        report.untried(`${stream.label}: its recorded read fails`);
        continue;
      }
      report.checked(stream.label);
      if (runs.length === 0 && reason === undefined)
        report.missing(
          `There is no recording of ${stream.label}: make one with \`svc record\`, or list it under empty_streams with the reason.`,
        );
      else if (count === 0 && (reason ?? "").trim() === "")
        report.fail(
          `${stream.label} gives no record in its recorded run, although nothing failed.`,
          exchangeEvidence(
            "Requests",
            runs.flatMap(({ observation }) => observation.exchanges),
          ),
        );
      else if (count > 0 && reason !== undefined)
        report.fail(
          `${stream.label} is listed under empty_streams, but gives ${count} records; take it off the list.`,
        );
    }
  },
});
