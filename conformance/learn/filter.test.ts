import { expect, test } from "vitest";
import { toRecording } from "../../fixtures/paging/sample.ts";
import type { Interaction } from "../contract/recording.ts";
import { learnProvider } from "./learn.ts";

const origin = "https://api.example.com";
const day = (number: number) => `2026-05-0${number}T00:00:00Z`;
const rows = [1, 2, 3, 4, 5].map((number) => ({
  id: 500 + number,
  created_at: day(1),
  updated_at: day(number),
  stamp: Date.parse(day(number)) / 1_000,
}));
type Row = (typeof rows)[number];

/** A provider of numbered pages of two whose parameter `name` chooses rows. */
function record(
  name: string,
  keep: (row: Row, value: string) => boolean,
  value?: string,
): Interaction[] {
  const kept = rows.filter((row) => value === undefined || keep(row, value));
  return Array.from({ length: Math.max(1, Math.ceil(kept.length / 2)) }, (_, at) => {
    const url = new URL(`${origin}/items?page=${at + 1}&limit=2`);
    if (value !== undefined) url.searchParams.set(name, value);
    const body = JSON.stringify({ items: kept.slice(2 * at, 2 * at + 2), total: kept.length });
    return {
      request: { method: "GET", url: url.href },
      response: { status: 200, headers: {}, body },
    };
  });
}
function learn(name: string, keep: (row: Row, value: string) => boolean, value: string) {
  const learned = learnProvider(
    [
      toRecording("full", record(name, keep)),
      toRecording("resumed", record(name, keep, value), { state: true }),
    ],
    {},
  );
  const ask = (other: string) => {
    const url = new URL(`${origin}/items?page=1&limit=9`);
    url.searchParams.set(name, other);
    const answer = learned
      .provider()
      .answer({ method: "GET", url, headers: {}, body: "", index: 0 });
    if ("unmatched" in answer) throw new Error(answer.unmatched);
    return JSON.parse(String(answer.body)) as { items: Row[]; total: number };
  };
  return { learned, ask };
}

test("a time that chooses newer rows is a filter of the one listing", () => {
  const { learned, ask } = learn("updated_since", (row, value) => row.updated_at >= value, day(3));
  expect(learned.listings).toHaveLength(1);
  expect(learned.listings[0]).toMatchObject({
    rows,
    filter: {
      parameter: "updated_since",
      field: "/updated_at",
      comparison: ">=",
      unit: "text",
      isInBody: false,
    },
  });
  expect(ask(day(5))).toEqual({ items: rows.slice(4), total: 1 });
  expect(ask("2030-01-01T00:00:00Z")).toEqual({ items: [], total: 0 });
});

test("rows at the very time are left out where the recording leaves them out", () => {
  const { learned, ask } = learn("since", (row, value) => row.updated_at > value, day(3));
  expect(learned.listings[0]?.filter).toMatchObject({ field: "/updated_at", comparison: ">" });
  expect(ask(day(4)).items).toEqual(rows.slice(4));
});

test.each([
  ["seconds", 1_000],
  ["milliseconds", 1],
])("a filter in %s chooses by a time in text", (unit, factor) => {
  const toText = (number: number) => String(Date.parse(day(number)) / Number(factor));
  const { learned, ask } = learn(
    "since",
    (row, value) => Date.parse(row.updated_at) >= Number(value) * Number(factor),
    toText(3),
  );
  expect(learned.listings[0]?.filter).toMatchObject({ field: "/updated_at", unit });
  expect(ask(toText(2)).items).toEqual(rows.slice(1));
});

test("rows that only a filtered recording has are kept behind the others", () => {
  const later = { id: 900, created_at: day(1), updated_at: day(9), stamp: 1 };
  const [resumed] = record("since", () => false, day(8));
  const body = JSON.stringify({ items: [later], total: 1 });
  const interactions = resumed ? [{ ...resumed, response: { ...resumed.response, body } }] : [];
  const learned = learnProvider(
    [
      toRecording(
        "full",
        record("since", () => true),
      ),
      toRecording("resumed", interactions, { state: true }),
    ],
    {},
  );
  expect(learned.listings[0]?.rows).toEqual([...rows, later]);
});

/** Rows of two days each, a page each; what is at the upper bound is in the next window. */
function recordWindows(
  windows: readonly (readonly [string, string])[],
  isWithin: (row: Row, until: string) => boolean,
): Interaction[] {
  return windows.map(([since, until]) => {
    const url = new URL(`${origin}/items?limit=9&since=${since}&until=${until}`);
    const kept = rows.filter((row) => row.updated_at >= since && isWithin(row, until));
    const body = JSON.stringify({ items: kept, total: kept.length });
    return {
      request: { method: "GET", url: url.href },
      response: { status: 200, headers: {}, body },
    };
  });
}

const windows = [
  [day(1), day(3)],
  [day(3), day(5)],
  [day(5), day(7)],
] as const;

test.each([
  ["<", (row: Row, until: string) => row.updated_at < until, [rows[1], rows[2]]],
  ["<=", (row: Row, until: string) => row.updated_at <= until, [rows[1], rows[2], rows[3]]],
] as const)("a lower and an upper bound choose any window (%s)", (comparison, isWithin, expected) => {
  const learned = learnProvider([toRecording("full", recordWindows(windows, isWithin))], {});
  expect(learned.listings).toHaveLength(1);
  expect(learned.listings[0]).toMatchObject({
    rows,
    filter: {
      parameter: "since",
      field: "/updated_at",
      comparison: ">=",
      upper: { parameter: "until", isInBody: false, comparison },
    },
  });
  const url = new URL(`${origin}/items?limit=9&since=${day(2)}&until=${day(4)}`);
  const answer = learned.provider().answer({ method: "GET", url, headers: {}, body: "", index: 0 });
  if ("unmatched" in answer) throw new Error(answer.unmatched);
  expect(JSON.parse(String(answer.body))).toEqual({ items: expected, total: expected.length });
});

test("days as bounds hold their last day where the recording shows it", () => {
  const noon = (row: Row) => row.updated_at.replace("T00", "T12");
  const days = [
    ["2026-05-01", "2026-05-02"],
    ["2026-05-03", "2026-05-05"],
  ] as const;
  const interactions = days.map(([since, until]) => {
    const kept = rows
      .map((row) => ({ ...row, updated_at: noon(row) }))
      .filter((row) => row.updated_at >= since && row.updated_at.slice(0, 10) <= until);
    return {
      request: { method: "GET", url: `${origin}/items?since=${since}&until=${until}` },
      response: { status: 200, headers: {}, body: JSON.stringify({ items: kept }) },
    };
  });
  const learned = learnProvider([toRecording("full", interactions)], {});
  const url = new URL(`${origin}/items?since=2026-05-02&until=2026-05-04`);
  const answer = learned.provider().answer({ method: "GET", url, headers: {}, body: "", index: 0 });
  if ("unmatched" in answer) throw new Error(answer.unmatched);
  const { items } = JSON.parse(String(answer.body)) as { items: Row[] };
  expect(items.map(({ id }) => id)).toEqual([502, 503, 504]);
});
