import { ConnectorError, type ErrorCode } from "svc-connectors/host";
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
import { noRows } from "../reverse-etl/run-row.ts";
import { endAttempt, endJobLeases, takeOverLost } from "./attempts.ts";
import { requestCancel } from "./cancel.ts";
import type { ClaimedJob } from "./claim.ts";
import { toFailure } from "./failure.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createStandingClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());
beforeEach(() => api.db.deleteFrom("jobs").execute());

const now = () => new Date(clock.now());
const failing = (code: ErrorCode) => ({
  status: "failed" as const,
  failure: toFailure(new ConnectorError(code).toRecord(), "source", now()),
});

async function begin(): Promise<ClaimedJob> {
  const claimed = await claim(api);
  if (!claimed) throw new Error("nothing to claim");
  return claimed;
}
/** Gives when the next attempt may begin. */
const end = async ({ job, leaseId }: ClaimedJob, how: Parameters<typeof endAttempt>[2]) => {
  const ended = await api.db
    .transaction()
    .execute((tx) => endAttempt(tx, { id: job.id, leaseId }, how, now()));
  return ended?.job.runnableAt;
};
const cancel = (id: string) =>
  api.db.transaction().execute((tx) => requestCancel(tx, { id }, now()));
/** The attempt has committed a row. */
const commit = ({ job }: ClaimedJob) =>
  api.db
    .updateTable("job_attempts")
    .set({ records_committed: 1 })
    .where("job_id", "=", job.id)
    .where("attempt", "=", job.attempt)
    .execute();

describe("the end of an attempt", () => {
  test("that succeeded writes what is true only then, unless a cancellation came before", async () => {
    let count = 0;
    const done = {
      status: "succeeded" as const,
      commit: async () => {
        count += 1;
      },
    };
    await addJob(api);
    await end(await begin(), done);
    expect(count).toBe(1);
    const id = await addJob(api);
    const claimed = await begin();
    await cancel(id);
    await end(claimed, done);
    expect(count).toBe(1);
    expect(await jobRow(api, id)).toMatchObject({
      status: "cancelled",
      failure: { type: "manual_cancellation" },
    });
    expect(await attemptRows(api, id)).toMatchObject([{ status: "cancelled" }]);
  });

  test("that succeeded ends the job", async () => {
    const id = await addJob(api);
    expect(await end(await begin(), { status: "succeeded" })).toBeUndefined();
    expect(await jobRow(api, id)).toMatchObject({
      status: "succeeded",
      ended_at: now(),
      lease_id: null,
      failure: null,
    });
    expect(await attemptRows(api, id)).toMatchObject([{ status: "succeeded", ended_at: now() }]);
  });

  test("that may pass leads to another one, later", async () => {
    const id = await addJob(api);
    const next = await end(await begin(), failing("CONNECTION_FAILED"));
    expect(next?.getTime()).toBeGreaterThanOrEqual(clock.now() + 5_000);
    expect(await jobRow(api, id)).toMatchObject({
      status: "incomplete",
      runnable_at: next,
      ended_at: null,
      failure: { type: "transient_error" },
    });
    expect(await claim(api)).toBeUndefined();
    clock.move(10_000);
    expect((await begin()).job).toMatchObject({ id, attempt: 2 });
  });

  test("that a person must mend ends the job", async () => {
    const id = await addJob(api);
    expect(await end(await begin(), failing("CREDENTIALS_REJECTED"))).toBeUndefined();
    expect(await jobRow(api, id)).toMatchObject({
      status: "failed",
      failure: { type: "auth_error" },
    });
  });

  describe("of a run of reverse ETL", () => {
    const start = async () => {
      const id = await addJob(api, { kind: "reverse_etl" });
      const run = {
        id: `run_${id}`,
        workspace_id: api.first.id,
        activation_id: "act_1",
        job_id: id,
        status: "processing" as const,
        trigger: "manual" as const,
        full_sync: false,
        dry_run: false,
        planned: JSON.stringify(noRows),
        successful: JSON.stringify(noRows),
        failed: JSON.stringify(noRows),
        created_at: now(),
      };
      await api.db.insertInto("reverse_etl_runs").values(run).execute();
      return id;
    };
    const runOf = (jobId: string) =>
      api.db
        .selectFrom("reverse_etl_runs")
        .select(["status", "error", "finished_at"])
        .where("job_id", "=", jobId)
        .executeTakeFirstOrThrow();

    test("that failed after its cancellation was accepted ends both as cancelled", async () => {
      const id = await start();
      const claimed = await begin();
      await cancel(id);
      await end(claimed, failing("CREDENTIALS_REJECTED"));
      expect((await jobRow(api, id)).status).toBe("cancelled");
      expect(await runOf(id)).toEqual({ status: "cancelled", error: null, finished_at: now() });
    });

    test("that a person must mend ends both as failed, with the reason", async () => {
      const id = await start();
      await end(await begin(), failing("CREDENTIALS_REJECTED"));
      expect(await runOf(id)).toMatchObject({
        status: "failed",
        error: { reason: "credentials_rejected" },
        finished_at: now(),
      });
    });

    test("that may pass leaves the run waiting, until it is cancelled", async () => {
      const id = await start();
      await end(await begin(), failing("CONNECTION_FAILED"));
      expect(await runOf(id)).toMatchObject({ finished_at: null });
      await cancel(id);
      expect(await runOf(id)).toMatchObject({ status: "cancelled", finished_at: now() });
    });

    test("whose workers have all died ends it as interrupted", async () => {
      const id = await start();
      await api.db.updateTable("jobs").set({ max_attempts: 1 }).where("id", "=", id).execute();
      await begin();
      clock.move(30_000);
      await takeOverLost(api.control.services);
      expect((await jobRow(api, id)).status).toBe("failed");
      expect(await runOf(id)).toMatchObject({ status: "interrupted", finished_at: now() });
    });
  });

  test("that belongs to another attempt by now changes nothing", async () => {
    const id = await addJob(api);
    const first = await begin();
    clock.move(30_000);
    await takeOverLost(api.control.services);
    const second = await begin();
    await end(first, { status: "succeeded" });
    expect(await jobRow(api, id)).toMatchObject({
      status: "running",
      lease_id: second.leaseId,
      attempt: 2,
    });
  });

  test("of a process that stops gives the job back", async () => {
    const id = await addJob(api);
    expect(await end(await begin(), { status: "released" })).toEqual(now());
    expect((await begin()).job).toMatchObject({ id, attempt: 2 });
    expect(await attemptRows(api, id)).toMatchObject([
      { status: "released" },
      { status: "running" },
    ]);
  });

  test("that failed while somebody had cancelled the job is not followed by another one", async () => {
    const id = await addJob(api);
    const claimed = await begin();
    await cancel(id);
    await end(claimed, failing("CONNECTION_FAILED"));
    expect(await jobRow(api, id)).toMatchObject({
      status: "cancelled",
      failure: { type: "manual_cancellation" },
    });
  });
});

describe("a worker that has died", () => {
  test("loses its job when its lease is over, and not before", async () => {
    const id = await addJob(api);
    await begin();
    clock.move(29_999);
    expect(await takeOverLost(api.control.services)).toBe(0);
    clock.move(1);
    expect(await takeOverLost(api.control.services)).toBe(1);
    expect(await jobRow(api, id)).toMatchObject({ status: "incomplete", runnable_at: now() });
    expect(await attemptRows(api, id)).toMatchObject([
      { status: "lost", failure: { code: "WORKER_LOST" } },
    ]);
    expect((await begin()).job.attempt).toBe(2);
  });

  const die = async () => {
    clock.move(30_000);
    await takeOverLost(api.control.services);
  };

  test("eight times in a row without a row ends the job", async () => {
    const id = await addJob(api);
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect((await begin()).job.attempt).toBe(attempt);
      await die();
    }
    expect(await jobRow(api, id)).toMatchObject({
      status: "failed",
      failure: { code: "WORKER_LOST" },
    });
  });

  test("after a commit begins the count anew", async () => {
    const id = await addJob(api);
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      const claimed = await begin();
      if (attempt === 5) await commit(claimed);
      await die();
    }
    expect((await jobRow(api, id)).status).toBe("incomplete");
  });

  test("while its job was to be cancelled leaves it cancelled", async () => {
    const id = await addJob(api);
    await begin();
    await cancel(id);
    await die();
    expect((await jobRow(api, id)).status).toBe("cancelled");
  });

  test("with an embedded database is known to be dead at the start", async () => {
    const id = await addJob(api);
    await begin();
    await endJobLeases(api.db, now());
    await takeOverLost(api.control.services);
    expect((await jobRow(api, id)).status).toBe("incomplete");
  });
});

describe("cancelling", () => {
  test.each([
    "pending",
    "queued",
    "incomplete",
  ] as const)("a %s job ends it at once", async (status) => {
    const id = await addJob(api);
    await api.db.updateTable("jobs").set({ status }).execute();
    expect(await cancel(id)).toBe("cancelled");
    expect(await jobRow(api, id)).toMatchObject({ status: "cancelled", ended_at: now() });
    expect(await cancel(id)).toBe("ended");
  });

  test("a running job tells its worker", async () => {
    const id = await addJob(api);
    const claimed = await begin();
    expect(await cancel(id)).toBe("requested");
    clock.move(1_000);
    expect(await cancel(id)).toBe("requested");
    expect(await jobRow(api, id)).toMatchObject({
      status: "running",
      cancel_requested_at: new Date(clock.now() - 1_000),
    });
    await end(claimed, { status: "cancelled" });
    expect((await jobRow(api, id)).status).toBe("cancelled");
  });

  test.each([
    "succeeded",
    "failed",
    "cancelled",
  ] as const)("a %s job changes nothing", async (status) => {
    const id = await addJob(api);
    await api.db.updateTable("jobs").set({ status }).execute();
    expect(await cancel(id)).toBe("ended");
    expect((await jobRow(api, id)).status).toBe(status);
  });
});
