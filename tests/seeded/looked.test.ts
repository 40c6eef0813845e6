/**
 * A rule that passes has looked: of a source whose reads all fail, nothing is said about what reads
 * give, nor of one whose resumed reads fail about those. Rules that could not try anything say why.
 */
import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { openDefect, tryAll } from "../../fixtures/reference/lab.ts";

/** Of what reads give; LIMIT-03 looks at checks too. */
const ofRows =
  /^(?:READ|STATE|SCHEMA|PAGE|MEM|DET)-|^(?:DISC-05|ERROR-0[345]|LIMIT-0[24]|FIX-0[17])$/;
/** Selections that are refused, the order of messages, and the code and its accesses. */
const ofMore = ["READ-01", "READ-02", "DET-04"];

test("no rule about rows passes where no read gives any", async () => {
  await using lab = await openDefect("every-read-fails", 0.05);
  const rules = (await loadRules()).filter(({ id }) => ofRows.test(id));
  const { rules: reports } = await tryAll(rules, lab);
  const passed = reports.filter(({ result }) => result === "pass");
  expect(passed.filter(({ id }) => !ofMore.includes(id)).map(({ id }) => id)).toEqual([
    // Of the requests of check, which succeeds.
    "DET-01",
  ]);
  for (const { id, result, reason } of reports)
    if (result === "not-applicable") expect([id, reason]).toEqual([id, expect.stringMatching(/./)]);
});

test("a permission that is missing says nothing where reads fail with it", async () => {
  await using lab = await openDefect("every-read-fails");
  const rules = (await loadRules()).filter(({ id }) => id === "CHECK-07");
  const [report] = (await tryAll(rules, lab)).rules;
  expect(report?.subjects).toContain("configuration as it is");
  expect(report?.subjects.filter((one) => one.includes("without permission"))).toEqual([]);
});

test("no rule about resumed reads passes where none succeeds", async () => {
  await using lab = await openDefect("every-resume-fails", 0.1);
  const rules = (await loadRules()).filter(({ id }) => /^STATE-(?:0[12]|1[1345])$/.test(id));
  const { rules: reports } = await tryAll(rules, lab);
  expect(reports.filter(({ result }) => result === "pass").map(({ id }) => id)).toEqual([]);
});
