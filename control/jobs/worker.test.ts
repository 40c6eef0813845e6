/**
 * Jobs through the whole queue of an embedded database: wake-ups, claims, runs, and the stop of a
 * process.
 */
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob, attemptRows, createStandingClock, jobRow } from "../../tests/control-jobs.ts";
import { soon } from "../../tests/soon.ts";
import type { JobAttempt, JobRunner } from "../contract/job.ts";

describe("a process that runs jobs", () => {
  let api: TestControl;
  let runner: JobRunner;
  let running = 0;
  let mostRunning = 0;
  beforeAll(async () => {
    api = await startTestControl({
      jobs: "run",
      clock: createScaledClock(20),
      runners: {
        sync: async (attempt) => {
          running += 1;
          mostRunning = Math.max(mostRunning, running);
          try {
            return await runner(attempt);
          } finally {
            running -= 1;
          }
        },
      },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const wake = () => api.control.services.jobs.wake();
  const statusOf = async (id: string) => (await jobRow(api, id)).status;

  test("runs what it is told of, two at a time, until nothing is left", async () => {
    const seen: string[] = [];
    runner = async ({ job }) => {
      seen.push(job.id);
      await new Promise((resolve) => setImmediate(resolve));
      return { status: "succeeded" };
    };
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) ids.push(await addJob(api));
    wake();
    await vi.waitFor(async () => {
      for (const id of ids) expect(await statusOf(id)).toBe("succeeded");
    }, soon);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(mostRunning).toBeLessThanOrEqual(2);
  });

  test("finds what nobody has announced", async () => {
    runner = async () => ({ status: "succeeded" });
    const id = await addJob(api);
    await vi.waitFor(async () => expect(await statusOf(id)).toBe("succeeded"), soon);
  });

  test("tries again what may pass", async () => {
    let count = 0;
    runner = async () => {
      count += 1;
      if (count > 1) return { status: "succeeded" };
      throw new Error("once");
    };
    const id = await addJob(api);
    wake();
    await vi.waitFor(async () => expect(await statusOf(id)).toBe("succeeded"), soon);
    expect(await attemptRows(api, id)).toMatchObject([
      { status: "failed" },
      { status: "succeeded" },
    ]);
  });

  test("stops a job that is cancelled, through the API", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<JobAttempt>();
    runner = async (attempt) => {
      begin(attempt);
      await new Promise((resolve) =>
        attempt.signal.addEventListener("abort", resolve, { once: true }),
      );
      return { status: "cancelled" };
    };
    const id = await addJob(api);
    wake();
    await begun;
    const asked = await api.call("POST", `/jobs/${id}/cancel`, { body: {} });
    expect(asked.body.data).toMatchObject({ status: "running", cancel_requested: true });
    await vi.waitFor(async () => expect(await statusOf(id)).toBe("cancelled"), soon);
  });
});

test("a process that ended an attempt wakes all when the next one may begin", async () => {
  const clock = createStandingClock();
  const slept: number[] = [];
  const { promise: isTime, resolve: comes } = Promise.withResolvers<void>();
  await using api = await startTestControl({
    jobs: "run",
    clock: {
      ...clock,
      sleep: (durationMs) => {
        slept.push(durationMs);
        return isTime;
      },
    },
    runners: {
      sync: async () => {
        throw new Error("once");
      },
    },
  });
  const notify = vi.spyOn(api.control.services.database.notifications, "notify");
  const id = await addJob(api);
  api.control.services.jobs.wake();
  await vi.waitFor(() => expect(slept).toHaveLength(1), soon);
  const { status, runnable_at } = await jobRow(api, id);
  expect([status, runnable_at]).toEqual(["incomplete", new Date(clock.now() + Number(slept[0]))]);
  await vi.waitFor(() => expect(notify).toHaveBeenCalledTimes(1), soon);
  notify.mockClear();
  comes();
  await vi.waitFor(() => expect(notify).toHaveBeenCalledTimes(1), soon);
});

test("a process that stops gives its jobs back", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const api = await startTestControl({
    jobs: "run",
    runners: {
      sync: async ({ signal }) => {
        begin();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return { status: "cancelled" };
      },
    },
  });
  const id = await addJob(api);
  api.control.services.jobs.wake();
  await begun;
  const { db } = api;
  const row = vi.spyOn(db, "destroy").mockImplementation(async () => undefined);
  await api[Symbol.asyncDispose]();
  expect(
    await db.selectFrom("jobs").select("status").where("id", "=", id).executeTakeFirst(),
  ).toEqual({
    status: "incomplete",
  });
  row.mockRestore();
  await db.destroy();
});
