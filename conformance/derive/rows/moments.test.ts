import { describe, expect, test } from "vitest";
import { compareMoments, isWithin, latest, momentOf, writeLike } from "./moments.ts";

describe("momentOf", () => {
  test.each([
    ["2026-05-01", Date.UTC(2026, 4, 1)],
    ["2026-05-01T08:00:00Z", Date.UTC(2026, 4, 1, 8)],
    ["2026-05-01T08:00:00.123456Z", Date.UTC(2026, 4, 1, 8, 0, 0, 123) + 0.456],
    ["2026-05-01T15:00:00+07:00", Date.UTC(2026, 4, 1, 8)],
    ["2026-05-01T13:30:00+0530", Date.UTC(2026, 4, 1, 8)],
    ["2026-05-01 08:00", Date.UTC(2026, 4, 1, 8)],
    [1_777_622_400, Date.UTC(2026, 4, 1, 8)],
    ["1777622400123", Date.UTC(2026, 4, 1, 8, 0, 0, 123)],
    [1_777_622_400_123_456n, Date.UTC(2026, 4, 1, 8, 0, 0, 123) + 0.456],
  ])("%s is a time", (value, ms) => {
    expect(momentOf(value)?.kind).toBe("time");
    expect(momentOf(value)?.value).toBeCloseTo(ms, 2);
  });

  test("other numbers have an order of their own", () => {
    expect(momentOf(42)).toEqual({ kind: "number", value: 42, span: 0 });
    expect(compareMoments(momentOf(42), momentOf("2026-05-01"))).toBe(0);
  });

  test.each([
    null,
    undefined,
    "",
    "o+2/=",
    "never",
    {},
    true,
    "2026-99-01T00:00:00Z",
  ])("%j has no place in an order", (value) => {
    expect(momentOf(value)).toBeUndefined();
  });
});

test.each([
  ["2026-05-01", "2026-06-02"],
  ["2026-05-01T08:00:00Z", "2026-06-02T03:04:05Z"],
  ["2026-05-01T08:00:00.123456Z", "2026-06-02T03:04:05.678901Z"],
  ["2026-05-01T08:00:00.5+02:00", "2026-06-02T03:04:05.6+00:00"],
  ["2026-05-01 08:00:00", "2026-06-02 03:04:05"],
  [1_777_622_400, 1_780_369_446],
  ["1777622400123", "1780369445679"],
])("a time is written like %s", (sample, text) => {
  expect(writeLike(sample, Date.UTC(2026, 5, 2, 3, 4, 5, 678) + 0.901)).toEqual(text);
});

test("a date lasts a day, a second a second, and what is finer a millisecond", () => {
  const isIn = (value: string, text: string) =>
    isWithin(value, momentOf(text) ?? { kind: "number", value: 0, span: 0 });
  expect(isIn("2026-05-01T23:59:59Z", "2026-05-01")).toBe(true);
  expect(isIn("2026-05-01T08:00:00.9Z", "2026-05-01T08:00:00Z")).toBe(true);
  expect(isIn("2026-05-01T08:00:00.123456Z", "2026-05-01T08:00:00.123Z")).toBe(true);
  expect(isIn("2026-05-01T08:00:00.125Z", "2026-05-01T08:00:00.123Z")).toBe(false);
});

test("the latest is found by time, not by text", () => {
  expect(latest(["2026-05-01T09:00:00Z", null, "2026-05-01T15:00:00+07:00"])).toBe(
    "2026-05-01T09:00:00Z",
  );
  expect(latest([null, "x"])).toBeUndefined();
});
