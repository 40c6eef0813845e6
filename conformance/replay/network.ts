/**
 * The replay transport: nock stands in for the network of this process, and a Provider decides
 * every answer. Nothing is passed through: a request that the provider does not know is unmatched
 * and counts, whatever the connector makes of it.
 */
import { createSecureContext } from "node:tls";
import nock from "nock";
import type { Clock } from "svc-connectors";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import type { Answer, Exchange, Provider, ProviderRequest } from "../contract/network.ts";
import type { Traces } from "../contract/observation.ts";
import type { RunNetwork } from "../contract/target.ts";

/** The network of one run, whichever transport carries it. */
export interface OpenNetwork extends AsyncDisposable {
  readonly network: RunNetwork;
  readonly exchanges: readonly Exchange[];
  /** Requests whose answer is still to come, without those that hang on purpose. */
  inFlight(): number;
  openConnections(): number;
  /**
   * Requests that are neither answered nor given up, after a moment for those that are being given
   * up. Only the fault server knows.
   */
  openRequests?(): Promise<number>;
  /** Only the fault server knows. */
  readonly lookups?: Traces["lookups"] | undefined;
  readonly dials?: Traces["dials"] | undefined;
  /** Of a database: in place of exchanges. */
  readonly queries?: Traces["queries"] | undefined;
  /** Where requests are not exchanges. */
  requestCount?(): number;
}

export interface NetworkOptions {
  readonly provider: Provider;
  readonly now: Clock["now"];
  /** A request has arrived; it is answered when the promise resolves. */
  readonly onRequest?: ((request: ProviderRequest) => void | Promise<void>) | undefined;
  /** The account keeps no bodies of answers. */
  readonly isBrief?: boolean | undefined;
}

export const withoutBody = (answer: Answer): Answer => ({ ...answer, body: Buffer.alloc(0) });

// Importing nock replaces Node's sockets; they are given back until a run needs them.
nock.restore();

/**
 * Nothing is ever encrypted here: one context does for all connections, and making one takes longer
 * than a request.
 */
const connectByNock = buildConnector({ allowH2: false, secureContext: createSecureContext() });

/**
 * nock never closes the handle below a TLS socket: without this a thousand runs would leave a
 * thousand handles behind.
 */
function createConnections(): { readonly connect: buildConnector.connector; close(): void } {
  const handles: { close(): void }[] = [];
  return {
    connect(options, callback) {
      // undici gives the socket back, though its types do not say so.
      const socket = connectByNock(options, callback) as unknown as {
        _handle?: { _parent?: { close(): void } } | undefined;
      };
      if (socket._handle?._parent) handles.push(socket._handle._parent);
    },
    close() {
      for (const handle of handles) handle.close();
    },
  };
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/**
 * Status of the answer to an unmatched request: no connector may take it for data, and none should
 * try it again.
 */
const unmatchedStatus = 418;

/** One replay at a time: nock belongs to the process. */
export function openReplay({
  provider,
  now,
  onRequest,
  isBrief = false,
}: NetworkOptions): OpenNetwork {
  const exchanges: Exchange[] = [];
  let inFlight = 0;

  let impossible: Error | undefined;
  const reply = async (incoming: Request) => {
    const request: ProviderRequest = {
      method: incoming.method,
      url: new URL(incoming.url),
      headers: Object.fromEntries(incoming.headers),
      body: await incoming.text(),
      index: exchanges.length,
      atMs: now(),
    };
    const exchange: { -readonly [Name in keyof Exchange]: Exchange[Name] } = {
      request,
      atMs: now(),
    };
    exchanges.push(exchange);
    inFlight++;
    try {
      await onRequest?.(request);
      const answer = provider.answer(request);
      if ("unmatched" in answer) {
        exchange.unmatched = answer.unmatched;
        return [
          unmatchedStatus,
          '{"error":"not recorded"}',
          { "content-type": "application/json" },
        ];
      }
      exchange.answer = isBrief ? withoutBody(answer) : answer;
      if (answer.fault?.type === "hang") return undefined;
      if (answer.fault?.type === "reset")
        throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
      if (answer.fault) {
        // Thrown here it would be the connector's failure, and a rule might take it for an answer.
        impossible ??= new Error(`the replay cannot do ${answer.fault.type}: use the fault server`);
        throw impossible;
      }
      return [answer.status, answer.body, { ...answer.headers }];
    } finally {
      inFlight--;
    }
  };
  const replyOrHang = async (incoming: Request) =>
    (await reply(incoming)) ?? (await new Promise<never>(() => {}));

  nock.cleanAll();
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  const scope = nock(/^https?:\/\//).persist();
  for (const method of methods) scope.intercept(/.*/, method).reply(replyOrHang as never);

  const { connect, close } = createConnections();
  const agent = new Agent({ connect });
  return {
    exchanges,
    inFlight: () => inFlight,
    openConnections: () => 0,
    network: {
      seams: { connect },
      fetch: ((input: string | URL, init?: RequestInit) =>
        undiciFetch(input, { ...init, dispatcher: agent } as never)) as unknown as typeof fetch,
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      close();
      nock.cleanAll();
      nock.restore();
      if (impossible) throw impossible;
    },
  };
}
