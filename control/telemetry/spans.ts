import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BatchSpanProcessor,
  TracerProvider,
  type TracerProviderOptions,
} from "@opentelemetry/sdk-trace";
import type { CloseLabels, Labels } from "./labels.ts";

/** The attributes of a span: words of closed sets, and counts. */
export interface SpanFacts extends Labels {
  readonly attempt?: number | undefined;
  readonly rows?: number | undefined;
  readonly bytes?: number | undefined;
}

/** Names beside the ids of operations. */
export type SpanName =
  | "job attempt"
  | "discover"
  | "read"
  | "compare keys"
  | "write"
  | "commit"
  | "query"
  | "deliver"
  | "provider request";

/** A span under way. A `code` marks it as failed. */
export interface OpenSpan {
  set(facts: SpanFacts): void;
}

export interface Spans extends AsyncDisposable {
  /**
   * Does `work` in a span below the one that is under way, or below `traceparent` (W3C Trace
   * Context) when it is one. Whatever `work` starts is below it.
   */
  inSpan<T>(
    name: SpanName | OperationId,
    facts: SpanFacts,
    work: (span: OpenSpan) => Promise<T>,
    traceparent?: string,
  ): Promise<T>;
  /**
   * The span under way, for what will be told outside of it: events that come from another process.
   */
  here(): (name: SpanName, facts: SpanFacts, durationMs: number) => void;
  /** Sends what has ended. A receiver that is gone loses spans and disturbs nobody. */
  flush(): Promise<void>;
}

export interface OperationId {
  readonly operation: string;
}

export interface SpansOptions {
  /** Of an OTLP/HTTP receiver, without /v1/traces. Undefined: spans are made nowhere. */
  readonly otlpEndpoint?: string | undefined;
  readonly resource?: TracerProviderOptions["resource"] | undefined;
}

const exportTimeoutMs = 5_000;

const unmade: OpenSpan = { set: () => undefined };
const noSpans: Spans = {
  inSpan: (_name, _facts, work) => work(unmade),
  here: () => () => undefined,
  flush: async () => undefined,
  async [Symbol.asyncDispose]() {},
};

export function createSpans({ otlpEndpoint, resource }: SpansOptions, close: CloseLabels): Spans {
  if (otlpEndpoint === undefined) return noSpans;
  const exporter = new OTLPTraceExporter({
    url: `${otlpEndpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    ...(resource ? { resource } : {}),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportTimeoutMs })],
  });
  const tracer: Tracer = provider.getTracer("svc");
  const active = new AsyncLocalStorage<Context>();
  const current = () => active.getStore() ?? ROOT_CONTEXT;
  const attributesOf = (facts: SpanFacts): Attributes => {
    const { attempt, rows, bytes, ...labels } = facts;
    const named = { ...close(labels), attempt, rows, bytes };
    const entries = Object.entries(named).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries.map(([name, value]) => [`svc.${name}`, value]));
  };
  return {
    async inSpan(name, facts, work, traceparent) {
      const parent = contextOf(traceparent) ?? current();
      const isOperation = typeof name === "object";
      const span = tracer.startSpan(
        // An operation's id is a word of its closed set, as its attribute is.
        isOperation ? (close(name).operation ?? "other") : name,
        {
          kind: isOperation ? SpanKind.SERVER : SpanKind.INTERNAL,
          attributes: attributesOf(facts),
        },
        parent,
      );
      const open: OpenSpan = {
        set(more) {
          span.setAttributes(attributesOf(more));
          if (more.code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
        },
      };
      try {
        return await active.run(trace.setSpan(parent, span), () => work(open));
      } catch (error) {
        // Never recordException: what was thrown may quote anything.
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    here() {
      const parent = current();
      return (name, facts, durationMs) => {
        const endMs = Date.now();
        const startTime = endMs - durationMs;
        tracer
          .startSpan(
            name,
            { kind: SpanKind.CLIENT, startTime, attributes: attributesOf(facts) },
            parent,
          )
          .end(endMs);
      };
    },
    flush: () => provider.forceFlush().catch(() => undefined),
    [Symbol.asyncDispose]: () => provider.shutdown().catch(() => undefined),
  };
}

/**
 * The caller's span. Its tracestate is left aside: it is a text from outside.
 * @see https://www.w3.org/TR/trace-context/
 */
function contextOf(traceparent: string | undefined): Context | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  const spanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags ?? "0", 16) & 1,
    isRemote: true,
  };
  // One of zeros alone is none to the tracer.
  return trace.setSpanContext(ROOT_CONTEXT, spanContext);
}
