import { describe, expect, it } from "vitest";
import { hostileText, ruleWith } from "../../fixtures/report/sample.ts";
import { createProgress } from "./progress.ts";

function written(isTTY: boolean, columns = 60): string[] {
  const texts: string[] = [];
  const progress = createProgress({ write: (text) => texts.push(text), isTTY, columns });
  progress.started(2);
  progress.finished(
    ruleWith({
      id: "LEAK-01",
      result: "fail",
      title: "A long sentence that does not fit into the line of a narrow terminal.",
      durationMs: 1234,
      problems: [
        { sentence: "The token stands in a log line.", evidence: [] },
        { sentence: "The token stands in a state.", evidence: [] },
      ],
    }),
  );
  progress.finished(ruleWith({ id: "LEAK-02", result: "pass", title: "Short.", durationMs: 5 }));
  progress.end();
  return texts;
}

describe("progress", () => {
  const failure =
    "[1/2] ✗ LEAK-01 fail (1.2 s) A long sentence that does not fit into the line of a narrow terminal.\n" +
    "    The token stands in a log line. (and 1 more problem)\n";

  it("is a line a rule in a log, without terminal sequences, and says what failed at once", () => {
    expect(written(false).join("")).toBe(
      `Trying 2 rules.\n${failure}[2/2] ✓ LEAK-02 pass (5 ms) Short.\n`,
    );
  });

  it("is one line on a terminal that is written over below what failed, and erased at the end", () => {
    const texts = written(true);
    expect(texts.every((text) => text.startsWith("\r\x1b[2K"))).toBe(true);
    expect(texts.filter((text) => text.includes("\n"))).toEqual([`\r\x1b[2K${failure}`]);
    expect(texts.at(-2)).toBe("\r\x1b[2K[2/2] 1 failed · ✓ LEAK-02 Short.");
    expect(texts.at(-1)).toBe("\r\x1b[2K");
  });

  it("never wraps on a terminal", () => {
    for (const text of written(true, 30).filter((one) => !one.endsWith("\n")))
      expect(text.slice("\r\x1b[2K".length).length).toBeLessThan(30);
  });

  it("writes foreign text as harmless lines", () => {
    const texts: string[] = [];
    const progress = createProgress({
      write: (text) => texts.push(text),
      isTTY: false,
      columns: 80,
    });
    progress.started(1);
    const problems = [{ sentence: hostileText, evidence: [] }];
    progress.finished(ruleWith({ title: hostileText, problems }));
    expect(texts[1]).toMatch(/^\[1\/1\][^\n\x1b\r]*\n {4}[^\n\x1b\r]*\n$/);
  });
});
