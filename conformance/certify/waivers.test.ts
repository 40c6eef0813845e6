import { expect, test } from "vitest";
import type { Result, RuleReport } from "../contract/report.ts";
import type { Waiver } from "../contract/settings.ts";
import { applyWaivers } from "./waivers.ts";

const today = Date.parse("2026-07-01T12:00:00Z");

const report = (id: string, result: Result): RuleReport => ({
  ...{ id, result, level: "MUST", profile: "core", title: "", why: "", fix: "" },
  ...{ subjectCount: 1, subjects: [], problems: [], runCount: 0, durationMs: 0, repro: "" },
});
const waiver = (rule: string, own: Partial<Waiver> = {}): Waiver => ({
  rule,
  reason: "the provider is small",
  owner: "data team",
  expires: "2026-07-01",
  ...own,
});

const apply = (reports: readonly RuleReport[], waivers: readonly Waiver[]) =>
  applyWaivers(reports, waivers, today, new Set(reports.map(({ id }) => id)));

test.each([
  "fail",
  "warn",
  "vacuous",
] as const)("a waiver with reason, owner and day accepts a rule that says %s, with its words", (result) => {
  const { reports, remarks } = apply(
    [report("PAGE-08", result), report("LEAK-01", "pass")],
    [waiver("PAGE-08")],
  );
  expect(reports.map((one) => one.result)).toEqual(["waived", "pass"]);
  expect(reports[0]?.reason).toBe("waived by data team until 2026-07-01: the provider is small");
  expect(remarks).toEqual([]);
});

test("the day that a waiver names is the last one on which it counts", () => {
  const until = (expires: string) =>
    apply([report("PAGE-08", "fail"), report("LEAK-01", "pass")], [waiver("PAGE-08", { expires })]);
  expect(until("2026-07-01").remarks).toEqual([]);
  const late = until("2026-06-30");
  expect(late.reports[0]?.result).toBe("fail");
  expect(late.remarks).toEqual([
    "The waiver of PAGE-08 expired on 2026-06-30; mend the connector, or renew it.",
  ]);
});

test.each([
  [{ reason: " " }, /no reason or no owner/],
  [{ owner: "" }, /no reason or no owner/],
  [{ expires: "never" }, /no expiry date/],
  [{ expires: "01.07.2026" }, /no expiry date/],
] as const)("a waiver with %j waives nothing and is reported", (own, words) => {
  const { reports, remarks } = apply(
    [report("PAGE-08", "fail"), report("LEAK-01", "pass")],
    [waiver("PAGE-08", own)],
  );
  expect(reports[0]?.result).toBe("fail");
  expect(remarks.join()).toMatch(words);
});

test.each([
  "pass",
  "not-applicable",
] as const)("a waiver of a rule that says %s is reported, because nobody needs it any more", (result) => {
  const { reports, remarks } = apply(
    [report("PAGE-08", result), report("LEAK-01", "pass")],
    [waiver("PAGE-08")],
  );
  expect(reports[0]?.result).toBe(result);
  expect(remarks).toEqual(["The waiver of PAGE-08 is not needed any more; remove it."]);
});

test("a fault of the kit cannot be waived", () => {
  expect(
    apply([report("PAGE-08", "error"), report("LEAK-01", "pass")], [waiver("PAGE-08")]).reports[0]
      ?.result,
  ).toBe("error");
});

test("waivers of rules that were not tried this time are left alone", () => {
  expect(
    apply([report("LEAK-01", "pass")], [waiver("PAGE-08", { expires: "2020-01-01" })]).remarks,
  ).toEqual([]);
});

test("a run in which every rule is waived or does not apply proves nothing", () => {
  expect(
    apply([report("PAGE-08", "fail"), report("AUTH-01", "not-applicable")], [waiver("PAGE-08")])
      .remarks,
  ).toEqual(["Nothing was proved: every rule was waived, left out or does not apply."]);
  expect(apply([report("AUTH-01", "not-applicable")], []).remarks).toHaveLength(1);
});

test("a run that proves nothing names what is missing for most of its rules", () => {
  const missing = "a database is needed: install MariaDB";
  const reports = ["A-01", "A-02", "A-03"].map((id, at) => ({
    ...report(id, "not-applicable"),
    reason: at === 1 ? "it has no tokens" : missing,
  }));
  expect(apply(reports, []).remarks).toEqual([
    `Nothing was proved: every rule was waived, left out or does not apply. Mostly: ${missing}.`,
  ]);
});

test("a run without rules proves nothing", () => {
  expect(apply([], []).remarks).toEqual(["No rule was tried."]);
});
