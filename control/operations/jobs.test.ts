import { ConnectorError } from "svc-connectors/host";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addJob,
  claim,
  createStandingClock,
  type StandingClock,
} from "../../tests/control-jobs.ts";
import { createId } from "../contract/ids.ts";
import { toFailure } from "../jobs/failure.ts";
import { runJob } from "../jobs/run.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createStandingClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());
beforeEach(() => api.db.deleteFrom("jobs").execute());

/** Runs the next job: it reads 5 rows of a stream, commits 3, and fails. */
async function runOnce(): Promise<void> {
  const claimed = await claim(api);
  if (!claimed) throw new Error("nothing to claim");
  const runner = async ({ progress, log }: Parameters<Parameters<typeof runJob>[2]["sync"]>[0]) => {
    const failure = toFailure(
      new ConnectorError("PERMISSION_DENIED", { stream: "lists" }).toRecord("lists"),
      "source",
      new Date(clock.now()),
    );
    progress.expect([{ name: "people", namespace: "public" }]);
    progress.add({ name: "lists" }, { emitted: 5, committed: 3, bytes: 50 });
    progress.status({ name: "lists" }, "incomplete", failure);
    log("debug", "a detail");
    log("warn", "a warning", { rows: 5 });
    return { status: "failed" as const, failure };
  };
  await runJob(
    api.control.services,
    claimed,
    { sync: runner, reverse_etl: runner },
    new AbortController().signal,
  );
}

describe("GET /jobs/{job_id}", () => {
  test("tells all that is needed to draw the progress", async () => {
    const [pipelineId, connectionId] = [createId("pipeline"), createId("connection")];
    const id = await addJob(api, { pipelineId, connectionId, trigger: "schedule" });
    await runOnce();
    const { status, body, text } = await api.call("GET", `/jobs/${id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      job_id: id,
      workspace_id: api.first.id,
      pipeline_id: pipelineId,
      connection_id: connectionId,
      kind: "sync",
      job_type: "sync",
      status: "failed",
      trigger: "schedule",
      attempt: 1,
      next_attempt_at: null,
      cancel_requested: false,
      records_read: 5,
      records_synced: 3,
      bytes_synced: 50,
      failure: {
        origin: "source",
        type: "auth_error",
        code: "PERMISSION_DENIED",
        retryable: false,
        stream: "lists",
      },
      attempts: [
        { attempt: 1, status: "failed", records_emitted: 5, records_committed: 3, bytes: 50 },
      ],
      stream_stats: [
        {
          name: "lists",
          namespace: null,
          status: "incomplete",
          records_committed: 3,
          failure: { code: "PERMISSION_DENIED" },
        },
        {
          name: "people",
          namespace: "public",
          status: "pending",
          committed_at: null,
          failure: null,
        },
      ],
    });
    for (const inner of ["lease", "worker", "limits", "fence"]) expect(text).not.toContain(inner);
  });

  test("leaves out what is not asked for", async () => {
    const id = await addJob(api);
    const plain = await api.call("GET", `/jobs/${id}?include=`);
    expect(plain.body.data).not.toHaveProperty("attempts");
    const attempts = await api.call("GET", `/jobs/${id}?include=attempts`);
    expect([attempts.body.data.attempts, attempts.body.data.stream_stats]).toEqual([[], undefined]);
    expect((await api.call("GET", `/jobs/${id}?include=secrets`)).body.details.reason).toBe(
      "invalid_query",
    );
  });

  test.each(["", "/logs"])("of another workspace does not exist%s", async (part) => {
    const id = await addJob(api, { workspaceId: api.second.id });
    expect((await api.call("GET", `/jobs/${id}${part}`)).status).toBe(404);
    expect((await api.call("GET", `/jobs/job_x${part}`)).status).toBe(404);
  });
});

describe("GET /jobs", () => {
  test("lists the newest first, by any of the filters", async () => {
    const pipelineId = createId("pipeline");
    const first = await addJob(api, { pipelineId });
    clock.move(60_000);
    const since = new Date(clock.now()).toISOString();
    const second = await addJob(api, { jobType: "refresh" });
    await addJob(api, { workspaceId: api.second.id });
    const list = async (query: string) =>
      (await api.call("GET", `/jobs?${query}`)).body.data.items.map(
        ({ job_id }: { job_id: string }) => job_id,
      );
    expect(await list("")).toEqual([second, first]);
    expect(await list(`pipeline_id=${pipelineId}`)).toEqual([first]);
    expect(await list("connection_id=cn_none")).toEqual([]);
    expect(await list("job_type=refresh")).toEqual([second]);
    expect(await list("status=pending")).toHaveLength(2);
    expect(await list("status=failed")).toEqual([]);
    expect(await list(`created_after=${since}`)).toEqual([second]);
    expect(await list(`created_before=${since}`)).toEqual([first]);
  });

  test("comes in pages", async () => {
    for (let count = 0; count < 3; count += 1) {
      await addJob(api);
      clock.move(1);
    }
    const page = (await api.call("GET", "/jobs?limit=2")).body.data;
    expect([page.items.length, page.has_more]).toEqual([2, true]);
    const rest = (await api.call("GET", `/jobs?limit=2&cursor=${page.next_cursor}`)).body.data;
    expect([rest.items.length, rest.has_more]).toEqual([1, false]);
    const other = await api.call("GET", `/jobs?status=failed&cursor=${page.next_cursor}`);
    expect(other.body.details.reason).toBe("invalid_cursor");
  });
});

describe("POST /jobs/{job_id}/cancel", () => {
  const cancel = (id: string, token = api.first.tokens.runner) =>
    api.call("POST", `/jobs/${id}/cancel`, { token, body: {} });

  test("ends what waits, and may be repeated", async () => {
    const id = await addJob(api);
    const ended = await cancel(id);
    expect(ended.body.data).toMatchObject({
      status: "cancelled",
      failure: { type: "manual_cancellation" },
    });
    expect(await cancel(id)).toMatchObject({
      status: 200,
      body: { data: { status: "cancelled" } },
    });
  });

  test("tells the worker of what runs", async () => {
    const id = await addJob(api);
    await claim(api);
    expect((await cancel(id)).body.data).toMatchObject({
      status: "running",
      cancel_requested: true,
    });
  });

  test("comes too late for what has ended", async () => {
    const id = await addJob(api);
    await runOnce();
    expect(await cancel(id)).toMatchObject({
      status: 409,
      body: { details: { reason: "job_ended" } },
    });
  });

  test("is for runners, in their own workspace", async () => {
    const id = await addJob(api);
    expect((await cancel(id, api.first.tokens.viewer)).status).toBe(403);
    expect((await cancel(id, api.second.tokens.admin)).status).toBe(404);
  });
});

describe("GET /jobs/{job_id}/logs", () => {
  test("comes in pages by index, from a level on", async () => {
    const id = await addJob(api);
    await runOnce();
    const all = (await api.call("GET", `/jobs/${id}/logs`)).body.data;
    expect(
      all.items.map(({ index, level, message }: Record<string, unknown>) => [
        index,
        level,
        message,
      ]),
    ).toEqual([
      [1, "info", "The attempt begins."],
      [2, "debug", "a detail"],
      [3, "warn", "a warning"],
      [4, "error", expect.stringContaining("lists")],
    ]);
    expect([all.next_after, all.has_more, all.items[2].fields]).toEqual([null, false, { rows: 5 }]);
    const page = (await api.call("GET", `/jobs/${id}/logs?limit=1&after=1&level=warn`)).body.data;
    expect([page.items[0].index, page.next_after, page.has_more]).toEqual([3, 3, true]);
    expect((await api.call("GET", `/jobs/${id}/logs?level=fatal`)).body.details.reason).toBe(
      "invalid_query",
    );
  });
});
