import { describe, expect, it } from "vitest";
import { reportOf, ruleWith, sampleReport } from "../../fixtures/report/sample.ts";
import { forms } from "./forms.ts";

describe.each(Object.entries(forms))("the %s form", (_, render) => {
  it("is a whole file that ends with one line end", () => {
    expect(render(sampleReport())).toMatch(/[^\n]\n$/);
  });

  it("is the same for the same report", () => {
    expect(render(sampleReport())).toBe(render(sampleReport()));
  });

  it("names each failure and its command", () => {
    const text = render(
      reportOf([
        ruleWith({ id: "STATE-01", repro: "svc conformance mailer --rules STATE-01 --seed 7" }),
      ]),
    );
    expect(text).toContain("STATE-01");
    expect(text).toContain("svc conformance mailer --rules STATE-01 --seed 7");
  });

  it("takes a report without a rule", () => {
    expect(render(reportOf([], { verdict: "failed", remarks: ["No rule was run."] }))).toContain(
      "No rule was run.",
    );
  });
});
