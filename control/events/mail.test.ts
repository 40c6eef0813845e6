import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SmtpServer, startSmtpServer } from "../../simulators/smtp-server.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addTestPipeline,
  createEventClock,
  deliverEvents,
  runJob,
} from "../../tests/control-events.ts";
import type { StandingClock } from "../../tests/control-jobs.ts";

let api: TestControl;
let clock: StandingClock;
let server: SmtpServer;
let sent = 0;
beforeAll(async () => {
  clock = createEventClock();
  server = await startSmtpServer();
  const mail = { smtp: { host: "127.0.0.1", port: server.port }, from: "svc@example.com" };
  const publicUrl = "https://svc.example.com";
  api = await startTestControl({ clock, settings: { mail, publicUrl } });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await api.db.deleteFrom("events").execute();
  await api.db.deleteFrom("notification_settings").execute();
  sent = server.mails.length;
});

const mails = () => server.mails.slice(sent);
const choose = (body: object) => api.call("PATCH", "/notification-settings", { body });
const memberOf = async (role: "viewer" | "runner") =>
  (
    await api.db
      .selectFrom("memberships")
      .select("id")
      .where("workspace_id", "=", api.first.id)
      .where("role", "=", role)
      .executeTakeFirstOrThrow()
  ).id;
const fail = async (pipeline: string) => {
  await runJob(api, clock, pipeline, "failed");
  await deliverEvents(api);
};

test("administrators are mailed once when a pipeline stops working, and once when it works again", async () => {
  const pipeline = await addTestPipeline(api);
  for (const status of ["failed", "failed", "succeeded", "succeeded"] as const) {
    await runJob(api, clock, pipeline, status);
    await deliverEvents(api);
  }
  expect(mails().map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim())).toEqual([
    "Failed: p (first)",
    "Works again: p (first)",
  ]);
  const [failed] = mails();
  expect(failed?.to).toEqual([expect.stringMatching(/^admin@first-/)]);
  expect(failed?.text).toMatch(
    /Why: The provider did not accept the credentials\..* \(CREDENTIALS_REJECTED\)/,
  );
  expect(failed?.text).toMatch(/https:\/\/svc\.example\.com\/control\/v1\/jobs\/job_/);
});

test("members who are chosen are mailed of what is chosen, as long as they are members", async () => {
  const viewer = await memberOf("viewer");
  expect((await choose({ event_types: ["pipeline.failed"], member_ids: [viewer] })).status).toBe(
    200,
  );
  await fail(await addTestPipeline(api));
  expect(mails().map(({ to }) => to)).toEqual([[expect.stringMatching(/^viewer@first-/)]]);
  const suspended = (status: "suspended" | "active") =>
    api.db.updateTable("memberships").set({ status }).where("id", "=", viewer).execute();
  await suspended("suspended");
  await fail(await addTestPipeline(api));
  await suspended("active");
  expect(mails()).toHaveLength(1);
  await choose({ event_types: [] });
  await fail(await addTestPipeline(api));
  expect(mails()).toHaveLength(1);
});

test("what only administrators may know is mailed to nobody else", async () => {
  const viewer = await memberOf("viewer");
  await choose({ event_types: ["approval.created"], member_ids: [viewer] });
  const propose = (path: string, body: object) =>
    api.call("POST", path, { body, headers: { "x-svc-execution-mode": "proposal" } });
  await propose(`/workspaces/${api.first.id}/members/invitations`, {
    email: "somebody@example.com",
    role: "viewer",
  });
  await deliverEvents(api);
  expect(mails()).toEqual([]);
  const pipeline_id = await addTestPipeline(api);
  await propose(`/pipelines/${pipeline_id}/pause`, {});
  await deliverEvents(api);
  expect(mails()).toHaveLength(1);
});

test("a mail that the server does not take is sent again later", async () => {
  server.refuseRecipients(true);
  await fail(await addTestPipeline(api));
  server.refuseRecipients(false);
  await deliverEvents(api);
  expect(mails()).toEqual([]);
  clock.move(10_000);
  await deliverEvents(api);
  expect(mails()).toHaveLength(1);
});

test("a name with a line break, or of a header, stays in its line", async () => {
  const pipeline = await addTestPipeline(api);
  await api.db
    .updateTable("pipelines")
    .set({ name: "x\r\nBcc: third@example.com" })
    .where("id", "=", pipeline)
    .execute();
  await fail(pipeline);
  expect(mails()).toHaveLength(1);
  expect(mails()[0]?.raw).not.toMatch(/^Bcc:/im);
  expect(mails()[0]?.to).toHaveLength(1);
});

test("only active members of the workspace can be chosen", async () => {
  const otherUser = await api.db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", api.second.id)
    .executeTakeFirstOrThrow();
  expect(await choose({ member_ids: [otherUser.id] })).toMatchObject({
    status: 422,
    body: { details: { errors: [{ path: "member_ids.0" }] } },
  });
  const settings = await api.call("GET", "/notification-settings");
  expect(settings.body.data).toMatchObject({ member_ids: null, version: 0 });
  const { editor } = api.first.tokens;
  const body = { event_types: [] };
  expect((await api.call("PATCH", "/notification-settings", { token: editor, body })).status).toBe(
    403,
  );
});
