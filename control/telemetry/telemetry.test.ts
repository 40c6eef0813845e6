import { afterEach, describe, expect, test } from "vitest";
import { createOtlpReceiver, type OtlpReceiver } from "../../tests/otlp-receiver.ts";
import { parsePrometheus } from "../../tests/prometheus-text.ts";
import { metrics } from "./metrics.ts";
import { createTelemetry } from "./telemetry.ts";

const canary = "canary-0123456789";

describe("metrics", () => {
  test("are served in Prometheus' text format, with the help of the table", async () => {
    await using telemetry = createTelemetry({ operations: ["me.get"] });
    telemetry.count("svc_jobs_total", { kind: "sync", result: "succeeded", code: "none" }, 3);
    telemetry.time(
      "svc_http_request_duration_seconds",
      { operation: "me.get", status: "200" },
      0.02,
    );
    const scrape = parsePrometheus(await telemetry.scrape());
    expect(
      scrape.value("svc_jobs_total", { kind: "sync", result: "succeeded", code: "none" }),
    ).toBe(3);
    const labels = { operation: "me.get", status: "200" };
    expect(scrape.value("svc_http_request_duration_seconds_count", labels)).toBe(1);
    expect(
      scrape.value("svc_http_request_duration_seconds_bucket", { ...labels, le: "0.01" }),
    ).toBe(0);
    expect(
      scrape.value("svc_http_request_duration_seconds_bucket", { ...labels, le: "0.025" }),
    ).toBe(1);
    expect(scrape.help("svc_jobs_total")).toBe(metrics.svc_jobs_total.help);
    expect(scrape.value("target_info", { service_name: "svc" })).toBe(1);
  });

  test("have only words of closed sets in their labels", async () => {
    await using telemetry = createTelemetry({ operations: ["me.get"] });
    const any = { operation: canary, client: canary, status: canary, code: canary };
    telemetry.count("svc_operations_total", any);
    telemetry.count("svc_redactions_total", { connector: canary, where: canary });
    const text = await telemetry.scrape();
    expect(text).not.toContain(canary);
    const other = { operation: "other", client: "other", status: "other", code: "other" };
    expect(parsePrometheus(text).value("svc_operations_total", other)).toBe(1);
  });

  test("name connectors that the operator has added, a hundred of them, and no others", async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `conn_own_${index}`);
    await using telemetry = createTelemetry({
      operations: [],
      isAddedConnector: (id) => ids.includes(id),
    });
    const count = (connector: string) =>
      telemetry.count("svc_provider_retries_total", { connector });
    for (const id of [canary, ...ids, "conn_own_0"]) count(id);
    telemetry.count("svc_rows_committed_total", {
      source: "conn_own_1",
      destination: "conn_own_1",
    });
    telemetry.count("svc_operations_total", {
      operation: "conn_own_1",
      client: "conn_own_1",
      status: "conn_own_1",
      code: "conn_own_1",
    });
    const text = await telemetry.scrape();
    const { value } = parsePrometheus(text);
    const retries = (connector: string) => value("svc_provider_retries_total", { connector });
    expect([retries("conn_own_0"), retries("conn_own_99")]).toEqual([2, 1]);
    // The canary, and the last one.
    expect([retries("conn_own_100"), retries("other")]).toEqual([undefined, 2]);
    expect(value("svc_rows_committed_total", { source: "conn_own_1", destination: "other" })).toBe(
      1,
    );
    const other = { operation: "other", client: "other", status: "other", code: "other" };
    expect(value("svc_operations_total", other)).toBe(1);
    expect(text).not.toContain(canary);
  });

  test("have gauges that are read at each scrape, and none that cannot be read", async () => {
    await using telemetry = createTelemetry({ operations: [] });
    let value = 4;
    telemetry.gauges(async () => {
      if (value === 0) throw new Error(canary);
      return [{ name: "svc_queue_oldest_seconds", labels: { kind: "sync" }, value }];
    });
    const read = async () =>
      parsePrometheus(await telemetry.scrape()).value("svc_queue_oldest_seconds", { kind: "sync" });
    expect(await read()).toBe(4);
    value = 5;
    expect(await read()).toBe(5);
    value = 0;
    expect(await read()).toBeUndefined();
  });

  test("tell of a connector's requests, retries, waits and redactions", async () => {
    await using telemetry = createTelemetry({ operations: [] });
    const connector = "conn_social";
    const { onEvent, onRequest } = telemetry.watch(connector);
    onRequest({ method: "GET", status: 429, durationMs: 20 });
    onRequest({ method: "GET", status: undefined, durationMs: 20 });
    onEvent({ type: "waiting", untilMs: 1, reason: "retry" });
    onEvent({ type: "waiting", untilMs: 0, reason: "retry" });
    onEvent({ type: "waiting", untilMs: 1, reason: "rate_limit" });
    onEvent({ type: "redacted", where: "records", stream: canary });
    const text = await telemetry.scrape();
    const scrape = parsePrometheus(text);
    const requests = "svc_provider_request_duration_seconds_count";
    expect(scrape.value(requests, { connector, method: "GET", status: "429" })).toBe(1);
    expect(scrape.value(requests, { connector, method: "GET", status: "none" })).toBe(1);
    expect(scrape.value("svc_provider_retries_total", { connector })).toBe(1);
    expect(scrape.value("svc_rate_limit_waits_total", { connector })).toBe(1);
    expect(scrape.value("svc_redactions_total", { connector, where: "records" })).toBe(1);
    expect(text).not.toContain(canary);
  });
});

describe("traces", () => {
  let receiver: OtlpReceiver;
  afterEach(() => receiver[Symbol.asyncDispose]());
  const traced = async (
    work: (telemetry: ReturnType<typeof createTelemetry>) => Promise<unknown>,
  ) => {
    receiver = await createOtlpReceiver();
    const telemetry = createTelemetry({ operations: ["me.get"], otlpEndpoint: receiver.url });
    await work(telemetry);
    await telemetry[Symbol.asyncDispose]();
    return receiver.spans;
  };
  const named = (name: string) => receiver.spans.find((span) => span.name === name);

  test("arrive at the operator's receiver, one below the other", async () => {
    await traced((telemetry) =>
      telemetry.inSpan({ operation: "me.get" }, { operation: "me.get" }, async (span) => {
        const { onRequest } = telemetry.watch("conn_social");
        await telemetry.inSpan("read", { rows: 7 }, async () => undefined);
        onRequest({ method: "GET", status: 200, durationMs: 5 });
        span.set({ status: "200" });
      }),
    );
    const [root, read, request] = [named("me.get"), named("read"), named("provider request")];
    expect(root?.parentSpanId ?? "").toBe("");
    expect(root?.attributes).toEqual({ "svc.operation": "me.get", "svc.status": "200" });
    expect(read).toMatchObject({
      traceId: root?.traceId,
      parentSpanId: root?.spanId,
      attributes: { "svc.rows": 7 },
    });
    expect(request).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId });
    expect(request?.attributes).toEqual({
      "svc.connector": "conn_social",
      "svc.method": "GET",
      "svc.status": "200",
    });
  });

  test("go on from the caller's traceparent, and not from what is none", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const ask = (
      telemetry: ReturnType<typeof createTelemetry>,
      name: "read" | "write" | "commit",
      parent: string,
    ) => telemetry.inSpan(name, {}, async () => undefined, parent);
    await traced(async (telemetry) => {
      await ask(telemetry, "read", `00-${traceId}-b7ad6b7169203331-01`);
      await ask(telemetry, "write", `00-${canary}-b7ad6b7169203331-01`);
      await ask(telemetry, "commit", `00-${"0".repeat(32)}-b7ad6b7169203331-01`);
    });
    expect(named("read")).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331" });
    expect(named("write")?.traceId).not.toBe(traceId);
    expect(named("commit")?.traceId).not.toMatch(/^0+$/);
  });

  test("say that something failed, and not what was thrown", async () => {
    await traced((telemetry) =>
      telemetry
        .inSpan("read", { connector: canary }, async () => {
          throw new Error(canary);
        })
        .catch(() => undefined),
    );
    expect(named("read")).toMatchObject({
      isError: true,
      attributes: { "svc.connector": "other" },
    });
    expect(receiver.text).not.toContain(canary);
  });

  test("are made nowhere without the operator's setting", async () => {
    receiver = await createOtlpReceiver();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    try {
      const telemetry = createTelemetry({ operations: [] });
      expect(await telemetry.inSpan("read", {}, async () => 7)).toBe(7);
      await telemetry[Symbol.asyncDispose]();
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    }
    expect(receiver.spans).toEqual([]);
  });
});
