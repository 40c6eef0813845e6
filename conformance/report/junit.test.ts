import { describe, expect, it } from "vitest";
import {
  hostileReport,
  hostileText,
  reportOf,
  ruleWith,
  sampleReport,
} from "../../fixtures/report/sample.ts";
import { results } from "../contract/report.ts";
import { renderJunit } from "./junit.ts";
import { visible } from "./visible.ts";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** The part of XML 1.0 that the report uses, read strictly: anything else throws. */
function parseXml(xml: string): Element {
  if (!/^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u.test(xml))
    throw new Error("A character that XML does not allow.");
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const token =
    /<\?xml version="1\.0" encoding="UTF-8"\?>|<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+)/y;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const match = token.exec(xml);
    const top = open.at(-1);
    if (match === null || top === undefined)
      throw new Error(`Not well-formed at ${xml.slice(at, at + 60)}`);
    const [, closing, name, attributes = "", empty, text] = match;
    if (text !== undefined) top.text += decode(text);
    if (name === undefined) continue;
    if (closing) {
      if (top.name !== name) throw new Error(`</${name}> closes <${top.name}>`);
      open.pop();
      continue;
    }
    const pairs = [...attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(
      ([, key = "", value = ""]) => [key, decode(value)] as const,
    );
    if (new Set(pairs.map(([key]) => key)).size < pairs.length)
      throw new Error(`An attribute stands twice in <${name}>.`);
    const element: Element = {
      name,
      attributes: Object.fromEntries(pairs),
      children: [],
      text: "",
    };
    top.children.push(element);
    if (!empty) open.push(element);
  }
  const [only, ...others] = root.children;
  if (only === undefined || others.length > 0 || open.length > 1)
    throw new Error("Not one whole element.");
  return only;
}

function decode(text: string): string {
  if (/&(?!(amp|lt|gt|quot|#39);)|\]\]>/.test(text))
    throw new Error(`A sign that must be escaped: ${text}`);
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

const cases = (root: Element) => root.children.flatMap((suite) => suite.children);
const caseOf = (root: Element, id: string) =>
  cases(root).find((one) => one.attributes.name?.startsWith(id));

describe("the JUnit report", () => {
  it("has a suite for each group, a case for each rule, and one for the run", () => {
    const root = parseXml(renderJunit(sampleReport()));
    expect(root.name).toBe("testsuites");
    expect(root.children.map((suite) => suite.attributes.name)).toEqual([
      "SPEC",
      "CHECK",
      "DISC",
      "READ",
      "STATE",
      "SCHEMA",
      "ERROR",
      "RETRY",
      "PAGE",
      "AUTH",
      "LEAK",
      "NET",
      "CANCEL",
      "FIX",
      "RUN",
    ]);
    expect(cases(root)).toHaveLength(41);
    expect(caseOf(root, "SPEC-02")).toMatchObject({
      attributes: { classname: "conformance.SPEC", time: "0.013" },
      children: [],
    });
  });

  it("counts what its elements say, in each suite and in all", () => {
    const root = parseXml(renderJunit(sampleReport()));
    const kinds = (elements: readonly Element[], kind: string) =>
      String(elements.flatMap((one) => one.children).filter((one) => one.name === kind).length);
    for (const suite of root.children) {
      expect(suite.attributes).toMatchObject({
        tests: String(suite.children.length),
        failures: kinds(suite.children, "failure"),
        errors: kinds(suite.children, "error"),
        skipped: kinds(suite.children, "skipped"),
        timestamp: "2026-11-21T10:33:28",
      });
    }
    expect(root.attributes).toMatchObject({
      tests: "41",
      failures: kinds(cases(root), "failure"),
      errors: kinds(cases(root), "error"),
    });
  });

  it("makes failed and vacuous rules failures, the kit's faults errors, waived and inapplicable rules skipped, and warnings passed", () => {
    const root = parseXml(renderJunit(sampleReport()));
    const kind = (id: string) => caseOf(root, id)?.children.map((child) => child.name);
    expect([
      kind("LEAK-01"),
      kind("PAGE-04"),
      kind("DISC-04"),
      kind("RETRY-08"),
      kind("AUTH-01"),
      kind("SCHEMA-03"),
    ]).toEqual([["failure"], ["failure"], ["error"], ["skipped"], ["skipped"], ["system-out"]]);
    expect(caseOf(root, "AUTH-01")?.children[0]?.attributes.message).toBe(
      "not-applicable: The connector has no access tokens that expire.",
    );
  });

  it("shows a failure with evidence, fix and command", () => {
    const failure = caseOf(parseXml(renderJunit(sampleReport())), "LEAK-01")?.children[0];
    expect(failure?.attributes.message).toContain("stands in a log message as base64");
    expect(failure?.text).toContain("⟦Y25yeV9MRUFLMDFfYTd4azJtOXE6eA==⟧");
    expect(failure?.text).toContain(
      "again  svc conformance mailer --rules LEAK-01 --seed 20261121",
    );
  });

  it("is red for a run that fails although no rule does, and green for one that passes", () => {
    const run = (xml: string) => parseXml(xml).children.at(-1);
    const waived = [ruleWith({ result: "waived" })];
    const failed = run(
      renderJunit(reportOf(waived, { verdict: "failed", remarks: ["Every rule was waived."] })),
    );
    expect(failed).toMatchObject({ attributes: { failures: "1" } });
    expect(failed?.children[0]?.children[0]?.attributes.message).toBe("Every rule was waived.");
    expect(run(renderJunit(reportOf([], { verdict: "unusable" })))).toMatchObject({
      attributes: { errors: "1" },
    });
    expect(
      run(renderJunit(reportOf([ruleWith({ result: "pass" })])))?.children[0]?.children,
    ).toEqual([]);
  });

  it("stays well-formed with hostile text in every field, and keeps it readable", () => {
    const root = parseXml(renderJunit(hostileReport()));
    expect(cases(root)).toHaveLength(results.length + 1);
    const [firstLine = ""] = visible(hostileText).split("\n");
    expect(caseOf(root, "EVIL-01")?.children[0]?.text).toContain(firstLine);
  });
});
