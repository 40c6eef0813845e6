import { expect, test } from "vitest";
import { budgets } from "../contract/budgets.ts";
import { parseYaml } from "./yaml.ts";

const parse = (text: string) => parseYaml(text, "config file");

test("a YAML text is its value", () => {
  expect(parse("a: 1\nb: [x, {c: null}]\nd: &e {f: 1}\ng: *e")).toEqual({
    a: 1,
    b: ["x", { c: null }],
    d: { f: 1 },
    g: { f: 1 },
  });
  expect(parse("")).toBeNull();
});

test.each([
  ["config file, line 2: a key is given twice", "a: 1\na: 2"],
  ["config file, line 3: a key is given twice", "a:\n  b: 1\n  b: 2"],
  ["config file, line 1: a key is given twice", "a: [{b: 1, b: 2}]"],
  ["config file, line 2: a tab cannot indent; use spaces", "a:\n\tb: 1"],
  ["config file, line 1: tags are not supported", "a: !secret b"],
  ["config file, line 1: is not valid YAML", "a: b: c"],
  ["config file, line 1: is not valid JSON", '{"a": '],
])("%s", (message, text) => {
  expect(() => parse(text)).toThrow(message);
});

test.each([
  [
    "nested brackets",
    `a: ${"[".repeat(101)}${"]".repeat(101)}`,
    "is nested deeper than 100 levels",
  ],
  ["long texts", `a: ${"x".repeat(budgets.yaml.bytes)}`, "YAML of more than 262144 bytes"],
  ["aliases of aliases", aliases(30), "too many aliases"],
])("%s are refused", (_, text, problem) => {
  expect(() => parse(text)).toThrow(problem);
});

test("as many keys as fit are read", () => {
  const lines = Array.from({ length: 14_000 }, (_, index) => `k${index}: 1\n`);
  expect(Object.keys(parse(lines.join("")) as object)).toHaveLength(14_000);
  expect(() => parse([...lines, "k0: 2\n"].join(""))).toThrow("line 14001: a key is given twice");
});

const filled: Readonly<Record<string, (bytes: number) => string>> = {
  "closing braces": (bytes) => "}".repeat(bytes),
  "closing braces in a list": (bytes) => `a: [${"}".repeat(bytes)}`,
  tags: (bytes) => "! ".repeat(bytes / 2),
  anchors: (bytes) => "&a ".repeat(bytes / 3),
  commas: (bytes) => `a: [${",".repeat(bytes)}`,
  quotes: (bytes) => '"a" '.repeat(bytes / 4),
  directives: (bytes) => "%a\n".repeat(bytes / 3),
  documents: (bytes) => "---\n".repeat(bytes / 4),
  "maps in maps": (bytes) => "a: b: ".repeat(bytes / 6),
  "keys without a value": (bytes) => "? ".repeat(bytes / 2),
  "line breaks in quotes": (bytes) => `a: "${"\\\n".repeat(bytes / 2)}"`,
  "aliases of what has many before it": (bytes) =>
    Array.from(
      { length: bytes / 24 },
      (_, index) => `k${index}: &a${index} 1\nl${index}: *a${index}\n`,
    ).join(""),
};

test.each(
  Object.entries(filled),
)("%s: twice as much takes twice as long, not four times", (_, fill) => {
  const cpuMs = (text: string) => {
    const before = process.threadCpuUsage();
    expect(() => parse(text)).toThrow();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  const taken = [64, 128, 256].map((size) => cpuMs(fill(size * 1024 - 24)));
  // A quadratic parser takes half a minute for the largest.
  expect(taken[2]).toBeLessThan(10_000);
});

const parts: Readonly<Record<string, (count: number) => string>> = {
  "items of a list": (count) => "- 1\n".repeat(count),
  "items of nothing": (count) => "-\n".repeat(count),
  "items in brackets": (count) => `a: [${"1,".repeat(count)}]`,
  "maps of nothing": (count) => `a: [${"{},".repeat(count)}]`,
  "keys of nothing": (count) => `a: [${"? ,".repeat(count)}]`,
  comments: (count) => `${"#\n".repeat(count)}a: 1`,
  "empty lines": (count) => `${"\n".repeat(count)}a: 1`,
};

test.each(
  Object.entries(parts),
)("%s are read until they are too many, however few bytes they have", (_, write) => {
  const texts = [5_000, 10_000, 20_000, 40_000, 60_000, 120_000]
    .map(write)
    .filter(({ length }) => length < budgets.yaml.bytes);
  const outcomes = texts.map((text) => {
    try {
      parse(text);
      return "read";
    } catch (error) {
      return (error as Error).message.replace(/^.*: /, "");
    }
  });
  const readCount = outcomes.indexOf(tooMany);
  expect(readCount).toBeGreaterThan(0);
  expect(outcomes).toEqual(texts.map((_, index) => (index < readCount ? "read" : tooMany)));
});

const tooMany = "is YAML of more than 100000 names, values and signs, which must be JSON";

function aliases(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const list = index === 0 ? "1" : `*a${index - 1}, `.repeat(9);
    return `a${index}: &a${index} [${list}]`;
  });
  return lines.join("\n");
}
