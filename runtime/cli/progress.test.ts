import { expect, test } from "vitest";
import type { Sink } from "../contract/sink.ts";
import { createProgress, formatBytes, formatCount, formatDuration } from "./progress.ts";

const sink: Sink = {
  lineFormat: "rows",
  open: async () => {},
  write: async () => {},
  checkpoint: async () => {},
  status: async () => {},
  close: async () => {},
};

function setUp(isTTY: boolean, columns = 120) {
  let nowMs = 1_700_000_000_000;
  let shown = "";
  const clock = { now: () => nowMs, sleep: async () => {} };
  const progress = createProgress({
    clock,
    isTTY,
    columns,
    write: (text) => {
      shown += text;
    },
  });
  return {
    progress,
    watched: progress.watch(sink),
    pass: (ms: number) => {
      nowMs += ms;
    },
    now: () => nowMs,
    /** The text since the last call. */
    shown: () => {
      const text = shown;
      shown = "";
      return text;
    },
  };
}

const users = { name: "users" };
const megabyte = Buffer.alloc(1_000_000);

test("a terminal's line is redrawn with rows, speed, stream and time, but not for every write", async () => {
  const { watched, pass, shown } = setUp(true);
  await watched.status(users, "started");
  pass(100);
  await watched.write?.(users, megabyte, 1_000);
  expect(shown()).toBe("");
  pass(400);
  await watched.write?.(users, megabyte, 500);
  expect(shown()).toBe("\r\u001b[Kusers  1,500 rows  4.0 MB/s  1 of ? streams  0.5 s");
});

test("elsewhere a line comes every ten seconds, without control characters", async () => {
  const { watched, pass, shown } = setUp(false);
  await watched.status(users, "started");
  for (let second = 0; second < 25; second++) {
    pass(1_000);
    await watched.write?.(users, megabyte, 10);
  }
  const lines = shown().split("\n");
  expect(lines).toEqual([
    "users  100 rows  1.0 MB/s  1 of ? streams  10.0 s",
    "users  200 rows  1.0 MB/s  1 of ? streams  20.0 s",
    "",
  ]);
});

test("a long wait for the rate limit is shown at once, with the time at which it goes on, and goes away with the next rows", async () => {
  const { progress, watched, pass, now, shown } = setUp(false);
  await watched.status(users, "started");
  progress.event({ type: "waiting", untilMs: now() + 60_000, reason: "rate_limit" });
  expect(shown()).toMatch(/waiting for rate limit until \d\d:\d\d:\d\d\n$/);
  pass(60_000);
  await watched.write?.(users, megabyte, 1);
  expect(shown()).not.toContain("waiting");
});

test("a short wait is no news", () => {
  const { progress, now, shown } = setUp(false);
  progress.event({ type: "waiting", untilMs: now() + 300, reason: "retry" });
  progress.event({ type: "waiting", untilMs: 0, reason: "retry" });
  expect(shown()).toBe("");
});

test("warnings and refusals stand on lines of their own, above the progress; debug and info are left out", async () => {
  const { progress, watched, pass, shown } = setUp(true);
  pass(1_000);
  await watched.write?.(users, megabyte, 1);
  shown();
  progress.event({ type: "log", level: "warn", message: "Slow\u001b[2J page.", fields: {} });
  progress.event({ type: "log", level: "info", message: "Fine.", fields: {} });
  progress.event({ type: "denied", resource: "net" });
  expect(shown()).toBe("\r\u001b[KSlow?[2J page.\nThe sandbox refused net.\n");
});

test("a hostile stream name cannot move the cursor or break the line, and the line fits the terminal", async () => {
  const { watched, pass, shown } = setUp(true, 40);
  await watched.status({ name: `\u001b[31m\r\n\u202e${"x".repeat(300)}` }, "started");
  pass(1_000);
  await watched.write?.(users, megabyte, 1);
  const drawn = shown().slice("\r\u001b[K".length);
  expect(drawn).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(drawn.length).toBeLessThanOrEqual(39);
});

test("streams are counted", async () => {
  const { progress, watched, pass, shown } = setUp(true);
  const configured = { stream: { name: "users" } } as never;
  await watched.open([configured, configured]);
  await watched.status(users, "complete");
  pass(1_000);
  await watched.write?.(users, megabyte, 1);
  expect(shown()).toContain("2 of 2 streams");
  progress.end();
  expect(shown()).toBe("\r\u001b[K");
  progress.end();
  expect(shown()).toBe("");
});

test("of streams that are read at the same time the one that began last is named", async () => {
  const { watched, pass, shown } = setUp(true);
  const lineAfter = async (name: string, status: "started" | "complete") => {
    pass(1_000);
    await watched.status({ name }, status);
    return shown();
  };
  expect(await lineAfter("a", "started")).toContain("a  ");
  expect(await lineAfter("b", "started")).toContain("b and 1 more  ");
  expect(await lineAfter("b", "complete")).toContain("Ka  ");
});

test("numbers are written for people", () => {
  expect([
    formatCount(1234567),
    formatBytes(999),
    formatBytes(1_234_567),
    formatDuration(59_940),
    formatDuration(125_000),
  ]).toEqual(["1,234,567", "1.0 kB", "1.2 MB", "59.9 s", "2 min 5 s"]);
});

test("with estimates the line has a share, a total and about how long the rest takes", async () => {
  const { progress, pass, shown } = setUp(false);
  const watched = progress.watch(sink, [{ stream: users, rows: 4_000 }]);
  await watched.open([]);
  await watched.status(users, "started");
  pass(10_000);
  await watched.write?.(users, megabyte, 1_000);
  expect(shown()).toBe(
    "users 25 %  1,000 of about 4,000 rows  100.0 kB/s  1 of ? streams  10.0 s  about 30.0 s left\n",
  );
});

test("a warning is told once, readably", () => {
  const { progress, shown } = setUp(false);
  const event = {
    type: "log",
    level: "warn",
    message: "This table is skipped.",
    fields: { stream: "public.x", reason: "no right" },
  } as const;
  progress.event(event);
  progress.event(event);
  expect(shown()).toBe("This table is skipped (no right): public.x\n");
});
