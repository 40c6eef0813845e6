import { describe, expect, it } from "vitest";
import { hostileReport, sampleReport } from "../../fixtures/report/sample.ts";
import { renderJson } from "./json.ts";

describe("the JSON report", () => {
  it("is the report as it is, hostile text included", () => {
    expect(JSON.parse(renderJson(sampleReport()))).toEqual(sampleReport());
    expect(JSON.parse(renderJson(hostileReport()))).toEqual(hostileReport());
  });

  it("has its keys in the same order however the report was made", () => {
    const report = sampleReport();
    const entries = Object.entries(report).reverse();
    const reversed: typeof report = JSON.parse(JSON.stringify(Object.fromEntries(entries)));
    expect(Object.keys(reversed)[0]).not.toBe(Object.keys(report)[0]);
    expect(renderJson(reversed)).toBe(renderJson(report));
  });

  it("ends with one line end", () => {
    expect(renderJson(sampleReport())).toMatch(/[^\n]\n$/);
  });
});
