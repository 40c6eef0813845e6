import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { findFixtureSecrets } from "./fix-02.fixture-secrets.ts";

export default defineRule({
  id: "FIX-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No recording holds a secret: not as it is, and not packed in gzip, Brotli, base64, hex, percent signs, forms or JSON.",
  why: "Recordings are committed and published. A token in them is found by robots within minutes, and stays in the history after it was removed from the file.",
  fix: "Revoke the secret first: it is known now. Then record anew with `svc record`, which puts placeholders in its place before it writes.",
  good: 'body: \'{"access_token":"{{issued:access_token}}"}\'',
  bad: 'body: \'{"access_token":"ya29.a0AfH6SMB…"}\'',
  async run(lab, report) {
    const files: readonly (readonly [string, object | undefined])[] = [
      ...lab.unfilled.map((recording) => [`${recording.name}.yaml`, recording] as const),
      ["answers.yaml", lab.answers],
      ["baseline.yaml", lab.baseline],
      ["the database seed", lab.database && { sql: lab.database.seed }],
    ];
    for (const [file, document] of files) {
      if (document === undefined) continue;
      report.checked(file);
      for (const { pointer, what } of findFixtureSecrets(file, document))
        report.fail(
          `${file} holds ${what}, at ${pointer}. Expected: a placeholder such as {{secret:api_token}} or {{issued:access_token}}.`,
          textEvidence("Where", `${file} ${pointer}\n${what}; its value is not repeated here.`),
        );
    }
  },
});
