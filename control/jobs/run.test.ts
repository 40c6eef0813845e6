import { ConnectorError } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addJob,
  attemptRows,
  claim,
  createStandingClock,
  jobRow,
  type StandingClock,
} from "../../tests/control-jobs.ts";
import type { JobAttempt, JobRunner } from "../contract/job.ts";
import { requestCancel } from "./cancel.ts";
import { toFailure } from "./failure.ts";
import { holdLease } from "./lease.ts";
import { maxLogEntries } from "./logs.ts";
import { runJob } from "./run.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createStandingClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());
beforeEach(() => api.db.deleteFrom("jobs").execute());

/** Runs the next job with this runner. */
async function run(runner: JobRunner, stopping = new AbortController().signal) {
  const claimed = await claim(api);
  if (!claimed) throw new Error("nothing to claim");
  return await runJob(
    api.control.services,
    claimed,
    { sync: runner, reverse_etl: runner },
    stopping,
  );
}

const untilAborted = ({ signal }: JobAttempt) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
const logged = (id: string) =>
  api.db.selectFrom("job_logs").selectAll().where("job_id", "=", id).orderBy("index").execute();

describe("a job that runs", () => {
  test("leaves its progress by attempt and by stream", async () => {
    const id = await addJob(api);
    const [lists, people] = [{ name: "lists" }, { namespace: "public", name: "people" }];
    await run(async ({ progress }) => {
      progress.expect([lists, people, { name: "later" }]);
      progress.status(people, "running");
      progress.add(people, { emitted: 10, bytes: 1_000 });
      progress.add(people, { committed: 10 });
      progress.add(lists, { emitted: 2, committed: 2, bytes: 3_000_000_000 });
      progress.status(people, "complete");
      return { status: "succeeded" };
    });
    const totals = { records_emitted: 12, records_committed: 12, bytes: 3000001000 };
    expect(await jobRow(api, id)).toMatchObject({ status: "succeeded", ...totals });
    expect(await attemptRows(api, id)).toMatchObject([totals]);
    const streams = await api.db
      .selectFrom("job_streams")
      .selectAll()
      .where("job_id", "=", id)
      .orderBy("name")
      .execute();
    expect(streams).toMatchObject([
      { name: "later", namespace: "", status: "pending", committed_at: null },
      { name: "lists", status: "pending", records_committed: 2 },
      { name: "people", namespace: "public", status: "complete", records_emitted: 10, bytes: 1000 },
    ]);
  });

  test("goes on with its progress in the next attempt", async () => {
    const id = await addJob(api);
    const failure = toFailure(
      new ConnectorError("CONNECTION_FAILED").toRecord(),
      "source",
      new Date(clock.now()),
    );
    const next = await run(async ({ progress }) => {
      progress.add({ name: "lists" }, { emitted: 5, committed: 3 });
      progress.status({ name: "lists" }, "incomplete", failure);
      return { status: "failed", failure };
    });
    expect(next).toBeDefined();
    clock.move(20_000);
    await run(async ({ progress }) => {
      progress.add({ name: "lists" }, { emitted: 2, committed: 4 });
      progress.status({ name: "lists" }, "complete");
      return { status: "succeeded" };
    });
    expect(await jobRow(api, id)).toMatchObject({
      records_emitted: 7,
      records_committed: 7,
      failure: null,
    });
    expect(await attemptRows(api, id)).toMatchObject([
      { status: "failed", records_committed: 3, failure: { code: "CONNECTION_FAILED" } },
      { status: "succeeded", records_committed: 4 },
    ]);
    const [stream] = await api.db
      .selectFrom("job_streams")
      .selectAll()
      .where("job_id", "=", id)
      .execute();
    expect(stream).toMatchObject({ status: "complete", records_committed: 7, failure: null });
  });

  test("is cancelled by its worker", async () => {
    const id = await addJob(api);
    const claimed = await claim(api);
    using lease = holdLease(api.control.services, claimed as NonNullable<typeof claimed>);
    await lease.look();
    expect(lease.stop).toBeUndefined();
    await api.db.transaction().execute((tx) => requestCancel(tx, { id }, new Date(clock.now())));
    await lease.look();
    expect([lease.stop, lease.signal.aborted]).toEqual(["cancelled", true]);
  });

  test("goes back to the queue when the process stops", async () => {
    const id = await addJob(api);
    const stopping = new AbortController();
    const next = await run(async (attempt) => {
      stopping.abort();
      await untilAborted(attempt);
      return { status: "cancelled" };
    }, stopping.signal);
    expect(next).toEqual(new Date(clock.now()));
    expect(await jobRow(api, id)).toMatchObject({ status: "incomplete", lease_id: null });
  });

  test("that is done when the process stops is done", async () => {
    const id = await addJob(api);
    const stopping = new AbortController();
    await run(async () => {
      stopping.abort();
      return { status: "succeeded" };
    }, stopping.signal);
    expect((await jobRow(api, id)).status).toBe("succeeded");
  });

  test("that throws fails inside svc, without a word of the error", async () => {
    const id = await addJob(api);
    await run(async () => {
      throw new Error("password=hunter22");
    });
    const row = await jobRow(api, id);
    expect(row).toMatchObject({
      status: "incomplete",
      failure: { origin: "platform", code: "INTERNAL", retryable: true },
    });
    expect(JSON.stringify([row, await attemptRows(api, id), await logged(id)])).not.toContain(
      "hunter22",
    );
  });
});

describe("a lease", () => {
  test("is made longer while the database answers", async () => {
    const id = await addJob(api);
    const claimed = (await claim(api)) as NonNullable<Awaited<ReturnType<typeof claim>>>;
    using lease = holdLease(api.control.services, claimed);
    clock.move(9_000);
    await lease.look();
    expect((await jobRow(api, id)).lease_until).toEqual(claimed.leaseUntil);
    clock.move(2_000);
    await lease.look();
    expect((await jobRow(api, id)).lease_until).toEqual(new Date(clock.now() + 30_000));
    expect(lease.stop).toBeUndefined();
  });

  test("that another worker has now is lost", async () => {
    await addJob(api);
    const claimed = (await claim(api)) as NonNullable<Awaited<ReturnType<typeof claim>>>;
    using lease = holdLease(api.control.services, claimed);
    await api.db.updateTable("jobs").set({ lease_id: "another" }).execute();
    await lease.look();
    expect(lease.stop).toBe("lost");
  });

  test("ends by itself when its time is over, whatever the database does", async () => {
    await addJob(api);
    const claimed = (await claim(api)) as NonNullable<Awaited<ReturnType<typeof claim>>>;
    const silent = { ...api.control.services.database, db: undefined as never };
    using lease = holdLease({ ...api.control.services, database: silent }, claimed);
    clock.move(29_999);
    await lease.look();
    expect(lease.stop).toBeUndefined();
    clock.move(1);
    await lease.look();
    expect(lease.stop).toBe("lost");
  });
});

describe("the log of a job", () => {
  test("holds no secret, no stack and no path", async () => {
    const id = await addJob(api);
    await run(async ({ log, secrets }) => {
      secrets.add("Zk9pQw3xLm7vTn2b");
      log("warn", "token Zk9pQw3xLm7vTn2b at /home/svc/app/index.js", {
        "a\u0000b": "Zk9pQw3xLm7vTn2b",
        rows: 5,
      });
      return { status: "succeeded" };
    });
    const text = JSON.stringify(await logged(id));
    expect(text).toContain("token [redacted] at [hidden]");
    for (const hidden of ["Zk9pQw3xLm7vTn2b", "/home/svc"]) expect(text).not.toContain(hidden);
  });

  test("is cut", async () => {
    const id = await addJob(api);
    await run(async ({ log }) => {
      log("info", "x".repeat(100_000));
      return { status: "succeeded" };
    });
    for (const { message } of await logged(id)) expect(message.length).toBeLessThanOrEqual(500);
  });

  test("ends when it is full", async () => {
    const id = await addJob(api);
    const now = new Date(clock.now());
    await api.db
      .insertInto("job_logs")
      .values({
        job_id: id,
        index: maxLogEntries - 2,
        attempt: 1,
        at: now,
        level: "info",
        message: "m",
        fields: "{}",
      })
      .execute();
    await run(async ({ log }) => {
      for (let count = 0; count < 10; count += 1) log("info", `entry ${count}`);
      return { status: "succeeded" };
    });
    expect((await logged(id)).map(({ index, message }) => [index, message])).toEqual([
      [maxLogEntries - 2, "m"],
      [maxLogEntries - 1, "The attempt begins."],
      [maxLogEntries, "The log is full: no more of it is kept."],
    ]);
  });
});
