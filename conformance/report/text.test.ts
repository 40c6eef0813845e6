import { describe, expect, it } from "vitest";
import { hostileReport, reportOf, ruleWith, sampleReport } from "../../fixtures/report/sample.ts";
import { renderText } from "./text.ts";

describe("the text report", () => {
  it("has a row for each rule with id, level, result and subjects", () => {
    const report = sampleReport();
    const text = renderText(report);
    for (const rule of report.rules)
      expect(text).toMatch(
        new RegExp(
          `^  . ${rule.id} +${rule.level} +${rule.result} +${rule.subjectCount}  \\S`,
          "m",
        ),
      );
  });

  it("fits the table into the columns of the terminal", () => {
    const rows = (columns: number) =>
      renderText(sampleReport(), { columns })
        .split("\n")
        .filter((line) => /^ {2}. [A-Z]+-\d\d +(MUST|SHOULD)/.test(line));
    expect(rows(80)).toHaveLength(40);
    expect(Math.max(...rows(80).map((row) => row.length))).toBeLessThanOrEqual(80);
    expect(rows(200).join("\n")).toContain(sampleReport().rules[0]?.title);
  });

  it("shows each failure with its sentence, evidence, fix and command", () => {
    const text = renderText(sampleReport());
    const failure = text.slice(text.indexOf("✗ ERROR-05  "));
    for (const part of [
      "succeeded with 90 of 180 records",
      "▶ → GET https://api.example.com/api/campaigns?sort=-sent&page=2",
      "← HTTP 500",
      "▶ 91 {",
      "[… 86 messages left out …]",
      "fix    Let the error through",
      "again  svc conformance mailer --rules ERROR-05 --seed 20261121",
    ])
      expect(failure).toContain(part);
  });

  it("shows where a leak stands", () => {
    expect(renderText(sampleReport())).toContain(
      "Basic ⟦Y25yeV9MRUFLMDFfYTd4azJtOXE6eA==⟧ for account 4711",
    );
  });

  it("shows the most urgent failures first, and passed rules not at all", () => {
    const text = renderText(sampleReport());
    const shown = [...text.matchAll(/^[!✗∅▲✓] ([A-Z]+-\d\d)/gm)].map((match) => match[1]);
    expect(shown).toEqual(["DISC-04", "ERROR-05", "LEAK-01", "PAGE-04", "SCHEMA-03"]);
  });

  it("gives the reason of each rule that is waived or does not apply", () => {
    const text = renderText(sampleReport());
    expect(text).toContain("– AUTH-01    The connector has no access tokens that expire.");
    expect(text).toContain("~ RETRY-08  Waived until 2027-01-31 by Ada");
  });

  it("ends with the sum, and the remarks before it", () => {
    const lines = renderText(
      reportOf([ruleWith({ result: "waived" })], {
        verdict: "failed",
        remarks: ["Every rule was waived."],
      }),
    )
      .trimEnd()
      .split("\n");
    expect(lines.at(-2)).toBe("! Every rule was waived.");
    expect(lines.at(-1)).toBe(
      "mailer 1.2.0 failed · 1 rule: 1 waived · 2,431 runs · 14.2 s · seed 20261121",
    );
  });

  it("says a reason once, with the rules that share it in rows that fit", () => {
    const ids = Array.from({ length: 10 }, (_, at) => `CDC-${String(at + 1).padStart(2, "0")}`);
    const rules = ids.map((id) =>
      ruleWith({ id, result: "not-applicable", reason: "it reads no log" }),
    );
    const text = renderText(reportOf(rules), { columns: 80 });
    expect(text.match(/it reads no log/g)).toHaveLength(1);
    const [, listed = ""] = text.split("it reads no log\n");
    const rows = (listed.split("\n\n")[0] ?? "").split("\n");
    expect(rows.join(" ").trim().split(/\s+/)).toEqual(ids.slice(1));
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(80);
  });

  it("says what to do about a rule that looked at nothing", () => {
    expect(renderText(sampleReport())).toContain("Add a recording that shows what it is about.");
  });

  it("says how many problems it leaves out", () => {
    const problems = Array.from({ length: 30 }, (_, index) => ({
      sentence: `Problem ${index}.`,
      evidence: [],
    }));
    expect(renderText(reportOf([ruleWith({ problems })]))).toContain(
      "[… 27 more problems left out …]",
    );
  });

  it("uses colours only when asked", () => {
    expect(renderText(sampleReport())).not.toContain("\x1b");
    expect(renderText(sampleReport(), { color: true })).toContain("\x1b[31m✗\x1b[39m LEAK-01");
  });

  it("lets no foreign text act on a terminal or a CI server", () => {
    const text = renderText(hostileReport());
    expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(text).not.toMatch(/^\s*::/m);
    expect(text).not.toMatch(/##(vso|teamcity)?\[/i);
    expect(text).toContain("│ ::error title=owned::x");
  });

  it("is readable for a run without rules", () => {
    expect(renderText(reportOf([]))).toContain("0 rules: none was run");
  });
});
