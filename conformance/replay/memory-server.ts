/**
 * A server of HTTP/1.1 in memory: undici takes its connections for sockets, and nothing of them
 * touches the network. Nothing is encrypted.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import type { buildConnector } from "undici";

export interface MemoryServer {
  readonly connect: buildConnector.connector;
  /** Ends all connections. */
  close(): void;
}

export interface MemoryRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Breaks the connection, as a peer does that goes away. */
  reset(): void;
}

export function openMemoryServer(serve: (request: MemoryRequest) => void): MemoryServer {
  const clients = new Map<object, { readonly socket: Duplex; readonly origin: string }>();
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, joinDuplicateHeaders: true },
    (incoming, response) => {
      const client = clients.get(incoming.socket);
      if (!client) return void response.destroy();
      // undici waits a turn of the event loop before it takes a connection again: the time of the
      // run could change between a request's making and its arrival.
      response.shouldKeepAlive = false;
      const reset = () =>
        client.socket.destroy(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
      serve({ incoming, response, origin: client.origin, reset });
    },
  );
  return {
    connect({ protocol, host, hostname, port }, callback) {
      const [socket, peer] = duplexPair();
      const origin = `${protocol}//${host ?? (port ? `${hostname}:${port}` : hostname)}`;
      clients.set(peer, { socket, origin });
      const end = () => {
        clients.delete(peer);
        socket.destroy();
        peer.destroy();
      };
      for (const one of [socket, peer]) one.on("error", end).on("close", end);
      server.emit("connection", peer);
      queueMicrotask(() => callback(null, socket as never));
    },
    close() {
      for (const { socket } of [...clients.values()]) socket.destroy();
      server.close();
    },
  };
}
