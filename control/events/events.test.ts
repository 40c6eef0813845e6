import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EventReceiver, startEventReceiver } from "../../simulators/webhook/event-receiver.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addTestPipeline,
  createEventClock,
  deliverEvents,
  runJob,
} from "../../tests/control-events.ts";
import { addJob, type StandingClock } from "../../tests/control-jobs.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { maxAttempts } from "./backoff.ts";
import { noteExpiring } from "./expiring.ts";

let api: TestControl;
let clock: StandingClock;
let receiver: EventReceiver;
beforeAll(async () => {
  clock = createEventClock();
  receiver = await startEventReceiver();
  api = await startTestControl({ clock, seams: receiver.seams });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await receiver?.close();
});
beforeEach(() => {
  receiver.answerWith(204);
  receiver.secrets.length = 0;
  (receiver.events as unknown[]).length = 0;
});
afterEach(async () => {
  for (const table of [
    "event_facts",
    "events",
    "webhook_endpoints",
    "subject_health",
    "jobs",
    "audit_anchors",
  ] as const)
    await api.db.deleteFrom(table).execute();
});

/** An endpoint of the first workspace; the receiver knows its secret. */
async function addEndpoint(body: object = {}) {
  const answer = await api.call("POST", "/webhook-endpoints", {
    body: { name: "Ours", url: receiver.url, ...body },
  });
  expect(answer.status).toBe(201);
  receiver.secrets.push(answer.body.data.signing_secret);
  return answer.body.data as { webhook_endpoint_id: string; signing_secret: string };
}
const events = async (query = "", token = api.first.tokens.admin) =>
  (await api.call("GET", `/events${query}`, { token })).body.data.items;
const eventTypesNow = async () => (await events("?sort=created_at")).map(typeOf);
const typeOf = ({ type }: { type: string }) => type;
const deliveriesTo = async (id: string) =>
  (await api.call("GET", `/webhook-endpoints/${id}/deliveries`)).body.data.items;
const ids = (items: readonly { event_id: string }[]) => items.map(({ event_id }) => event_id);

describe("an event", () => {
  test("is there with what it tells of, or not at all", async () => {
    const id = await addJob(api);
    const cancelling = api.db.transaction().execute(async (tx) => {
      await requestCancel(tx, { id }, new Date(clock.now()));
      throw new Error("nothing of it happened");
    });
    await expect(cancelling).rejects.toThrow();
    await deliverEvents(api);
    expect(await events()).toEqual([]);
    await api.call("POST", `/jobs/${id}/cancel`, { body: {} });
    await deliverEvents(api);
    expect(await events()).toMatchObject([
      { type: "job.cancelled", version: 1, data: { job: { job_id: id, status: "cancelled" } } },
    ]);
  });

  test("of a failed job says why in words of the table, and of its pipeline which", async () => {
    const pipeline_id = await addTestPipeline(api);
    await runJob(api, clock, pipeline_id, "failed");
    await deliverEvents(api);
    const [failed] = await events("?type=pipeline.failed");
    expect(failed.data).toMatchObject({
      pipeline: { pipeline_id, name: "p", status: "active", pause_reason: null },
      job: { failure: { code: "CREDENTIALS_REJECTED", origin: "source", retryable: false } },
    });
  });

  test("comes once when a pipeline stops working, and once when it works again", async () => {
    const pipeline = await addTestPipeline(api);
    for (const status of ["succeeded", "failed", "failed", "succeeded", "succeeded"] as const) {
      await runJob(api, clock, pipeline, status);
      await deliverEvents(api);
    }
    expect((await eventTypesNow()).filter((type: string) => type.startsWith("pipeline."))).toEqual([
      "pipeline.failed",
      "pipeline.recovered",
    ]);
  });

  test("is told of a pause, a proposal and its end, and a credential that is lost", async () => {
    const pipeline_id = await addTestPipeline(api);
    const before = await eventTypesNow();
    await api.call("POST", `/pipelines/${pipeline_id}/pause`, { body: {} });
    const propose = async () => {
      const answer = await api.call("PATCH", `/pipelines/${pipeline_id}`, {
        body: { name: "Another" },
        headers: { "x-svc-execution-mode": "proposal" },
      });
      expect(answer.status, answer.text).toBe(202);
      return answer.body.data;
    };
    const { approval_id, payload_digest } = await propose();
    const approve = { body: { payload_digest } };
    expect((await api.call("POST", `/approvals/${approval_id}/approve`, approve)).status).toBe(200);
    await propose();
    clock.move(8 * 24 * 3_600_000);
    await api.call("GET", "/approvals");
    const { id } = await addCredential(api);
    await api.db
      .updateTable("credentials")
      .set({ status: "needs_reauth" })
      .where("id", "=", id)
      .execute();
    await deliverEvents(api);
    expect(before).toEqual([]);
    expect((await eventTypesNow()).toSorted()).toEqual([
      "approval.created",
      "approval.created",
      "approval.decided",
      "approval.expired",
      "credential.needs_reauth",
      "pipeline.paused",
    ]);
    const [decided] = await events("?type=approval.decided");
    expect(decided.data.approval).toMatchObject({ approval_id, status: "approved" });
  });

  test("warns once of secrets that end, and again when they end at another time", async () => {
    const { id } = await addCredential(api);
    const endAt = (days: number) =>
      api.db
        .updateTable("credentials")
        .set({ secrets_expire_at: new Date(clock.now() + days * 24 * 3_600_000) })
        .where("id", "=", id)
        .execute();
    const warnings = async () => {
      await noteExpiring(api.control.services);
      await noteExpiring(api.control.services);
      await deliverEvents(api);
      return (await events("?type=credential.expiring")).length;
    };
    await endAt(8);
    expect(await warnings()).toBe(0);
    clock.move(2 * 24 * 3_600_000);
    expect(await warnings()).toBe(1);
    await endAt(3);
    expect(await warnings()).toBe(2);
  });
});

describe("the list of events", () => {
  test("gives a program that asks again what came after, oldest first, and misses none", async () => {
    const jobs: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      jobs.push(await runJob(api, clock));
      await deliverEvents(api);
    }
    const all = await events("?sort=created_at");
    const first = await api.call("GET", `/events?after=${all[0].event_id}&limit=1`);
    expect(first.body.data).toMatchObject({ next_cursor: null, has_more: true });
    const rest = await events(`?after=${first.body.data.items[0].event_id}`);
    const seen = [all[0], ...first.body.data.items, ...rest];
    expect(seen.map((one) => one.data.job.job_id)).toEqual(jobs);
    expect((await api.call("GET", `/events?after=${all[0].event_id}&cursor=x`)).status).toBe(400);
  });

  test("is that of one workspace, and hides from others what only administrators may know", async () => {
    await runJob(api, clock);
    await deliverEvents(api);
    clock.move(1);
    await api.call("POST", `/workspaces/${api.first.id}/members/invitations`, {
      body: { email: "somebody@example.com", role: "viewer" },
      headers: { "x-svc-execution-mode": "proposal" },
    });
    await deliverEvents(api);
    expect((await events("?sort=created_at")).map(typeOf)).toEqual([
      "job.succeeded",
      "approval.created",
    ]);
    const { viewer } = api.first.tokens;
    expect((await events("", viewer)).map(typeOf)).toEqual(["job.succeeded"]);
    const [hidden] = await events("?type=approval.created");
    const get = (token: string) => api.call("GET", `/events/${hidden.event_id}`, { token });
    expect((await get(api.first.tokens.admin)).status).toBe(200);
    expect((await get(viewer)).status).toBe(404);
    expect((await get(api.second.tokens.admin)).status).toBe(404);
    expect(await events("", api.second.tokens.admin)).toEqual([]);
    expect(
      (
        await api.call("GET", `/events?after=${hidden.event_id}`, {
          token: api.second.tokens.admin,
        })
      ).status,
    ).toBe(404);
  });
});

describe("a delivery", () => {
  test("is signed as Standard Webhooks says, and holds the event as the list has it", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    await deliverEvents(api);
    const [event] = await events();
    expect(receiver.events).toEqual([
      {
        id: event.event_id,
        signedBy: 1,
        signatures: 1,
        timestamp: Math.floor(clock.now() / 1_000),
        payload: event,
      },
    ]);
    expect(await deliveriesTo(id)).toMatchObject([
      {
        event_id: event.event_id,
        event_type: "job.succeeded",
        status: "succeeded",
        attempts: [{ response_status: 204, error_code: null }],
        next_attempt_at: null,
      },
    ]);
  });

  test("goes to the endpoints that want it, and to no other workspace's", async () => {
    await addEndpoint({ event_types: ["job.failed"] });
    const other = await api.call("POST", "/webhook-endpoints", {
      token: api.second.tokens.admin,
      body: { name: "Theirs", url: receiver.url },
    });
    expect(other.status).toBe(201);
    await runJob(api, clock);
    await runJob(api, clock, undefined, "failed");
    await deliverEvents(api);
    expect(receiver.events.map(({ payload }) => payload.type)).toEqual(["job.failed"]);
  });

  test("that fails comes again under the same id, later and later, for about a day", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    const beganMs = clock.now();
    await runJob(api, clock);
    receiver.answerWith(500);
    await deliverEvents(api);
    for (let attempt = 1; attempt < 4; attempt += 1) {
      await deliverEvents(api);
      expect(receiver.events).toHaveLength(attempt);
      const [{ next_attempt_at }] = await deliveriesTo(id);
      clock.move(Date.parse(next_attempt_at) - clock.now());
      await deliverEvents(api);
    }
    receiver.answerWith(204);
    const [{ next_attempt_at: last }] = await deliveriesTo(id);
    clock.move(Date.parse(last) - clock.now());
    await deliverEvents(api);
    expect(new Set(receiver.events.map((one) => one.id)).size).toBe(1);
    const [delivery] = await deliveriesTo(id);
    expect(delivery.status).toBe("succeeded");
    const statuses = delivery.attempts.map(
      (one: { response_status: number }) => one.response_status,
    );
    expect(statuses).toEqual([500, 500, 500, 500, 204]);
    expect(clock.now() - beganMs).toBeLessThan(24 * 3_600_000);
    expect(JSON.stringify(delivery)).not.toContain("nobody keeps");
  });

  /** Every attempt of what waits. */
  async function exhaust(id: string) {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      await deliverEvents(api);
      const [delivery] = await deliveriesTo(id);
      if (delivery.next_attempt_at) clock.move(Date.parse(delivery.next_attempt_at) - clock.now());
    }
  }
  const endpoint = async (id: string) =>
    (await api.call("GET", `/webhook-endpoints/${id}`)).body.data;

  test("that nobody takes for a day disables the endpoint, with a notice and an audit entry", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    const beganMs = clock.now();
    await runJob(api, clock);
    receiver.answerWith(503);
    await exhaust(id);
    expect(receiver.events).toHaveLength(maxAttempts);
    expect(clock.now() - beganMs).toBeGreaterThan(20 * 3_600_000);
    expect(await deliveriesTo(id)).toMatchObject([{ status: "failed" }]);
    expect(await endpoint(id)).toMatchObject({
      status: "disabled",
      disabled_reason: "deliveries_failed",
      version: 2,
    });
    await deliverEvents(api);
    const [notice] = await events("?type=webhook_endpoint.disabled");
    expect(notice.data.webhook_endpoint).toMatchObject({ webhook_endpoint_id: id });
    const entries = await api.call("GET", "/audit-logs?action=webhook_endpoint.disable");
    expect(entries.body.data.items).toMatchObject([
      { resource_id: id, actor: { type: "system" }, outcome: "success" },
    ]);
  });

  test("that is refused disables no endpoint that takes others", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    receiver.answerWith(400);
    await exhaust(id).then(async () => undefined);
    expect(await endpoint(id)).toMatchObject({ status: "disabled" });
    await api.call("PATCH", `/webhook-endpoints/${id}`, { body: { status: "enabled" } });
    await runJob(api, clock);
    await deliverEvents(api);
    await runJob(api, clock, undefined, "failed");
    receiver.answerWith(204);
    await deliverEvents(api);
    receiver.answerWith(400);
    await exhaust(id);
    expect(await endpoint(id)).toMatchObject({ status: "enabled", disabled_reason: null });
  });

  test("to a receiver that is gone is the last one", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    receiver.answerWith(410);
    await deliverEvents(api);
    expect(await endpoint(id)).toMatchObject({ status: "disabled", disabled_reason: "gone" });
    await runJob(api, clock);
    await deliverEvents(api);
    expect(receiver.events).toHaveLength(1);
  });

  test("follows no redirect, and reaches no private address unless the operator has opened it", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    receiver.answerWith(307, { location: "https://elsewhere.example.com/svc/events" });
    await deliverEvents(api);
    expect((await deliveriesTo(id))[0].attempts).toMatchObject([
      { response_status: 307, error_code: "REDIRECT_REFUSED" },
    ]);
    const resolve = async () => [{ address: "10.1.2.3", family: 4 as const }];
    await using closed = await startTestControl({ seams: { ...receiver.seams, resolve } });
    await using open = await startTestControl({
      seams: { ...receiver.seams, resolve },
      settings: { network: { approvedHosts: [], allowNetworks: ["10.1.0.0/16"] } },
    });
    const outcome = async (one: TestControl) => {
      const body = { name: "Inside", url: receiver.url };
      const { data } = (await one.call("POST", "/webhook-endpoints", { body })).body;
      const path = `/webhook-endpoints/${data.webhook_endpoint_id}/test`;
      return (await one.call("POST", path, { body: {} })).body.data.attempts;
    };
    receiver.answerWith(204);
    expect(await outcome(closed)).toMatchObject([
      { response_status: null, error_code: "ADDRESS_REFUSED" },
    ]);
    expect(await outcome(open)).toMatchObject([{ response_status: 204, error_code: null }]);
  });

  test("can be asked for again, under its id", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    await deliverEvents(api);
    const [{ delivery_id }] = await deliveriesTo(id);
    const path = `/webhook-endpoints/${id}/deliveries/${delivery_id}/redeliver`;
    const answer = await api.call("POST", path, { body: {} });
    expect(answer).toMatchObject({ status: 202, body: { data: { status: "pending" } } });
    await deliverEvents(api);
    expect(receiver.events).toHaveLength(2);
    expect(new Set(receiver.events.map((one) => one.id)).size).toBe(1);
    expect(await deliveriesTo(id)).toMatchObject([{ status: "succeeded", attempts: [{}, {}] }]);
    await api.call("PATCH", `/webhook-endpoints/${id}`, { body: { status: "disabled" } });
    expect((await api.call("POST", path, { body: {} })).body.details.reason).toBe(
      "webhook_endpoint_disabled",
    );
  });
});

describe("a webhook endpoint", () => {
  test("shows its secret once: not in lists, not to who repeats the request, not at rest", async () => {
    const body = { name: "Ours", url: receiver.url };
    const headers = { "idempotency-key": "once" };
    const first = await api.call("POST", "/webhook-endpoints", { body, headers });
    const secret: string = first.body.data.signing_secret;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const again = await api.call("POST", "/webhook-endpoints", { body, headers });
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.data).toEqual({ ...first.body.data, signing_secret: null });
    const { text } = await api.call("GET", "/webhook-endpoints");
    expect(text).toContain(first.body.data.webhook_endpoint_id);
    expect(text).not.toContain("signing_secret");
    const kept = await api.db.selectFrom("idempotency_keys").selectAll().execute();
    expect(JSON.stringify(kept)).not.toContain(secret.slice(6));
  });

  test("that was proposed has a secret that nobody has seen: it is rotated", async () => {
    const body = { name: "Ours", url: receiver.url };
    const proposed = await api.call("POST", "/webhook-endpoints", {
      body,
      headers: { "x-svc-execution-mode": "proposal" },
    });
    const { approval_id, payload_digest } = proposed.body.data;
    const approved = await api.call("POST", `/approvals/${approval_id}/approve`, {
      body: { payload_digest },
    });
    expect(approved.body.data).toMatchObject({ status: "executed", result: { name: "Ours" } });
    expect(approved.text).not.toContain("whsec_");
    const { webhook_endpoint_id: id } = approved.body.data.result;
    const rotated = await api.call("POST", `/webhook-endpoints/${id}/rotate-secret`, { body: {} });
    expect(rotated.body.data.signing_secret).toMatch(/^whsec_/);
  });

  test("has two valid signatures for the time of a rotation", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    const rotate = async (body: object) =>
      (await api.call("POST", `/webhook-endpoints/${id}/rotate-secret`, { body })).body.data;
    const { signing_secret } = await rotate({ previous_valid_hours: 2 });
    receiver.secrets.push(signing_secret);
    const deliver = async () => {
      await runJob(api, clock);
      await deliverEvents(api);
      return receiver.events.at(-1);
    };
    expect(await deliver()).toMatchObject({ signedBy: 2, signatures: 2 });
    clock.move(3 * 3_600_000);
    expect(await deliver()).toMatchObject({ signedBy: 1, signatures: 1 });
    receiver.secrets.shift();
    expect(await deliver()).toMatchObject({ signedBy: 1 });
    await rotate({ previous_valid_hours: 0 });
    expect(await deliver()).toMatchObject({ signedBy: 0, signatures: 1 });
  });

  test.each([
    ["http://hooks.example.com/x", "scheme"],
    ["https://10.0.0.7/x", "host"],
    ["https://localhost/x", "host"],
    ["https://user:word@hooks.example.com/x", "userinfo"],
    ["https://hooks.example.com:8443/x", "port"],
    ["https://hooks.example.com/x?token=word", "query"],
  ])("at %s is refused by the rule %s, and the URL is not repeated", async (url, rule) => {
    const created = await api.call("POST", "/webhook-endpoints", { body: { name: "x", url } });
    expect(created).toMatchObject({ status: 422, body: { details: { rule } } });
    expect(created.text).not.toContain(url.slice(8));
    const { webhook_endpoint_id: id } = await addEndpoint();
    const changed = await api.call("PATCH", `/webhook-endpoints/${id}`, { body: { url } });
    expect(changed).toMatchObject({ status: 422, body: { details: { rule } } });
  });

  test("is made, changed and deleted by administrators, and looked at by editors", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    const { admin, editor, runner, viewer } = api.first.tokens;
    const path = `/webhook-endpoints/${id}`;
    const statusOf = async (
      token: string,
      method: "GET" | "PATCH" | "DELETE" | "POST",
      to = path,
    ) =>
      (await api.call(method, to, { token, ...(method === "GET" ? {} : { body: { name: "y" } }) }))
        .status;
    expect(await statusOf(viewer, "GET")).toBe(403);
    expect(await statusOf(runner, "GET", `${path}/deliveries`)).toBe(403);
    expect(await statusOf(editor, "GET")).toBe(200);
    expect(await statusOf(editor, "PATCH")).toBe(403);
    expect(await statusOf(editor, "DELETE")).toBe(403);
    const asAgent = { body: { name: "z" }, headers: { "x-svc-client": "mcp" } };
    expect((await api.call("PATCH", path, asAgent)).status).toBe(202);
    expect(await statusOf(api.second.tokens.admin, "GET")).toBe(404);
    expect(await statusOf(api.second.tokens.admin, "PATCH")).toBe(404);
    const { admin: otherAdmin } = api.second.tokens;
    expect((await api.call("DELETE", path, { token: otherAdmin })).status).toBe(404);
    expect(await statusOf(admin, "PATCH")).toBe(200);
    expect((await api.call("DELETE", path)).status).toBe(200);
    expect((await api.call("GET", path)).status).toBe(404);
    const left = await api.db.selectFrom("secrets").select("owner_id").where("owner_id", "=", id);
    expect(await left.execute()).toEqual([]);
  });

  test("of Slack gets a message of the event's text, which calls nobody and links nowhere else", async () => {
    const made = await addEndpoint({ format: "slack", event_types: ["pipeline.failed"] });
    expect(made).toMatchObject({ format: "slack" });
    const pipeline = await addTestPipeline(api);
    const name = "<!channel> & <https://evil.example|x>";
    await api.db.updateTable("pipelines").set({ name }).where("id", "=", pipeline).execute();
    await runJob(api, clock, pipeline, "failed");
    await deliverEvents(api);
    const [event] = receiver.events;
    expect(event?.payload).toEqual({ text: expect.any(String) });
    const text = String(event?.payload.text);
    expect(text).toContain(
      "*Failed: &lt;!channel&gt; &amp; &lt;https://evil.example|x&gt; (first)*",
    );
    expect(text).toContain("Why: The provider did not accept the credentials.");
    expect(text).not.toMatch(/[<>]/);
    const path = `/webhook-endpoints/${made.webhook_endpoint_id}`;
    const { data } = (await api.call("POST", `${path}/test`, { body: {} })).body;
    expect(data).toMatchObject({ status: "succeeded" });
    expect(receiver.events.at(-1)?.payload).toEqual({
      text: expect.stringContaining("Somebody has tried a webhook endpoint."),
    });
    expect((await api.call("PATCH", path, { body: { format: "event" } })).body.data).toMatchObject({
      format: "event",
    });
    await api.call("POST", `${path}/test`, { body: {} });
    expect(receiver.events.at(-1)?.payload).toMatchObject({ type: "webhook_endpoint.test" });
    expect((await addEndpoint()) as object).toMatchObject({ format: "event" });
  });

  test("can be one of twenty", async () => {
    for (let count = 0; count < 20; count += 1) await addEndpoint();
    const answer = await api.call("POST", "/webhook-endpoints", {
      body: { name: "One more", url: receiver.url },
    });
    expect(answer).toMatchObject({
      status: 409,
      body: { details: { reason: "too_many_webhook_endpoints", limit: 20 } },
    });
  });

  test("that is disabled gets nothing, and what waited for it is cancelled", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await runJob(api, clock);
    receiver.answerWith(500);
    await deliverEvents(api);
    await api.call("PATCH", `/webhook-endpoints/${id}`, { body: { status: "disabled" } });
    await runJob(api, clock);
    clock.move(24 * 3_600_000);
    await deliverEvents(api);
    expect(receiver.events).toHaveLength(1);
    expect(await deliveriesTo(id)).toMatchObject([{ status: "cancelled" }]);
  });

  test("is tried with an event of its own, which others do not get", async () => {
    const { webhook_endpoint_id: id } = await addEndpoint();
    await addEndpoint();
    const tried = await api.call("POST", `/webhook-endpoints/${id}/test`, { body: {} });
    expect(tried.body.data).toMatchObject({
      status: "succeeded",
      event_type: "webhook_endpoint.test",
      attempts: [{ response_status: 204 }],
    });
    await deliverEvents(api);
    expect(receiver.events).toMatchObject([
      { signedBy: 1, payload: { type: "webhook_endpoint.test" } },
    ]);
    expect(ids(await events())).toEqual([tried.body.data.event_id]);
  });
});
