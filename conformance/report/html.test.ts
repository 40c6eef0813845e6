import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hostileReport, reportOf, ruleWith, sampleReport } from "../../fixtures/report/sample.ts";
import { renderHtml } from "./html.ts";

/** The article of a rule. */
function articleOf(page: string, id: string): string {
  return page.match(new RegExp(`<article [^>]*id="${id}".*?</article>`, "s"))?.[0] ?? "";
}

const tagsOf = (page: string) =>
  page.replace(/<(style|script)>.*?<\/\1>/gs, "<$1></$1>").match(/<[^>]*>/g) ?? [];

describe("the HTML report", () => {
  it("has one article for each rule, which says its result", () => {
    const page = renderHtml(sampleReport());
    for (const rule of sampleReport().rules)
      expect(articleOf(page, rule.id)).toContain(`data-result="${rule.result}"`);
    expect(page.match(/<article /g)).toHaveLength(40);
  });

  it("says the verdict, the counts of all and of each group", () => {
    const page = renderHtml(sampleReport());
    expect(page).toContain("<h1>mailer 1.2.0 <strong>could not be judged</strong></h1>");
    expect(page).toContain(
      "40 rules: 1 went wrong, 2 failed, 1 looked at nothing, 1 warned, 1 waived, 2 not applicable, 32 passed",
    );
    expect(page).toMatch(/<b>LEAK<\/b><span class="fail"[^>]*>✗ 1.*?<span class="pass"[^>]*>✓ 1/);
    expect(renderHtml(reportOf([ruleWith({ result: "pass" })]))).toContain(
      "<strong>passed</strong>",
    );
  });

  it("shows a failure with sentence, why, fix and command", () => {
    const article = articleOf(renderHtml(sampleReport()), "ERROR-05");
    for (const part of [
      "succeeded with 90 of 180 records",
      "Whoever reads the output",
      "Let the error through",
      "svc conformance mailer --rules ERROR-05 --seed 20261121",
    ])
      expect(article).toContain(part);
  });

  it("opens and marks the marked exchange, and shows the others closed", () => {
    const article = articleOf(renderHtml(sampleReport()), "ERROR-05");
    expect(article).toMatch(/<details class="exchange"><summary>1\. .*page=1/);
    expect(article).toMatch(
      /<details class="exchange marked" open><summary><mark>here<\/mark> 2\. .*page=2/,
    );
  });

  it("marks the marked message and says how many it leaves out", () => {
    const article = articleOf(renderHtml(sampleReport()), "ERROR-05");
    expect(article).toContain("[… 71 messages left out …]");
    expect(article).toMatch(
      /<span class="marked"><i>▶ 91<\/i><span>{&quot;type&quot;:&quot;TRACE&quot;/,
    );
  });

  it("highlights a leak in its text", () => {
    expect(articleOf(renderHtml(sampleReport()), "LEAK-01")).toContain(
      "with Basic <mark>Y25yeV9MRUFLMDFfYTd4azJtOXE6eA==</mark> for account",
    );
  });

  it("collapses what passed and lists what does not apply with the reason", () => {
    const page = renderHtml(sampleReport());
    const passed = page.match(/<details id="passed".*<\/details>/s)?.[0] ?? "";
    expect(passed).not.toContain('<details id="passed" class="rules" open');
    expect(passed.match(/<article /g)).toHaveLength(32);
    expect(articleOf(page, "AUTH-01")).toContain("The connector has no access tokens that expire.");
  });

  it("loads nothing and allows no style or script but its own", () => {
    const page = renderHtml(sampleReport());
    const hash = (element: string) => {
      const text = page.match(new RegExp(`<${element}>(.*?)</${element}>`, "s"))?.[1] ?? "";
      return `sha256-${createHash("sha256").update(text).digest("base64")}`;
    };
    expect(page).toContain(
      `content="default-src 'none'; style-src '${hash("style")}'; script-src '${hash("script")}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(page).not.toMatch(/url\(|@import|<link|<base|<iframe/);
    for (const tag of tagsOf(page)) {
      expect(tag).not.toMatch(/ (src|srcset|style|action)=/);
      expect(tag.match(/ href="([^"]*)"/)?.[1] ?? "#").toMatch(/^#/);
    }
  });

  it("shows hostile text in any field as text", () => {
    const tags = tagsOf(renderHtml(hostileReport()));
    const names = new Set(tags.map((tag) => tag.match(/^<\/?([a-z0-9]+)[ />]/)?.[1] ?? tag));
    const own = new Set(
      tagsOf(renderHtml(sampleReport())).map(
        (tag) => tag.match(/^<\/?([a-z0-9]+)[ />]/)?.[1] ?? tag,
      ),
    );
    expect([...names].filter((name) => !own.has(name))).toEqual([]);
    for (const tag of tags)
      expect(tag).toMatch(/^<(!doctype html|\/?[a-z0-9]+( [a-zA-Z-]+(="[^"<>]*")?)*\/?)>$/);
    expect(tags.join("").replace(/"[^"]*"/g, "")).not.toMatch(/ on[a-z]+=/);
    expect(renderHtml(hostileReport())).not.toMatch(
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u202e\ufffe\uffff]/,
    );
  });

  it("stays small whatever the evidence", () => {
    const text = "x".repeat(1_000_000);
    const exchanges = Array.from({ length: 50 }, () => ({
      request: text,
      response: text,
      isMarked: true,
    }));
    const problem = {
      sentence: "Wrong.",
      evidence: [{ kind: "exchanges", title: "All", exchanges } as const],
    };
    const page = renderHtml(
      reportOf([ruleWith({ problems: Array.from({ length: 100 }, () => problem) })]),
    );
    expect(page.length).toBeLessThan(400_000);
    expect(page).toContain("[… 95 more problems left out …]");
  });
});
