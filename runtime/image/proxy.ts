/**
 * The proxy of a run: takes CONNECT for the hosts that are allowed, ends TLS with a certificate for
 * them, and hands each request to the broker of the run. It connects to nothing itself.
 */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import { createSlots } from "../egress/concurrency.ts";
import { isHostHeader } from "../egress/request-headers.ts";
import type { HttpAnswer, HttpCall } from "../wire/http-call.ts";
import type { Authority } from "./authority.ts";

export interface ImageProxyOptions {
  /** Path of a Unix socket. */
  readonly path: string;
  readonly authority: Authority;
  readonly hosts: readonly string[];
  /** Sends a request on. @throws ConnectorError */
  readonly send: (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>;
  /**
   * Called with what the image tried and may not: words of ours, with the name of a host in them.
   */
  readonly onRefused: (resource: string) => void;
}

export interface ImageProxy extends AsyncDisposable {
  /** Requests that are not answered yet. */
  readonly openRequests: number;
}

/** Bytes of a request's body. */
const maxBodyBytes = 16 * 1024 * 1024;
/**
 * Requests whose bodies and answers are held at a time, until the image has taken the answer: what
 * does not read keeps its own others waiting, and fills no memory.
 */
const maxHeldRequests = 4;
/** Longer than the longest wait for a provider's limit. */
const maxIdleMs = 7_200_000;
/** Connections of one image; its gate lets no more through. */
const maxConnections = 64;
/** Every error there is comes back as it is: the image knows what it means. */
const anyError: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

export async function openImageProxy(options: ImageProxyOptions): Promise<ImageProxy> {
  const { path, authority, hosts, onRefused } = options;
  // Loaded by who runs an image: it brings Node's own HTTP client with it.
  const { createServer } = await import("node:http");
  const targets = new WeakMap<Socket, string>();
  const sockets = new Set<Socket>();
  let openRequests = 0;

  const slots = createSlots(maxHeldRequests);
  const inner = createServer({ requestTimeout: 0 }, async (incoming, response) => {
    const host = targets.get(incoming.socket);
    if (host === undefined) return void response.destroy();
    openRequests++;
    const closed = new AbortController();
    response.once("close", () => {
      openRequests--;
      closed.abort();
    });
    const giveBack = await slots.take(closed.signal).catch(() => undefined);
    if (!giveBack) return;
    response.once("close", giveBack);
    await serve(host, incoming, response, options);
  });
  inner.setTimeout(maxIdleMs);
  const refuse = (resource: string, socket: Socket) => {
    onRefused(resource);
    socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  };
  const outer = createServer({ requestTimeout: 0 }, (incoming) =>
    refuse("the network without TLS", incoming.socket),
  );
  outer.maxConnections = maxConnections;
  outer.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  });
  outer.on("connect", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    const [, name = "", port] = /^([\w.-]{1,253}):(\d{1,5})$/.exec(incoming.url ?? "") ?? [];
    const host = name.toLowerCase();
    if (host === "") return refuse("the network by an address", socket);
    if (!hosts.includes(host)) return refuse(`the host ${host}`, socket);
    if (port !== "443") return refuse(`port ${port} of ${host}`, socket);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) socket.unshift(head);
    authority.contextFor(host).then(
      (secureContext) => {
        const secured = new TLSSocket(socket, {
          isServer: true,
          secureContext,
          ALPNProtocols: ["http/1.1"],
        });
        secured.on("error", () => socket.destroy());
        targets.set(secured, host);
        inner.emit("connection", secured);
      },
      () => socket.destroy(),
    );
  });
  for (const server of [inner, outer]) server.on("clientError", (_, socket) => socket.destroy());
  outer.listen(path);
  await once(outer, "listening");
  await chmod(path, 0o666);

  return {
    get openRequests() {
      return openRequests;
    },
    async [Symbol.asyncDispose]() {
      outer.close();
      for (const socket of sockets) socket.destroy();
      inner.closeAllConnections();
    },
  };
}

async function serve(
  host: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  { send, onRefused }: ImageProxyOptions,
): Promise<void> {
  const leaving = new AbortController();
  response.once("close", () => leaving.abort(new ConnectorError("CANCELLED")));
  try {
    const call = await toCall(host, incoming);
    if (typeof call === "string") {
      onRefused(call);
      return void response.writeHead(403).end();
    }
    const { status, headers, body } = await send(call, leaving.signal);
    response.writeHead(status, { ...passed(headers), "content-length": body.length }).end(body);
  } catch (error) {
    // The image learns that there is no answer; what it was is the host's to tell.
    const { code } = toConnectorError(error);
    if (!response.destroyed)
      response.writeHead(code === "PROVIDER_TIMEOUT" ? 504 : 502, { "content-length": 0 }).end();
  }
}

/** The request as a call of the broker; or what it is refused for. */
async function toCall(host: string, incoming: IncomingMessage): Promise<HttpCall | string> {
  const { method = "", url = "", headers } = incoming;
  if (method !== "GET" && method !== "POST") return `the method ${method} of HTTP`;
  if (headers["content-encoding"] !== undefined) return "a compressed request";
  if (!url.startsWith("/")) return "a request of another form";
  const text = await readText(incoming);
  if (text === undefined) return "a request that is no text, or too large";
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || (isHostHeader(name) && name !== "authorization")
      ? []
      : [[name, Array.isArray(value) ? value.join(", ") : value] as const],
  );
  return {
    method,
    path: `https://${host}${url}`,
    headers: Object.fromEntries(kept),
    ...(method === "POST" ? { text } : {}),
    accept: anyError,
  };
}

/** A body; undefined when it is no UTF-8 or too long. */
async function readText(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  if (bytes > maxBodyBytes) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}

/** The body is decompressed and whole: what was said of its transport is over. */
const ofTransport = new Set([
  ...["content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive"],
  ...["trailer", "upgrade", "te", "proxy-connection"],
]);
const passed = (headers: HttpAnswer["headers"]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTransport.has(name)));
