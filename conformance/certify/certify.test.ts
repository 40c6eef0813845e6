import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenLab, openReference } from "../../fixtures/reference/lab.ts";
import { BudgetSpentError } from "../contract/budget.ts";
import { defineRule, type Reporter, type Rule } from "../contract/rule.ts";
import type { Waiver } from "../contract/settings.ts";
import { certify, tryRule } from "./certify.ts";

let lab: OpenLab;
beforeAll(async () => {
  lab = await openReference("program");
});
afterAll(() => lab[Symbol.asyncDispose]());

const rule = (own: Partial<Rule> = {}): Rule =>
  defineRule({
    ...{
      id: "LEAK-01",
      level: "MUST",
      profile: "core",
      since: "0.1.0",
      title: "",
      why: "",
      fix: "",
      good: "",
      bad: "",
    },
    run: async (_, report) => report.checked("one thing"),
    ...own,
  });
const failing = rule({
  id: "PAGE-08",
  async run(_, report) {
    report.checked("one thing");
    report.fail("It is wrong.");
  },
});
const waiver: Waiver = {
  rule: "PAGE-08",
  reason: "the provider is small",
  owner: "data team",
  expires: "2026-12-31",
};

const run = (
  rules: readonly Rule[],
  waivers: readonly Waiver[] = [],
  signal: AbortSignal | undefined = undefined,
) =>
  certify({
    lab,
    signal,
    rules,
    waivers,
    profiles: ["core"],
    kitVersion: "0.0.0",
    command: "svc conformance it",
    startedAt: "2026-07-01T00:00:00Z",
  });
const resultOf = async (one: Rule) => (await run([one])).rules[0];

test("a rule that looked at something and found nothing wrong passes, and so does the run", async () => {
  const report = await run([rule()]);
  expect([report.rules[0]?.result, report.rules[0]?.subjects, report.verdict]).toEqual([
    "pass",
    ["one thing"],
    "passed",
  ]);
});

test("a rule that looked at nothing is vacuous and fails the run", async () => {
  const report = await run([rule(), rule({ id: "LEAK-02", run: async () => {} })]);
  expect(report.rules[1]).toMatchObject({
    result: "vacuous",
    reason: expect.stringMatching(/nothing was found to look at/),
  });
  expect(report.verdict).toBe("failed");
});

test("what is wrong fails a MUST and warns for a SHOULD; only the first fails the run", async () => {
  expect([(await run([failing])).verdict, (await resultOf(failing))?.result]).toEqual([
    "failed",
    "fail",
  ]);
  const warning = await run([rule(), { ...failing, level: "SHOULD" }]);
  expect([warning.rules[1]?.result, warning.verdict]).toEqual(["warn", "passed"]);
});

test("a sentence that ends with the connector's own one has one full stop, and dots stay dots", async () => {
  const words = [
    "the read failed: No rows..",
    "No rows.. Expected: some.",
    "up to ../a ...",
    "a..b",
  ];
  const wordy = rule({
    async run(_, report) {
      for (const one of words) report.fail(one);
    },
  });
  const { rules } = await run([wordy]);
  expect(rules[0]?.problems.map(({ sentence }) => sentence)).toEqual([
    "the read failed: No rows.",
    "No rows. Expected: some.",
    "up to ../a ...",
    "a..b",
  ]);
});

test("something missing fails, it does not skip", async () => {
  const missing = rule({
    run: async (_, report) => report.missing("There is no recording of it."),
  });
  expect(await resultOf(missing)).toMatchObject({
    result: "fail",
    problems: [{ sentence: "There is no recording of it." }],
  });
});

test("a rule that does not apply is listed with its reason and is not run", async () => {
  const report = await run([
    rule(),
    rule({
      id: "AUTH-01",
      notApplicable: () => "it has no login",
      run: () => Promise.reject(new Error("it ran")),
    }),
  ]);
  expect(report.rules[1]).toMatchObject({
    result: "not-applicable",
    reason: "it has no login",
    subjectCount: 0,
  });
  expect(report.verdict).toBe("passed");
});

test("a rule that throws is the kit's fault: the run is unusable, whatever else it found", async () => {
  const report = await run([
    failing,
    rule({ id: "LEAK-02", run: () => Promise.reject(new Error("oh")) }),
  ]);
  expect(report.rules[1]).toMatchObject({
    result: "error",
    reason: expect.stringMatching(/kit failed .*: oh/),
  });
  expect(report.verdict).toBe("unusable");
});

test("an empty run fails", async () => {
  expect(await run([])).toMatchObject({ verdict: "failed", remarks: ["No rule was tried."] });
});

test("a run in which everything is waived or does not apply fails", async () => {
  const nothing = rule({ id: "AUTH-01", notApplicable: () => "it has no login" });
  expect(await run([failing, nothing], [waiver])).toMatchObject({
    verdict: "failed",
    counts: { waived: 1, "not-applicable": 1 },
  });
  expect((await run([nothing])).verdict).toBe("failed");
});

test("a waived failure beside a rule that passes does not fail the run; a waiver that is not needed does", async () => {
  expect((await run([rule(), failing], [waiver])).verdict).toBe("passed");
  const report = await run([rule(), rule({ id: "PAGE-08" })], [waiver]);
  expect([report.verdict, report.remarks]).toEqual([
    "failed",
    ["The waiver of PAGE-08 is not needed any more; remove it."],
  ]);
});

test("of many problems of one kind the first are kept, and the rest are counted", async () => {
  const many = rule({
    async run(_, report) {
      report.checked("it");
      for (let count = 1; count <= 25; count++) report.fail(`Number ${count} is wrong.`);
    },
  });
  const problems = (await resultOf(many))?.problems ?? [];
  expect([problems.length, problems[0]?.sentence, problems.at(-1)?.sentence]).toEqual([
    11,
    "Number 1 is wrong.",
    "15 more of this kind are not shown.",
  ]);
});

test("the command that tries a rule again names the rule and the seed", async () => {
  expect((await resultOf(rule()))?.repro).toBe("svc conformance it --rules LEAK-01 --seed 1");
});

test("a run that is interrupted reports what was tried until then, and says that it is not all", async () => {
  const interruption = new AbortController();
  const interrupted = rule({
    id: "PAGE-01",
    async run(_, report) {
      interruption.abort();
      report.fail("Half of it was tried.");
    },
  });
  const report = await run([failing, interrupted, rule()], [], interruption.signal);
  expect(report.rules.map(({ id }) => id)).toEqual(["PAGE-08"]);
  expect([report.verdict, report.remarks]).toEqual([
    "failed",
    ["It was interrupted: 1 of 3 rules were tried."],
  ]);
});

test("when its budget is spent, rules are left out and say so; those that find most for their time were tried first", async () => {
  const tried: string[] = [];
  const one = (id: string) =>
    rule({
      id,
      async run(_, report) {
        tried.push(id);
        if (tried.length > 1) throw new BudgetSpentError(300_000);
        report.checked("one thing");
      },
    });
  const report = await certify({
    lab,
    // By what they find of the seeded defects, and the runs that they make.
    rules: ["STATE-04", "READ-04", "LEAK-01"].map(one),
    waivers: [],
    profiles: ["core"],
    kitVersion: "0.0.0",
    command: "svc conformance it",
    startedAt: "2026-07-01T00:00:00Z",
    budget: { ms: 300_000, effort: 0.02 },
  });
  expect(tried).toEqual(["READ-04", "STATE-04", "LEAK-01"]);
  expect(report.rules.map(({ id, result }) => [id, result])).toEqual([
    ["STATE-04", "left-out"],
    ["READ-04", "pass"],
    ["LEAK-01", "left-out"],
  ]);
  expect(report.rules[0]?.reason).toBe(
    "the budget of 5 min 0 s was spent on rules that find more in less time",
  );
  expect([report.verdict, report.counts["left-out"], report.budget]).toEqual([
    "passed",
    2,
    { ms: 300_000, effort: 0.02 },
  ]);
});

test("when the budget is spent in the midst of a rule, what the rule has seen counts", async () => {
  const spent = (id: string, see: (report: Reporter) => void) =>
    rule({
      id,
      async run(_, report) {
        see(report);
        throw new BudgetSpentError(300_000);
      },
    });
  const report = await certify({
    lab,
    rules: [
      spent("PAGE-01", () => {}),
      spent("PAGE-02", ({ checked }) => checked("one thing")),
      spent("PAGE-03", ({ fail }) => fail("a row is missing")),
    ],
    waivers: [],
    profiles: ["core"],
    kitVersion: "0.0.0",
    command: "svc conformance it",
    startedAt: "2026-07-01T00:00:00Z",
    budget: { ms: 300_000, effort: 0.02 },
  });
  const rest = ["the rest: the budget of 5 min 0 s was spent"];
  expect(report.rules.map(({ result, untried }) => [result, untried])).toEqual([
    ["left-out", undefined],
    ["pass", rest],
    ["fail", rest],
  ]);
});

test("a rule that would run for ever ends with the run in which the budget is spent", async () => {
  await using own = await openReference("program");
  const { runCount } = own;
  own.limitTime({ ms: 1_000, leftMs: () => runCount + 3 - own.runCount });
  const endless = rule({
    async run(tried, report) {
      for (;;) {
        await tried.run({ verb: "spec" });
        report.checked(`run ${own.runCount - runCount}`);
      }
    },
  });
  const { result, subjects, runCount: runs } = await tryRule(endless, own);
  expect([result, subjects, runs]).toEqual(["pass", ["run 1", "run 2", "run 3"], 3]);
});

test("a budget in which nothing could be tried proves nothing", async () => {
  const report = await certify({
    lab,
    rules: [rule({ run: () => Promise.reject(new BudgetSpentError(300_000)) })],
    waivers: [],
    profiles: ["core"],
    kitVersion: "0.0.0",
    command: "svc conformance it",
    startedAt: "2026-07-01T00:00:00Z",
    budget: { ms: 1_000, effort: 0.02 },
  });
  expect(report.verdict).toBe("failed");
});
