/**
 * The replay transport: requests are answered in memory, whatever their host, and a Provider
 * decides every answer. Nothing is passed through: a request that the provider does not know is
 * unmatched and counts, whatever the connector makes of it. Code that goes past its context to the
 * network of this process meets nock, which gives the same answers.
 */
import nock from "nock";
import type { Clock } from "svc-connectors";
import { fetch as undiciFetch } from "undici";
import {
  type Answer,
  type Exchange,
  type Provider,
  type ProviderRequest,
  publicAddress,
} from "../contract/network.ts";
import type { Traces } from "../contract/observation.ts";
import type { RunNetwork } from "../contract/target.ts";
import { MemoryDispatcher, type MemoryServe } from "./memory-dispatcher.ts";

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
  /** Queries of a database, in place of exchanges. */
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

export interface ReplayOptions extends NetworkOptions {
  /** The connector runs in this process: it may go past its context to the process's network. */
  readonly isInside: boolean;
}

export const withoutBody = (answer: Answer): Answer => ({ ...answer, body: Buffer.alloc(0) });

// Importing nock replaces Node's sockets; they are given back until a run needs them.
nock.restore();

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** No connector may take it for data, and none should try it again. */
const unmatchedAnswer: Answer = {
  status: 418,
  headers: { "content-type": "application/json" },
  body: Buffer.from('{"error":"not recorded"}'),
};

/** One replay at a time of a connector inside: nock belongs to the process. */
export function openReplay({
  provider,
  now,
  onRequest,
  isBrief = false,
  isInside,
}: ReplayOptions): OpenNetwork {
  const exchanges: Exchange[] = [];
  let inFlight = 0;

  let impossible: Error | undefined;
  const reply: MemoryServe = async (received) => {
    const atMs = now();
    const request: ProviderRequest = { ...received, atMs, index: exchanges.length };
    const exchange: { -readonly [Name in keyof Exchange]: Exchange[Name] } = { request, atMs };
    exchanges.push(exchange);
    inFlight++;
    try {
      await onRequest?.(request);
      const answer = provider.answer(request);
      if ("unmatched" in answer) {
        exchange.unmatched = answer.unmatched;
        return unmatchedAnswer;
      }
      exchange.answer = isBrief ? withoutBody(answer) : answer;
      if (answer.fault?.type === "hang") return undefined;
      if (answer.fault && answer.fault.type !== "reset")
        impossible ??= new Error(`the replay cannot do ${answer.fault.type}: use the fault server`);
      return answer.fault ? "reset" : answer;
    } finally {
      inFlight--;
    }
  };

  const leave = isInside ? intercept(reply) : undefined;

  const openDispatcher = () => new MemoryDispatcher(reply);
  const dispatcher = openDispatcher();
  return {
    exchanges,
    inFlight: () => inFlight,
    openConnections: () => 0,
    network: {
      seams: { openDispatcher },
      fetch: ((input: string | URL, init?: RequestInit) =>
        undiciFetch(input, { ...init, dispatcher } as never)) as unknown as typeof fetch,
      lookup: async () => [publicAddress],
    },
    async [Symbol.asyncDispose]() {
      await dispatcher.destroy();
      leave?.();
      if (impossible) throw impossible;
    },
  };
}

/** Everything that this process asks the network meets `reply`. @returns how to stop it */
function intercept(reply: MemoryServe): () => void {
  const replyOrHang = async (incoming: Request) => {
    const answer = await reply({
      method: incoming.method,
      url: new URL(incoming.url),
      headers: Object.fromEntries(incoming.headers),
      body: await incoming.text(),
    });
    if (answer === "reset")
      throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    if (!answer) return await new Promise<never>(() => {});
    return [answer.status, answer.body, { ...answer.headers }];
  };
  nock.cleanAll();
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  const scope = nock(/^https?:\/\//).persist();
  for (const method of methods) scope.intercept(/.*/, method).reply(replyOrHang as never);
  return () => {
    nock.cleanAll();
    nock.restore();
  };
}
