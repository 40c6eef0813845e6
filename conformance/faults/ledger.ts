/**
 * The ledger of a run's requests: asks the provider, has its answer carried, and notes what became
 * of each.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type {
  Answer,
  Exchange,
  Provider,
  ProviderRequest,
  TransportFault,
} from "../contract/network.ts";
import { withoutBody } from "../replay/network.ts";
import { deliver, type Wire } from "./deliver.ts";

export interface LedgerOptions {
  readonly provider: Provider;
  /** Virtual time in ms. */
  readonly now: () => number;
  /** Called when a request has arrived, before the provider is asked. The answer waits for it. */
  readonly onRequest?: ((request: ProviderRequest) => void | Promise<void>) | undefined;
  /** Lets virtual time go by while an answer is on its way. */
  readonly pass?: ((ms: number) => void) | undefined;
  /** The account keeps no bodies of answers. */
  readonly isBrief?: boolean | undefined;
}

export interface Ledger {
  /**
   * Every request, in the order in which they arrived. An exchange gets its `answer` when the
   * server begins to carry it, with the fault that it meets, and `isAbandoned` when the client
   * leaves before the end.
   */
  readonly exchanges: readonly Exchange[];
  /** Requests whose answer is still to come, without those that hang on purpose. */
  inFlight(): number;
  /**
   * Requests that are neither answered nor given up, after a moment for those that are being given
   * up.
   */
  openRequests(): Promise<number>;
  /** Answers a request that came for this origin. `refusal`: why nobody is asked. */
  serve(
    origin: string,
    incoming: IncomingMessage,
    response: ServerResponse,
    wire: Wire,
    refusal?: string,
  ): Promise<void>;
  /** Enters something that is no request, and that no recording fits. */
  note(method: string, url: string, unmatched: string): void;
  /** From here on, connections that break do so because the kit is done with them. */
  close(): void;
}

type OpenExchange = { -readonly [key in keyof Exchange]: Exchange[key] };

export function createLedger({
  provider,
  now,
  onRequest,
  pass,
  isBrief = false,
}: LedgerOptions): Ledger {
  const exchanges: OpenExchange[] = [];
  const open = new Set<OpenExchange>();
  const unfinished = new Set<OpenExchange>();
  let isClosed = false;

  const enter = (request: Omit<ProviderRequest, "index">): OpenExchange => {
    const atMs = now();
    const exchange = { request: { ...request, index: exchanges.length, atMs }, atMs };
    exchanges.push(exchange);
    return exchange;
  };

  async function answer(
    exchange: OpenExchange,
    response: ServerResponse,
    wire: Wire,
    refusal: string | undefined,
  ) {
    await onRequest?.(exchange.request);
    if (response.destroyed) return;
    const given =
      refusal === undefined ? provider.answer(exchange.request) : { unmatched: refusal };
    if ("unmatched" in given) {
      exchange.unmatched = given.unmatched;
      return await deliver(unmatchedAnswer, response, wire);
    }
    exchange.answer = isBrief ? withoutBody(given) : given;
    if (given.fault && endlessFaults.has(given.fault.type) && !isBounded(given.fault))
      open.delete(exchange);
    await deliver(given, response, wire, pass);
  }

  return {
    exchanges,
    inFlight: () => open.size,
    async openRequests() {
      const untilMs = performance.now() + givingUpMs;
      while (unfinished.size > 0 && performance.now() < untilMs) await setTimeout(10);
      return unfinished.size;
    },
    async serve(origin, incoming, response, wire, refusal) {
      const body = await readBody(incoming);
      if (body === undefined) return;
      const { method = "GET", url = "/" } = incoming;
      const exchange = enter({
        method,
        url: urlOf(origin, url),
        headers: headersOf(incoming),
        body,
      });
      open.add(exchange);
      unfinished.add(exchange);
      let isBroken = false;
      const breaking = (end: () => void) => () => {
        isBroken = true;
        end();
      };
      response.once("close", () => {
        if (!isBroken && !isClosed && !response.writableFinished) exchange.isAbandoned = true;
        open.delete(exchange);
        unfinished.delete(exchange);
      });
      try {
        await answer(
          exchange,
          response,
          { reset: breaking(wire.reset), end: breaking(wire.end) },
          refusal,
        );
      } catch (error) {
        // Whatever the connector makes of it, this run must not pass.
        exchange.unmatched = `The kit could not answer this request: ${error instanceof Error ? error.message : error}`;
        isBroken = true;
        response.destroy();
      }
      if (!response.writableFinished) return;
      open.delete(exchange);
      unfinished.delete(exchange);
    },
    note: (method, url, unmatched) => {
      enter({ method, url: new URL(url), headers: {}, body: "" }).unmatched = unmatched;
    },
    close() {
      isClosed = true;
    },
  };
}

/** Real time in which the end of a connection has reached the server, on a loaded machine too. */
const givingUpMs = 500;

/**
 * Some are waited for all the same: a dribble that moves the clock itself, and what ends after so
 * many bytes.
 */
const isBounded = (fault: TransportFault) =>
  (fault.type === "slow-loris" && fault.virtualMs !== undefined) ||
  (fault.type === "endless" && fault.bytes !== undefined);

/** Answers of which nobody can wait for the end. */
const endlessFaults: ReadonlySet<string> = new Set(["hang", "stall", "slow-loris", "endless"]);

/** As the replay answers: no connector may take it for data, and none should try it again. */
const unmatchedAnswer: Answer = {
  status: 418,
  headers: { "content-type": "application/json" },
  body: Buffer.from('{"error":"not recorded"}'),
};

/**
 * The request's target as a URL of the origin that the connection was made to: a Host header proves
 * nothing.
 */
function urlOf(origin: string, target: string): URL {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return new URL(`${origin}${path.startsWith("/") ? "" : "/"}${path}`);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  return Object.fromEntries(entries);
}

/** The whole body as text; undefined when the client left while it sent it. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of incoming) parts.push(part as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(parts).toString("utf8");
}
