/**
 * Stands for an OpenTelemetry collector: it takes spans over OTLP/HTTP as JSON, on loopback.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that came, as it came. */
  readonly text: string;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes" | "isError"> & {
        readonly attributes: readonly { readonly key: string; readonly value: Value }[];
        readonly status: { readonly code?: number };
      })[];
    }[];
  }[];
}

export async function createOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  let received = "";
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received += `${JSON.stringify(request.headers)}\n${body}\n`;
    const isTraces = request.method === "POST" && request.url === "/v1/traces";
    if (isTraces)
      for (const { scopeSpans } of (JSON.parse(body) as Traces).resourceSpans)
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({
            name: span.name,
            traceId: span.traceId,
            spanId: span.spanId,
            ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
            isError: span.status.code === 2,
            attributes: Object.fromEntries(
              span.attributes.map(({ key, value }) => [
                key,
                value.stringValue ?? Number(value.intValue),
              ]),
            ),
          });
    response.writeHead(isTraces ? 200 : 404, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    get text() {
      return received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
