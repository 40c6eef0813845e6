/**
 * The way from a container to its live provider: through the guard of the runtime's egress and
 * verified TLS, and every exchange is seen.
 */
import {
  ConnectorError,
  createTransport,
  defaultHttpLimits,
  type NetworkSeams,
  type NetworkSettings,
  type SeenExchange,
  type Transport,
} from "svc-connectors/host";
import type { Provider, ProviderRequest } from "../contract/network.ts";

export interface ForwarderOptions {
  readonly settings: NetworkSettings;
  /** For simulators. */
  readonly seams?: NetworkSeams | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
}

export interface Forwarder extends AsyncDisposable {
  /** Fetches the answer; call it before the provider is asked. */
  onRequest(request: ProviderRequest): Promise<void>;
  /** Gives what was fetched; where nothing was, the reason. */
  readonly provider: Provider;
  /** In the order of the requests. */
  exchanges(): readonly SeenExchange[];
}

const connections = 8;
/**
 * Header fields that concern one connection only, not the provider (RFC 9110 section 7.6.1), and
 * those that the transport sets itself.
 */
const ofConnection = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export function createForwarder(options: ForwarderOptions): Forwarder {
  const { settings, seams, signal, onExchange } = options;
  const seen: SeenExchange[] = [];
  const answers = new Map<number, ReturnType<Provider["answer"]>>();
  const transports = new Map<number, Transport>();
  const closing = new AbortController();
  const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;

  const transportTo = (port: number): Transport => {
    const known = transports.get(port);
    if (known) return known;
    const observe = (exchange: SeenExchange) => {
      seen.push(exchange);
      onExchange?.(exchange);
    };
    const opened = createTransport({
      settings,
      seams: { ...seams, observe },
      port,
      connections,
      limits: defaultHttpLimits,
    });
    transports.set(port, opened);
    return opened;
  };

  return {
    async onRequest({ index, method, url, headers, body }) {
      // Sent on as it is here, it would be another one.
      if (body.includes("\ufffd"))
        return void answers.set(index, {
          unmatched: "The body of the request is no UTF-8 text: a recording cannot hold it.",
        });
      const sent = {
        method: method as "GET",
        url,
        headers: withoutConnection(headers),
        ...(body === "" ? {} : { body: Buffer.from(body) }),
      };
      const fetched = transportTo(Number(url.port || 443)).exchange(
        sent,
        until,
        async (incoming) => ({
          status: incoming.status,
          headers: withoutConnection(incoming.headers),
          body: Buffer.concat(await incoming.body.toArray()),
        }),
      );
      answers.set(index, await fetched.catch((error: unknown) => ({ unmatched: reasonOf(error) })));
    },
    provider: {
      answer: ({ index }) => answers.get(index) ?? { unmatched: "The provider gave no answer." },
      unused: () => [],
    },
    exchanges: () => seen.toSorted((one, other) => one.index - other.index),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all([...transports.values()].map((transport) => transport.close()));
    },
  };
}

/** The transport throws errors of the table only; of any other error nothing is reported. */
const reasonOf = (error: unknown) =>
  error instanceof ConnectorError ? error.message : "The exchange failed.";

function withoutConnection(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name)
        ? []
        : [[name, typeof value === "string" ? value : value.join(", ")] as const],
    ),
  );
}
