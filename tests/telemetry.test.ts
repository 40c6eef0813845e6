import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createOtlpReceiver, type OtlpReceiver } from "./otlp-receiver.ts";
import { parsePrometheus } from "./prometheus-text.ts";

/** Stands wherever a caller can write something. */
const canary = "canary0123456789";

describe("a control layer that is watched", () => {
  let receiver: OtlpReceiver;
  let control: TestControl;
  beforeAll(async () => {
    receiver = await createOtlpReceiver();
    control = await startTestControl({
      sandbox: "inline",
      settings: { otlpEndpoint: receiver.url },
    });
  });
  afterAll(async () => {
    await control[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  const scrape = async (headers: Record<string, string> = {}, remoteAddress = "127.0.0.1") =>
    control.server.inject({
      method: "GET",
      url: "/metrics",
      headers: { host: "127.0.0.1:8080", ...headers },
      remoteAddress,
    });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test("counts requests by operation and status", async () => {
    const read = async () => parsePrometheus((await scrape()).payload);
    const name = "svc_http_request_duration_seconds_count";
    const before = (await read()).value(name, { operation: "me.get", status: "200" }) ?? 0;
    for (let index = 0; index < 3; index++) await control.call("GET", "/me");
    await control.call("GET", "/me", { token: canary });
    await control.server.inject({ method: "GET", url: `/${canary}` });
    const after = await read();
    expect(after.value(name, { operation: "me.get", status: "200" })).toBe(before + 3);
    expect(after.value(name, { operation: "me.get", status: "401" })).toBe(1);
    expect(after.value(name, { operation: "none", status: "404" })).toBe(1);
    const atTheDoor = { operation: "me.get", client: "api", status: "200", code: "none" };
    expect(after.value("svc_operations_total", atTheDoor)).toBe(before + 3);
    expect(after.value("svc_queue_jobs", { kind: "sync", state: "running" })).toBe(0);
  });

  test("tells nothing that came from outside, in metrics or in spans", async () => {
    const { first } = control;
    await control.call("GET", `/sources/${canary}?${canary}=1`, {
      headers: { "user-agent": canary, traceparent: canary },
    });
    await control.call("POST", "/sources", {
      body: { name: canary, connector_id: canary, workspace_id: first.id },
      headers: {
        "idempotency-key": canary,
        "x-client-request-id": canary,
        tracestate: `${canary}=1`,
      },
    });
    const handle = await control.call("POST", "/credentials", {
      body: {
        workspace_id: first.id,
        connector_id: "conn_bankdata",
        name: canary,
        secrets: { client_id: canary, secret: canary },
      },
    });
    expect(handle.status).toBeLessThan(500);
    await control.control.services.telemetry.flush();
    const text = `${(await scrape()).payload}\n${receiver.text}`;
    expect(receiver.spans.length).toBeGreaterThan(2);
    const ids = [first.id, ...Object.values(first.users), ...Object.values(first.tokens)];
    for (const secret of [canary, ...ids]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\b(ws|usr|ses|cred|ch|src|job|pl)_[0-9A-Za-z]{8,}/);
    expect(text).not.toContain("example.com");
  });

  test("answers below the caller's span", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    await control.call("GET", "/me", {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    });
    await control.control.services.telemetry.flush();
    expect(receiver.spans.find((span) => span.traceId === traceId)).toMatchObject({
      name: "me.get",
      parentSpanId: "00f067aa0ba902b7",
      attributes: { "svc.operation": "me.get", "svc.client": "api", "svc.status": "200" },
    });
  });

  test("shows its metrics to this machine, and to who administers every workspace", async () => {
    const { first, second, db } = control;
    const far = "192.0.2.7";
    expect((await scrape()).headers["content-type"]).toBe(
      "text/plain; version=0.0.4; charset=utf-8",
    );
    expect((await scrape({}, "::1")).statusCode).toBe(200);
    expect((await scrape({}, far)).statusCode).toBe(401);
    // A proxy beside the server asks for others, and a page of others may have a name of its own
    // for this machine.
    expect((await scrape({ "x-forwarded-for": far })).statusCode).toBe(401);
    expect((await scrape({ host: "rebound.example.com" })).statusCode).toBe(401);
    expect((await scrape(bearer(first.tokens.admin), far)).statusCode).toBe(403);
    const membership = {
      id: `mem_${canary}`,
      workspace_id: second.id,
      user_id: first.users.admin,
      role: "admin" as const,
    };
    await db
      .insertInto("memberships")
      .values({ ...membership, status: "active", joined_at: new Date() })
      .execute();
    expect((await scrape(bearer(first.tokens.admin), far)).statusCode).toBe(200);
    expect((await scrape(bearer(first.tokens.editor), far)).statusCode).toBe(403);
  });
});
