/**
 * Takes connections as a provider would: ends TLS with a certificate for the name that was asked
 * for, then reads HTTP.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";
import type { Authority, CertificateFlaw } from "svc-connectors/host";
import type { Ledger } from "./ledger.ts";

/** The host and port that a client wanted to reach. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface TerminationOptions {
  readonly authority: Authority;
  readonly ledger: Ledger;
  /** Flaw of the certificate for this host. */
  readonly flawOf: (host: string) => CertificateFlaw;
  /** Each connection serves one request, so that the client has to look the name up again. */
  readonly isSingleUse: boolean;
}

export interface Termination {
  /** `target` is asked for once the client has said something; undefined when nobody knows it. */
  accept(socket: Socket, target: () => Endpoint | undefined): void;
  /** Keeps a connection and never says anything on it. */
  hold(socket: Socket): void;
  /** Connections that are open now. */
  openConnections(): number;
  /** Connections on which the first request is still to come: their handshake is under way. */
  silentConnections(): number;
  close(): void;
}

/** First byte of a TLS record with a ClientHello (RFC 8446 section 5.1). */
const handshakeRecord = 0x16;

interface Reach {
  readonly origin: string;
  readonly raw: Socket;
  readonly refusal?: string | undefined;
}

export function createTermination({
  authority,
  ledger,
  flawOf,
  isSingleUse,
}: TerminationOptions): Termination {
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  const reaches = new WeakMap<Socket, (incoming: IncomingMessage) => Reach>();

  const serve = (incoming: IncomingMessage, response: ServerResponse) => {
    const reach = reaches.get(incoming.socket)?.(incoming);
    if (!reach) return void response.destroy();
    if (isSingleUse) response.shouldKeepAlive = false;
    const { raw } = reach;
    silent.delete(raw);
    const wire = { reset: () => void raw.resetAndDestroy(), end: () => void incoming.socket.end() };
    void ledger.serve(reach.origin, incoming, response, wire, reach.refusal);
  };
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, serve);
  server.on("clientError", (_, socket) => socket.destroy());

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true);
    // Clients break connections; the ledger says what became of the request.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      silent.delete(socket);
    });
  }

  function accept(socket: Socket, target: () => Endpoint | undefined): void {
    track(socket);
    silent.add(socket);
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const known = target();
      if (first[0] === handshakeRecord) return secure(socket, known);
      if (/^[A-Z]{3,7} /.test(first.subarray(0, 8).toString("latin1"))) return plain(socket, known);
      const { host, port } = known ?? loopback(socket);
      ledger.note(
        "CONNECT",
        `tcp://${host}:${port}`,
        `The connection to ${host}:${port} speaks neither TLS nor HTTP.`,
      );
      socket.destroy();
    });
  }

  function secure(socket: Socket, known: Endpoint | undefined): void {
    const contextFor = (host: string) => authority.contextFor(host, flawOf(host));
    const fallback = known?.host ?? loopback(socket).host;
    contextFor(fallback).then(
      (secureContext) => {
        const secured = new TLSSocket(socket, {
          isServer: true,
          secureContext,
          ALPNProtocols: ["http/1.1"],
          SNICallback: (name, done) => {
            contextFor(name).then(
              (context: SecureContext) => done(null, context),
              (error: Error) => done(error),
            );
          },
        });
        secured.on("error", () => socket.destroy());
        reaches.set(secured, () => {
          const { host, port } = known ?? loopback(socket);
          return { origin: originOf("https", secured.servername || host, port), raw: socket };
        });
        secured.once("secure", () => server.emit("connection", secured));
      },
      () => socket.destroy(),
    );
  }

  function plain(socket: Socket, known: Endpoint | undefined): void {
    reaches.set(socket, (incoming) => {
      const origin = known
        ? originOf("http", known.host, known.port)
        : `http://${incoming.headers.host ?? "unknown.invalid"}`;
      return { origin, raw: socket, refusal: `The request to ${origin} was sent without TLS.` };
    });
    server.emit("connection", socket);
    process.nextTick(() => socket.resume()); // It was paused to look at its first bytes.
  }

  return {
    accept,
    hold(socket) {
      track(socket);
      socket.resume(); // Its end shows only to who reads.
    },
    openConnections: () => sockets.size,
    silentConnections: () => silent.size,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const loopback = (socket: Socket): Endpoint => ({
  host: socket.localAddress ?? "127.0.0.1",
  port: socket.localPort ?? 0,
});

/**
 * `https://name:port`; an IPv6 address stands in brackets, and URL leaves out the scheme's own
 * port.
 */
function originOf(scheme: "http" | "https", host: string, port: number): string {
  return new URL(`${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`).origin;
}
