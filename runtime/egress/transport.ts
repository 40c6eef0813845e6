/**
 * One exchange with a provider over undici: its own agent, guarded connections, deadlines, and
 * errors of the table only.
 */

import type { Readable } from "node:stream";
import type { buildConnector, Dispatcher } from "undici";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { HttpMethod } from "../wire/http-call.ts";
import { toConnectionError } from "./connection-errors.ts";
import { createGuardedConnect, type GuardedConnectOptions } from "./guard.ts";
import { observed } from "./observed.ts";
import type { ResponseHeaders } from "./rate-limit-headers.ts";
import type { RequestHeaders } from "./request-headers.ts";

export interface TransportRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  readonly headers: RequestHeaders;
  readonly body?: Buffer | undefined;
}

/** An answer whose body is still on its way. */
export interface Incoming {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ResponseHeaders;
  readonly body: Readable;
}

export interface Transport {
  /**
   * Sends a request and gives what `read` makes of the answer. Redirects are answers like any
   * other.
   * @throws CONNECTION_FAILED, PROVIDER_TIMEOUT {phase: connect, headers, body, total}, TLS_FAILED,
   * ADDRESS_REFUSED, HOST_UNKNOWN, RESPONSE_INVALID, CANCELLED when `signal` aborts; what `read`
   * throws
   */
  exchange<T>(
    request: TransportRequest,
    signal: AbortSignal,
    read: (incoming: Incoming) => Promise<T>,
  ): Promise<T>;
  /** Ends every connection; exchanges under way fail with CANCELLED. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly settings: NetworkSettings;
  readonly seams: NetworkSeams | undefined;
  /** The only port that is dialled. */
  readonly port: number;
  /** The declared provider is on this machine; as in {@link GuardedConnectOptions}. */
  readonly isLocal?: boolean | undefined;
  readonly connections: number;
  readonly limits: HttpLimits;
}

/** Counts all requests of this process: a run has more than one transport. */
let nextIndex = 0;

export function createTransport({
  settings,
  seams,
  port,
  isLocal,
  connections,
  limits,
}: TransportOptions): Transport {
  const { connectTimeoutMs, headersTimeoutMs, idleTimeoutMs, totalTimeoutMs } = limits;
  const connects = createPendingConnects(() =>
    createGuardedConnect({ settings, seams, allowedPort: port, isLocal, connectTimeoutMs }),
  );
  let dispatcher: Dispatcher | undefined;
  let isClosed = false;
  const openDispatcher = async (): Promise<Dispatcher> => {
    // Loaded by the first request: databases, and commands that send nothing, do without it.
    const { Agent } = await import("undici");
    if (isClosed) throw new ConnectorError("CANCELLED");
    dispatcher ??=
      seams?.openDispatcher?.() ??
      new Agent({
        connect: connects.connect,
        connections,
        pipelining: 1,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: idleTimeoutMs,
        allowH2: false,
      });
    return dispatcher;
  };
  return {
    async exchange(request, signal, read) {
      const { method, url, headers, body } = request;
      return await withDeadline(totalTimeoutMs, signal, async (bounded) => {
        const path = `${url.pathname}${url.search}`;
        const options = {
          origin: url.origin,
          path,
          method,
          headers,
          body: body ?? null,
          signal: bounded,
        };
        const index = nextIndex++;
        const answer = await (dispatcher ?? (await openDispatcher())).request(options);
        const incoming = { status: answer.statusCode, headers: answer.headers, body: answer.body };
        return await read(
          seams?.observe ? await observed(seams.observe, index, request, incoming) : incoming,
        );
      });
    },
    async close() {
      isClosed = true;
      const destroyed = dispatcher?.destroy();
      connects.giveUp();
      await destroyed;
    },
  };
}

/**
 * undici waits for a connect under way before it is destroyed; this lets it give up at once and
 * ends the socket when it comes.
 * @param open is called by the first connect: it may read certificates
 */
function createPendingConnects(open: () => buildConnector.connector) {
  const pending = new Set<() => void>();
  let isGivenUp = false;
  let connect: buildConnector.connector | undefined;
  const tracked: buildConnector.connector = (options, callback) => {
    connect ??= open();
    const cancel = () => {
      pending.delete(cancel);
      callback(new ConnectorError("CANCELLED"), null);
    };
    pending.add(cancel);
    connect(options, (...result) => {
      if (pending.delete(cancel)) callback(...result);
      else result[1]?.destroy();
    });
    if (isGivenUp) cancel();
  };
  return {
    connect: tracked,
    giveUp() {
      isGivenUp = true;
      for (const cancel of pending) cancel();
    },
  };
}

/**
 * Runs `work` with a signal that aborts with the outer one or when the time is up. Real time:
 * sockets know no other.
 */
async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer.aborted) throw new ConnectorError("CANCELLED");
  const controller = new AbortController();
  // undici takes no notice of the signal while it connects, so the wait for it ends here.
  const aborted = Promise.withResolvers<never>();
  const abort = () => {
    controller.abort();
    aborted.reject(controller.signal.reason);
  };
  const timer = setTimeout(abort, timeoutMs);
  outer.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work(controller.signal), aborted.promise]);
  } catch (error) {
    if (outer.aborted) throw new ConnectorError("CANCELLED");
    if (controller.signal.aborted) throw new ConnectorError("PROVIDER_TIMEOUT", { phase: "total" });
    throw toExchangeError(error);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
  }
}

const phases: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "headers",
  UND_ERR_BODY_TIMEOUT: "body",
};

/** undici's failures and Node's in the words of the table; nothing of their text is kept. */
function toExchangeError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const phase = phases[code];
  if (phase !== undefined) return new ConnectorError("PROVIDER_TIMEOUT", { phase });
  if (code === "UND_ERR_HEADERS_OVERFLOW")
    return new ConnectorError("RESPONSE_INVALID", { reason: "headers too large" });
  // A parser that hits the end of the connection saw a cut-off answer, not a wrong one.
  if (code === "HPE_INVALID_EOF_STATE")
    return new ConnectorError("CONNECTION_FAILED", { reason: "cut short" });
  if (code.startsWith("HPE_"))
    return new ConnectorError("RESPONSE_INVALID", { reason: "not HTTP" });
  if (code === "UND_ERR_SOCKET")
    return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH")
    return new ConnectorError("CONNECTION_FAILED", { reason: "cut short" });
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED" || code === "UND_ERR_ABORTED")
    return new ConnectorError("CANCELLED");
  if (code.startsWith("UND_ERR_") || code === "") return toConnectorError(error);
  return toConnectionError(error);
}
