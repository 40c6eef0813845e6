import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { openReference, tryAll } from "../../fixtures/reference/lab.ts";

/** The whole matrix takes whole samples; otherwise others than each rule's own test takes. */
const [effort, seed] = process.env.KIT_MATRIX === "whole" ? [1, 1] : [0.1, 2];

test.each([
  "connector",
  "program",
  "oauth-connector",
  "oauth-program",
] as const)("the reference %s meets every rule that applies to it", async (base) => {
  await using lab = await openReference(base, effort, seed);
  const report = await tryAll(await loadRules(), lab);
  const complaints = report.rules.filter(
    ({ result }) => result !== "pass" && result !== "not-applicable",
  );
  expect(
    complaints.map(({ id, problems, reason }) => [id, problems[0]?.sentence ?? reason]),
  ).toEqual([]);
  expect(report.verdict).toBe("passed");
});
