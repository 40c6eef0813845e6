import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { openReference, tryAll } from "../../fixtures/reference/lab.ts";

/**
 * The whole matrix takes whole samples; otherwise a part of each is enough to see that nobody
 * complains.
 */
const effort = process.env.KIT_MATRIX === "whole" ? 1 : 0.25;

test.each([
  "connector",
  "program",
  "oauth-connector",
  "oauth-program",
] as const)("the reference %s meets every rule that applies to it", async (base) => {
  await using lab = await openReference(base, effort);
  const report = await tryAll(await loadRules(), lab);
  const complaints = report.rules.filter(
    ({ result }) => result !== "pass" && result !== "not-applicable",
  );
  expect(
    complaints.map(({ id, problems, reason }) => [id, problems[0]?.sentence ?? reason]),
  ).toEqual([]);
  expect(report.verdict).toBe("passed");
});
