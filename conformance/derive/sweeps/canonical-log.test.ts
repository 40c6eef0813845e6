import { expect, test } from "vitest";
import {
  canonicalLog,
  contrast,
  firstDifference,
  firstLogDifference,
  inAnyOrder,
  settledStates,
} from "./canonical-log.ts";

const minuteMs = 60_000;
const windowAt = (fromMs: number) => ({ fromMs, toMs: fromMs + 10 * minuteMs });
const today = windowAt(Date.UTC(2026, 5, 1));
const tomorrow = windowAt(Date.UTC(2026, 5, 2, 2));
const log = (window: typeof today, ...lines: string[]) =>
  canonicalLog(
    {
      messages: lines.map((line) => ({
        message: JSON.parse(line),
        line,
        requestCount: 0,
        atMs: 0,
      })),
    },
    window,
  );

test("what each run's own clock says counts as the same, in every form", () => {
  const one = log(
    today,
    '{"type":"RECORD","emitted_at":1780272000123,"data":{"a":"2026-06-01T00:00:01.000Z","b":"2026-06-01","c":1780272000}}',
  );
  const other = log(
    tomorrow,
    '{"type":"RECORD","emitted_at":1780365600123,"data":{"a":"2026-06-02T02:00:09.000Z","b":"2026-06-02","c":1780365600}}',
  );
  expect(firstLogDifference(one, other)).toBeUndefined();
});

test("JSON with blanks between its parts, as Python writes it, is compared as JSON without them", () => {
  const one = '{"type": "RECORD", "data": {"ids": [1, 2]}, "emitted_at": 1780272000123 }';
  const other = '{"type": "RECORD", "data": {"ids": [1, 2]}, "emitted_at": 1780365600123.25 }';
  expect(firstLogDifference(log(today, one), log(tomorrow, other))).toBeUndefined();
  expect(
    firstLogDifference(log(today, one), log(tomorrow, other.replace("[1, 2]", "[1, 3]"))),
  ).toMatchObject({ at: 0 });
});

test("of a source that reads partitions at the same time, rows may come in any order, and only each stream's last state counts", () => {
  const row = (id: string, at: number) =>
    `{"type":"RECORD","record":{"emitted_at":${at},"stream":"members","data":{"id":"${id}"}}}`;
  const state = (value: string) =>
    `{"type":"STATE","state":{"stream":{"stream_descriptor":{"name":"members"},"stream_state":{"read":"${value}"}}}}`;
  const settled = (window: typeof today, ...lines: string[]) => {
    const messages = lines.map((line) => ({
      ...{ message: JSON.parse(line), line },
      ...{ requestCount: 0, atMs: 0 },
    }));
    return inAnyOrder(canonicalLog(settledStates({ messages }), window));
  };
  const [now, then] = [today.fromMs + 1_000, tomorrow.fromMs + 1_000];
  const first = settled(today, ...[row("a", now), state("f1"), row("b", now + 1), state("f1 f2")]);
  const other = (last: string, id = "a") =>
    settled(tomorrow, ...[row("b", then), state("f2"), row(id, then + 9), state(last)]);
  expect(firstLogDifference(first, other("f1 f2"))).toBeUndefined();
  expect(firstLogDifference(first, other("f2"))).toBeDefined();
  expect(firstLogDifference(first, other("f1 f2", "c"))).toBeDefined();
});

test("another time that differs is a difference, and one that stays the same is none, wherever the clock stands", () => {
  const line = (time: string) => `{"type":"RECORD","data":{"a":"${time}"}}`;
  expect(
    firstLogDifference(
      log(today, line("2026-06-01T00:00:00Z")),
      log(tomorrow, line("2026-06-01T00:00:00Z")),
    ),
  ).toBeUndefined();
  expect(
    firstLogDifference(
      log(today, line("2026-06-01T00:00:00Z")),
      log(tomorrow, line("2026-05-01T00:00:00Z")),
    ),
  ).toMatchObject({ at: 0 });
  expect(
    firstLogDifference(
      log(today, line("2031-01-01T00:00:00Z")),
      log(today, line("2031-01-01T00:00:01Z")),
    ),
  ).toMatchObject({ at: 0 });
});

test("log messages are left out, and a message too many is a difference", () => {
  const state = '{"type":"STATE","state":{}}';
  expect(
    firstLogDifference(
      log(today, '{"type":"LOG","log":{"level":"INFO","message":"hello"}}', state),
      log(today, state),
    ),
  ).toBeUndefined();
  expect(firstLogDifference(log(today, state), log(today, state, state))).toMatchObject({ at: 1 });
});

test("the first difference is shown with its surroundings", () => {
  const found = firstDifference(["a", "xy1"], ["a", "xy2", "c"]);
  expect(found).toEqual({ at: 1, lines: ["xy1", "xy2"] });
  expect(contrast(["xy1", "xy2"])).toBe("…xy1 and …xy2");
});
