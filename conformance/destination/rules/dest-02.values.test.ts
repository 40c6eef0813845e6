import type { JsonValue } from "svc-connectors";
import { expect, test } from "vitest";
import { isSameValue, type Kind } from "./dest-02.values.ts";

type Case = readonly [Kind, string, JsonValue];

test.each<Case>([
  ["integer", "9007199254740993", "9007199254740993"],
  ["integer", "7", 7],
  ["decimal", "0.10", "0.1000"],
  ["decimal", "-0.0000000001", "-1E-10"],
  ["decimal", "100", "100.000"],
  ["number", "1e308", 1e308],
  ["instant", '"2024-01-01T02:00:00.123456+02:00"', "2024-01-01 00:00:00.123456+00"],
  ["instant", '"2024-03-31T01:30:00-09:30"', "2024-03-31T11:00:00Z"],
  ["local", '"2024-01-01T02:00:00.500001"', "2024-01-01T02:00:00.500001"],
  ["date", '"0044-03-15"', "0044-03-15"],
  ["boolean", "false", false],
  ["text", '""', ""],
  ["json", '{"id":9007199254740993,"a":[1.5]}', { a: [1.5], id: "9007199254740993" }],
  ["json", "[]", "[]"],
  ["text", "null", null],
])("%s %s comes back as %o", (kind, literal, actual) => {
  expect(isSameValue(kind, literal, actual)).toBe(true);
});

test.each<Case>([
  ["integer", "9007199254740993", "9007199254740992"],
  ["decimal", "0.1000000000000000000001", "0.1"],
  ["decimal", "100", "1"],
  ["number", "0.1", 0.2],
  ["instant", '"2024-01-01T02:00:00.123456Z"', "2024-01-01 02:00:00.123+00"],
  ["instant", '"2024-01-01T02:00:00Z"', "2024-01-01T02:00:00+02"],
  ["date", '"2024-02-29"', "2024-03-01"],
  ["boolean", "false", null],
  ["text", '""', null],
  ["text", "null", "null"],
  ["json", '{"id":9007199254740993}', { id: 9007199254740992 }],
])("%s %s is not %o", (kind, literal, actual) => {
  expect(isSameValue(kind, literal, actual)).toBe(false);
});
