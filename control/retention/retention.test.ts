import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addTestPipeline,
  createEventClock,
  deliverEvents,
  runJob,
} from "../../tests/control-events.ts";
import { addJob, type StandingClock } from "../../tests/control-jobs.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { verifyAudit } from "../audit/verify.ts";
import { findCredential } from "../credentials/rows.ts";
import { logUse } from "../credentials/usage-log.ts";
import { createSession } from "../members/sessions.ts";
import { defaultRetention, type Retention } from "../services/settings.ts";
import { batchRows, sweepOld } from "./sweep.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createEventClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ["event_facts", "events", "jobs", "credential_uses"] as const)
    await api.db.deleteFrom(table).execute();
});

const days = (count: number) => clock.move(count * 86_400_000);
const now = () => new Date(clock.now());
const sweep = (retention: Partial<Retention> = {}) =>
  sweepOld(api.db, {
    retention: { ...defaultRetention, ...retention },
    now: now(),
    signal: new AbortController().signal,
    onFailure: (kind) => expect.unreachable(kind),
  });
const idsIn = async (table: "jobs" | "events" | "event_deliveries" | "credential_uses") =>
  (await api.db.selectFrom(table).select("id").orderBy("id").execute()).map(({ id }) => id);
const addLogs = (jobId: string, count: number) =>
  api.db
    .insertInto("job_logs")
    .values(
      Array.from({ length: count }, (_, index) => ({
        job_id: jobId,
        index: index + 10,
        attempt: 1,
        at: now(),
        level: "info" as const,
        message: "A line.",
        fields: "{}",
      })),
    )
    .execute();
const logCount = async () =>
  (await api.db.selectFrom("job_logs").select("job_id").execute()).length;

test("jobs go after their time, but the latest of a pipeline and those under way stay", async () => {
  const pipeline = await addTestPipeline(api);
  const old = await runJob(api, clock, pipeline);
  const latest = await runJob(api, clock, pipeline);
  const waiting = await addJob(api);
  days(100);
  await sweep({ jobs: 101 });
  expect((await idsIn("jobs")).toSorted()).toEqual([old, latest, waiting].toSorted());
  await sweep({ jobs: 99 });
  expect(await idsIn("jobs")).toEqual([latest, waiting].toSorted());
  const token = await tokenOf(api.first.id);
  const { data } = (await api.call("GET", `/pipelines/${pipeline}`, { token })).body;
  expect(data.sync_state).toBe("synced");
});

test("logs go before their jobs, in batches, and whole", async () => {
  const ended = await runJob(api, clock);
  const waiting = await addJob(api);
  await addLogs(ended, batchRows + 1);
  await addLogs(waiting, 1);
  days(40);
  expect(await sweep({ job_logs: 50 })).toMatchObject({ job_logs: 0 });
  expect(await sweep()).toMatchObject({ job_logs: batchRows + 1 });
  expect(await logCount()).toBe(1);
  expect(await idsIn("jobs")).toContain(ended);
});

test("events and deliveries go, unless somebody is still to be told", async () => {
  const body = { name: "Nobody", url: "https://nobody.example.com/" };
  let token = await tokenOf(api.first.id);
  const { data } = (await api.call("POST", "/webhook-endpoints", { token, body })).body;
  await runJob(api, clock);
  await deliverEvents(api);
  const [event] = await idsIn("events");
  days(40);
  await sweep();
  expect(await idsIn("events")).toEqual([event]);
  token = await tokenOf(api.first.id);
  await api.call("PATCH", `/webhook-endpoints/${data.webhook_endpoint_id}`, {
    token,
    body: { status: "disabled" },
  });
  await sweep();
  expect((await idsIn("event_deliveries")).length).toBe(1);
  days(40);
  await sweep();
  expect([await idsIn("events"), await idsIn("event_deliveries")]).toEqual([[], []]);
});

test("what a secret was opened for is kept as long as the operator says", async () => {
  const { id } = await addCredential(api);
  await logUse(api.db, await findCredential(api.db, api.first.id, id), "check", now());
  days(400);
  await sweep({ credential_uses: null });
  expect((await idsIn("credential_uses")).length).toBe(1);
  await sweep();
  expect(await idsIn("credential_uses")).toEqual([]);
});

test("what ends by itself goes a day later", async () => {
  const token = await tokenOf(api.first.id);
  const key = { "idempotency-key": "of-long-ago" };
  await api.call("PATCH", "/notification-settings", {
    token,
    headers: key,
    body: { event_types: [] },
  });
  const kept = () => api.db.selectFrom("idempotency_keys").select("key").execute();
  expect(await kept()).toEqual([{ key: "of-long-ago" }]);
  days(1.5);
  await sweep();
  expect(await kept()).toHaveLength(1);
  days(1);
  await sweep();
  expect(await kept()).toEqual([]);
});

test("an audit log of which the oldest entries were deleted is verified from its anchor", async () => {
  const { id: workspaceId } = await api.addWorkspace("audited");
  const write = async () => {
    const token = await tokenOf(workspaceId);
    const body = { event_types: [] };
    expect((await api.call("PATCH", "/notification-settings", { token, body })).status).toBe(200);
  };
  for (let count = 0; count < 3; count += 1) await write();
  const noted = (await verifyAudit(api.db, workspaceId)).intact[0];
  days(60);
  await write();
  expect(await sweep({ audit: 30 })).toMatchObject({ audit_logs: expect.any(Number) });
  const rows = () =>
    api.db
      .selectFrom("audit_logs")
      .select(["index", "action"])
      .where("workspace_id", "=", workspaceId)
      .orderBy("index")
      .execute();
  expect(await rows()).toEqual([
    { index: 4, action: "notification_settings.update" },
    { index: 5, action: "audit_log.prune" },
  ]);
  expect(await verifyAudit(api.db, workspaceId)).toMatchObject({ intact: [{ index: 5 }] });
  // The anchor is the place that was noted: it still counts. An older one cannot be compared.
  expect(await verifyAudit(api.db, workspaceId, noted)).toMatchObject({ intact: [{ index: 5 }] });
  const other = { index: 3, hash: "0".repeat(64) };
  expect((await verifyAudit(api.db, workspaceId, other)).faults).toMatchObject([
    { kind: "changed", index: 3 },
  ]);
  const older = { index: 2, hash: "0".repeat(64) };
  expect((await verifyAudit(api.db, workspaceId, older)).faults).toMatchObject([
    { kind: "pruned", index: 2 },
  ]);
});

test("the database lets nothing of an audit log go that lies behind its anchor", async () => {
  await expect(api.db.deleteFrom("audit_logs").execute()).rejects.toThrow("append-only");
  await expect(
    api.db.updateTable("audit_logs").set({ summary: "Nothing." }).execute(),
  ).rejects.toThrow("append-only");
  await api.db
    .updateTable("audit_anchors")
    .set((eb) => ({ hash: eb.val("f".repeat(64)) }))
    .execute();
  const { faults } = await verifyAudit(api.db);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["changed"]));
});

/** A token of an administrator of the workspace that is valid now. */
async function tokenOf(workspaceId: string): Promise<string> {
  const { user_id } = await api.db
    .selectFrom("memberships")
    .select("user_id")
    .where("workspace_id", "=", workspaceId)
    .where("role", "=", "admin")
    .executeTakeFirstOrThrow();
  return (await createSession(api.db, { userId: user_id, client: "api" }, now())).token;
}
