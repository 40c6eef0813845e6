import { describe, expect, test } from "vitest";
import { ConnectorError } from "../contract/errors.ts";
import { measureJson, parseBounded } from "./bounded-json.ts";

const budget = { bytes: 60, values: 8, depth: 3 };
const refuse = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });
const parse = (text: string) => parseBounded(Buffer.from(text), budget, refuse);
const problemOf = (text: string) => {
  try {
    parse(text);
  } catch (error) {
    return (error as ConnectorError).details.problem;
  }
  return undefined;
};

describe("a bounded JSON text", () => {
  test("is its value when it keeps to its budget", () => {
    expect(parse('{"a":[1,{"b":null}],"c":"d"}')).toEqual({ a: [1, { b: null }], c: "d" });
    expect(parse("1")).toBe(1);
  });

  test.each([
    ["is larger than 60 bytes", JSON.stringify("x".repeat(59))],
    ["has more than 8 values", "[1,2,3,4,5,6,7,8,9]"],
    ["has more than 8 values", "[{},{},{},{},{}]"],
    ["is nested deeper than 3 levels", "[[[[]]]]"],
    ["is nested deeper than 3 levels", '{"a":[{"b":[]}]}'],
    ["a frame is not JSON", "[1,"],
    ["a frame is not JSON", ""],
  ])("%s: %s", (problem, text) => {
    expect(problemOf(text)).toBe(problem);
  });

  test("what stands in texts counts for nothing", () => {
    expect(measureJson(Buffer.from('["[[[,,,","\\",[{","\\\\",1]'))).toEqual({
      values: 4,
      depth: 1,
    });
  });

  test("a text without end, or with closing brackets only, is counted to its end", () => {
    expect(measureJson(Buffer.from('["a'))).toEqual({ values: 1, depth: 1 });
    expect(measureJson(Buffer.from('["\\'))).toEqual({ values: 1, depth: 1 });
    expect(measureJson(Buffer.from("]]][[["))).toEqual({ values: 3, depth: 0 });
  });
});
