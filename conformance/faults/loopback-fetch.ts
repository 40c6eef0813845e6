/**
 * A fetch for programs in this process that reaches the fault server only, never the real network.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  Agent,
  type buildConnector,
  errors,
  Request as UndiciRequest,
  fetch as undiciFetch,
} from "undici";
import type { Dialling } from "./dialling.ts";

/** The time that undici itself gives a connection. */
const connectTimeoutMs = 10_000;

export interface LoopbackFetch extends AsyncDisposable {
  readonly fetch: typeof fetch;
}

export function createLoopbackFetch(
  { resolve, dial }: Pick<Dialling, "resolve" | "dial">,
  ca: string,
): LoopbackFetch {
  async function open({ hostname, port, protocol }: buildConnector.Options): Promise<Socket> {
    const [found] = await resolve(hostname);
    const isSecure = protocol === "https:";
    const target = {
      host: hostname,
      address: found?.address ?? "",
      port: Number(port || (isSecure ? 443 : 80)),
    };
    const raw = dial(target);
    const timer = setTimeout(() => raw.destroy(new errors.ConnectTimeoutError()), connectTimeoutMs);
    try {
      await once(raw, "connect");
      if (!isSecure) return raw;
      const secured = connectTls({
        socket: raw,
        servername: hostname,
        ca,
        ALPNProtocols: ["http/1.1"],
      });
      raw.on("error", (error) => secured.destroy(error));
      await once(secured, "secureConnect");
      return secured;
    } catch (error) {
      raw.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  const agent = new Agent({
    allowH2: false,
    connect: (options, callback) => {
      open(options).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
  const reach = (input: string | URL | Request, init?: RequestInit) => {
    // undici's own fetch does not know the built-in Request, whose parts it takes one by one.
    const target = input instanceof Request ? new UndiciRequest(input.url, partsOf(input)) : input;
    return undiciFetch(target, {
      ...(init as Parameters<typeof undiciFetch>[1]),
      dispatcher: agent,
    });
  };
  return { fetch: reach as unknown as typeof fetch, [Symbol.asyncDispose]: () => agent.destroy() };
}

/** A body that streams has to say so ("half"). */
function partsOf(request: Request): ConstructorParameters<typeof UndiciRequest>[1] {
  const { method, headers, body, signal, redirect } = request;
  const parts = {
    method,
    headers: [...headers],
    signal,
    redirect,
    ...(body ? { body, duplex: "half" } : {}),
  };
  return parts as ConstructorParameters<typeof UndiciRequest>[1];
}
