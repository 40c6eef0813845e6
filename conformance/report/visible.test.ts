import { describe, expect, it } from "vitest";
import { hostileText } from "../../fixtures/report/sample.ts";
import { logLine, visible, visibleInLog, visibleLine } from "./visible.ts";

describe("visible text", () => {
  it("keeps ordinary text of any language, tabs and line ends", () => {
    const text = "Ünïcödé 🚀 中文 العربية\n\tindented";
    expect(visible(text)).toBe(text);
  });

  it("shows control characters as their pictures, and CRLF as a line end", () => {
    expect(visible("\x1b[31mred\x07\0\r\nnext\rover\x7f")).toBe("␛[31mred␇␀\nnext␍over␡");
  });

  it("spells out signs that turn, hide or split text", () => {
    expect(visible("a\u202eb\u200bc\u2028d\u{e0041}\x9b")).toBe(
      "a\\u{202e}b\\u{200b}c\\u{2028}d\\u{e0041}\\u{9b}",
    );
  });

  it("replaces lone surrogates", () => {
    expect(visible("\ud800x\udc00")).toBe("\ufffdx\ufffd");
  });

  it("changes nothing the second time", () => {
    expect(visible(visible(hostileText))).toBe(visible(hostileText));
  });

  it("holds only characters that XML 1.0 allows", () => {
    const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join(" ");
    expect(visible(all)).toMatch(/^[\t\n\x20-\ud7ff\ue000-\ufffd]*$/);
  });

  it("joins lines with one space", () => {
    expect(visibleLine(" first \r\n\n  second\tword ")).toBe("first second word");
  });

  it("breaks commands that CI servers read anywhere in a line", () => {
    expect(visibleInLog("x ##vso[task.setvariable] ##[group]y ##TeamCity[z]")).not.toMatch(
      /##(vso|teamcity)?\[/i,
    );
    expect(logLine("## [heading](url)")).toBe("## [heading](url)");
  });
});
