import type { Terminal } from "svc-connectors/host";
import { expect, test } from "vitest";
import { createJobView } from "./job-view.ts";

type Job = Parameters<ReturnType<typeof createJobView>["show"]>[0];
type Streams = Parameters<ReturnType<typeof createJobView>["show"]>[1];

function open(isTTY: boolean) {
  const texts = { out: "", err: "" };
  let nowMs = Date.parse("2026-01-31T09:30:00Z");
  const output = (name: "out" | "err") => ({
    async write(text: string | Buffer) {
      texts[name] += text;
    },
    async line(text: string) {
      texts[name] += `${text}\n`;
    },
    isAbandoned: false,
  });
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const view = createJobView({
    isTTY,
    columns: 100,
    clock,
    out: output("out"),
    err: output("err"),
  } as unknown as Terminal);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { view, texts, pass };
}

const job = (changes: Partial<Job>): Job =>
  ({
    job_id: "job_1",
    status: "running",
    attempt: 1,
    next_attempt_at: null,
    cancel_requested: false,
    records_synced: 0,
    bytes_synced: 0,
    replication_lag_bytes: null,
    started_at: "2026-01-31T09:29:30.000Z",
    failure: null,
    ...changes,
  }) as Job;
const streams = [
  { name: "lists", namespace: null, status: "complete" },
  { name: "people", namespace: "public", status: "running" },
] as unknown as Streams;

test("a terminal shows one line, redrawn: the stream, rows, speed and time", async () => {
  const { view, texts, pass } = open(true);
  await view.show(job({ records_synced: 1_000, bytes_synced: 1_000_000 }), streams);
  expect(texts.err, "no speed without anything to compare with").toBe(
    "\r\u001b[Krunning  public.people  1,000 rows  1 of 2 streams  30.0 s",
  );
  pass(1_000);
  await view.show(job({ records_synced: 12_345, bytes_synced: 3_000_000 }), streams);
  expect(texts.err.split("\r\u001b[K").at(-1)).toBe(
    "running  public.people  12,345 rows  1 of 2 streams  2.0 MB/s  31.0 s",
  );
  await view.end(job({ status: "succeeded", records_synced: 12_345, attempt: 2 }));
  expect(texts.err.endsWith("\r\u001b[K")).toBe(true);
  expect(texts.out).toBe("job_1 succeeded: 12,345 rows, 2 attempts\n");
});

test("what the source's server keeps of its log is told", async () => {
  const { view, texts } = open(false);
  await view.show(job({ replication_lag_bytes: 52_000_000 }), streams);
  expect(texts.err).toContain("1 of 2 streams  log kept: 52.0 MB\n");
});

test("elsewhere a line is written when something has changed", async () => {
  const { view, texts, pass } = open(false);
  await view.show(job({ records_synced: 5 }), streams);
  pass(1_000);
  await view.show(job({ records_synced: 5 }), streams);
  await view.show(
    job({ status: "incomplete", attempt: 2, next_attempt_at: "2026-01-31T09:31:00.000Z" }),
    [],
  );
  await view.end(
    job({ status: "failed", failure: { message: "What is wrong\u001b[2J." } as Job["failure"] }),
  );
  expect(texts.err).toBe(
    "running  public.people  5 rows  1 of 2 streams\nincomplete  0 rows  attempt 2  again at 09:31:00 UTC\nWhat is wrong?[2J.\n",
  );
});
