/**
 * Metrics and traces, by the OpenTelemetry SDK. Nothing here is global, and nothing is read from
 * the environment: one Telemetry belongs to one createControl. What is told has no personal data:
 * see labels.ts.
 */
import type { TracerProviderOptions } from "@opentelemetry/sdk-trace";
import { packageVersion, type VerbOptions } from "svc-connectors/host";
import { createInstruments, type Instruments } from "./instruments.ts";
import { createLabels, none } from "./labels.ts";
import { createSpans, type Spans } from "./spans.ts";

export interface TelemetryOptions {
  /** Ids of the registry. */
  readonly operations: readonly string[];
  /** Whether the operator has added a connector of this id. Default: none. */
  readonly isAddedConnector?: ((connectorId: string) => boolean) | undefined;
  /** Where spans are sent, over OTLP/HTTP: "http://127.0.0.1:4318". Undefined: there are none. */
  readonly otlpEndpoint?: string | undefined;
  /** Default "svc". */
  readonly serviceName?: string | undefined;
}

export interface Telemetry extends Instruments, Spans {
  /**
   * Options of a connector's run: its requests, waits and redactions are counted, its requests are
   * spans below the one under way.
   */
  watch(connectorId: string): {
    readonly [name in "onEvent" | "onRequest"]: NonNullable<VerbOptions[name]>;
  };
}

export function createTelemetry({
  operations,
  isAddedConnector,
  otlpEndpoint,
  serviceName = "svc",
}: TelemetryOptions): Telemetry {
  const close = createLabels(operations, isAddedConnector);
  const resource = createResource({
    "service.name": serviceName,
    "service.version": packageVersion,
  });
  const instruments = createInstruments(resource, close);
  const spans = createSpans({ otlpEndpoint, resource }, close);
  return {
    ...instruments,
    ...spans,
    watch(connector) {
      const recordSpan = spans.here();
      return {
        onRequest({ method, status, durationMs }) {
          const facts = { connector, method, status: status === undefined ? none : String(status) };
          instruments.time("svc_provider_request_duration_seconds", facts, durationMs / 1_000);
          recordSpan("provider request", facts, durationMs);
        },
        onEvent(event) {
          if (event.type === "redacted")
            instruments.count("svc_redactions_total", { connector, where: event.where });
          // With 0 the wait is over.
          if (event.type !== "waiting" || event.untilMs === 0) return;
          if (event.reason === "retry")
            instruments.count("svc_provider_retries_total", { connector });
          else instruments.count("svc_rate_limit_waits_total", { connector });
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await spans[Symbol.asyncDispose]();
      await instruments[Symbol.asyncDispose]();
    },
  };
}

/** Only these: detectors would tell the machine's name, its users and its command line. */
function createResource(
  attributes: Readonly<Record<string, string>>,
): NonNullable<TracerProviderOptions["resource"]> {
  return {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: (other) =>
      createResource({
        ...attributes,
        ...(other?.attributes as Record<string, string> | undefined),
      }),
  };
}
