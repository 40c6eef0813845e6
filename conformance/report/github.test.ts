import { describe, expect, it } from "vitest";
import {
  hostileReport,
  hostileText,
  reportOf,
  ruleWith,
  sampleReport,
} from "../../fixtures/report/sample.ts";
import { renderGithub } from "./github.ts";
import { visible } from "./visible.ts";

/**
 * As the runner reads a line.
 * @see https://github.com/actions/runner src/Runner.Common/ActionCommand.cs
 */
function readCommand(line: string) {
  const [, kind = "", title = "", message = ""] = /^::(\w+) title=([^:,]*)::(.*)$/.exec(line) ?? [];
  const decode = (text: string) =>
    text
      .replaceAll("%0D", "\r")
      .replaceAll("%0A", "\n")
      .replaceAll("%3A", ":")
      .replaceAll("%2C", ",")
      .replaceAll("%25", "%");
  return { kind, title: decode(title), message: decode(message) };
}

const commands = (text: string) => text.trimEnd().split("\n").map(readCommand);

describe("the GitHub report", () => {
  it("has an error for each failure, a warning for each SHOULD, and a notice with the sum", () => {
    const kinds = commands(renderGithub(sampleReport())).map(({ kind }) => kind);
    expect(kinds).toEqual(["error", "error", "error", "error", "warning", "notice"]);
  });

  it("says what was seen, how to mend it and how to try again", () => {
    const leak = commands(renderGithub(sampleReport())).find(({ title }) =>
      title.startsWith("LEAK-01 "),
    );
    expect(leak?.message.split("\n")).toEqual([
      "The secret config api_token stands in a log message as base64; nothing of a secret may leave the connector.",
      "Fix: Let the error through: do not catch it, or throw one of the classes that the runtime knows.",
      "Again: svc conformance mailer --rules LEAK-01 --seed 20261121",
    ]);
  });

  it("annotates no more than GitHub shows, and says how many are missing", () => {
    const rules = Array.from({ length: 25 }, (_, index) => ruleWith({ id: `LEAK-${index + 10}` }));
    const all = commands(renderGithub(reportOf(rules)));
    expect(all.filter(({ kind }) => kind === "error")).toHaveLength(10);
    expect(all.at(-1)?.message).toContain("25 rules: 25 failed. 15 more are not annotated here");
  });

  it("annotates why a run fails in which no rule does", () => {
    const [first] = commands(
      renderGithub(reportOf([], { verdict: "failed", remarks: ["Nothing was run."] })),
    );
    expect(first).toMatchObject({ kind: "error", message: "Nothing was run." });
  });

  it("gives hostile text back as it was seen", () => {
    const error = commands(renderGithub(hostileReport())).at(1);
    expect(error?.message.startsWith(`${visible(hostileText)}\nFix: `)).toBe(true);
  });

  it("lets hostile text neither end a command nor begin one", () => {
    const lines = renderGithub(hostileReport()).trimEnd().split("\n");
    expect(lines.map((line) => readCommand(line).kind)).toEqual([
      "error",
      "error",
      "error",
      "error",
      "warning",
      "notice",
    ]);
    expect(
      lines.map((line) => readCommand(line).title.length).every((length) => length <= 255),
    ).toBe(true);
  });
});
