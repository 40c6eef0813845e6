/**
 * The HTTP proxy for containers and processes: takes CONNECT for any host, ends TLS with a
 * certificate for it, and hands the requests to the same provider. It connects to nothing: what the
 * provider does not know is unmatched.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import type { ProxyPlace } from "../contract/target.ts";
import { type ConnectionTrouble, type Dial, faultFor, insideAddress } from "./dialling.ts";
import type { Ledger } from "./ledger.ts";
import type { Endpoint, Termination } from "./terminate.ts";

export type { ProxyPlace };

export interface ProxyParts {
  readonly ledger: Ledger;
  readonly termination: Termination;
  readonly connection: ConnectionTrouble | undefined;
  /** Enters a connection that was asked for. */
  readonly note: (dial: Dial) => void;
}

export interface Proxy extends AsyncDisposable {
  /** For HTTPS_PROXY. */
  readonly url: string;
}

const httpsPort = 443;

/** @throws an Error that says what to do when the address or port cannot be had */
export async function openProxy(
  { host, isTransparent }: ProxyPlace,
  parts: ProxyParts,
): Promise<Proxy> {
  const { ledger, termination, connection, note } = parts;
  await using opening = new AsyncDisposableStack();

  const refuse = (incoming: IncomingMessage, response: ServerResponse) => {
    const origin = originOf(incoming);
    const { socket } = incoming;
    const wire = { reset: () => void socket.resetAndDestroy(), end: () => void socket.end() };
    void ledger.serve(
      origin,
      incoming,
      response,
      wire,
      `The request to ${origin} was sent without TLS.`,
    );
  };
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, refuse);
  server.on("connect", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    const target = parseTarget(incoming.url ?? "");
    socket.on("error", () => undefined);
    if (!target) return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    const fault = faultFor(target.host, connection);
    // Names are the proxy's to look up: this is where it would connect.
    note(fault === "inside-address" ? { ...target, address: insideAddress } : target);
    // A proxy says so when it cannot reach a host (RFC 9110 section 15.6.3).
    if (fault === "unknown-host" || fault === "refused")
      return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    if (fault === "connect-hang") return termination.hold(socket);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    termination.accept(socket, () => target);
    if (head.length > 0) socket.unshift(head);
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await listen(server, 0, host);
  opening.defer(async () => {
    server.closeAllConnections();
    await closed(server);
  });

  if (isTransparent) {
    const transparent = createTcpServer({ noDelay: true }, (socket) => {
      const fault = connection?.fault;
      if (fault === "unknown-host" || fault === "refused") return void socket.resetAndDestroy();
      if (fault === "connect-hang") return termination.hold(socket);
      termination.accept(socket, () => ({ host, port: httpsPort }));
    });
    await listen(transparent, httpsPort, host);
    opening.defer(() => closed(transparent));
  }
  opening.defer(termination.close);
  const open = opening.move();
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Listener = ReturnType<typeof createTcpServer>;

async function listen(server: Listener, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new Error(
      `The proxy cannot listen on ${host}${port ? ` port ${port}` : ""} (${code}): the container runtime has to run on this machine${port ? ", and ports below 1024 must be allowed" : ""}.`,
    );
  }
}

async function closed(server: Listener): Promise<void> {
  server.close();
  await once(server, "close");
}

/** `host:port` of a CONNECT. */
function parseTarget(authority: string): Endpoint | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(authority);
  return match ? { host: match[1] ?? match[2] ?? "", port: Number(match[3]) } : undefined;
}

/** A request to a proxy names its origin; others are sent to the proxy itself. */
function originOf({ url = "", headers }: IncomingMessage): string {
  return URL.canParse(url) ? new URL(url).origin : `http://${headers.host ?? "unknown.invalid"}`;
}
