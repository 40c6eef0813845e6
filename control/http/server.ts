/**
 * HTTP in front of the door. Routes come from the registry; every answer, whatever went wrong
 * before a handler was reached, is the envelope with a request id of its own.
 */
import Fastify, { type FastifyInstance } from "fastify";
import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Control } from "../door/control.ts";
import { none } from "../telemetry/labels.ts";
import { createAddresses } from "./addresses.ts";
import { addConsole } from "./console.ts";
import { addDocuments } from "./documents.ts";
import { checkHeaders, clientRequestId } from "./headers.ts";
import { addHealth } from "./health.ts";
import { addMcp } from "./mcp-route.ts";
import { addMetrics } from "./metrics.ts";
import { addOperation } from "./operation-route.ts";
import { sendRefusal } from "./refusals.ts";
import { answerBrokenRequest, answerStrangeRequests, noteRequest } from "./sockets.ts";
import { createStreams, type StreamSettings } from "./streams.ts";

/** Largest body. */
const bodyLimit = 1_048_576;
/** A whole request arrives within this time … */
const requestTimeoutMs = 60_000;
/**
 * … and is answered within this one: more than the longest run of a connector that somebody waits
 * for.
 */
const answerTimeoutMs = 110_000;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
    requestId?: string;
    startedMs?: number;
    /** The door has it, or it was refused: nobody else pays for it or writes it down. */
    isSettled?: true;
  }
  interface FastifyContextConfig {
    /** The operation of a route that is one's. */
    operation?: Operation;
  }
}

export interface ServerOptions {
  /**
   * Trust X-Forwarded-For of a proxy in front: any, or those of these addresses and networks.
   * Default false.
   */
  readonly trustProxy?: boolean | readonly string[] | undefined;
  /** PEM texts. Default: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Default 60,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Default 110,000. */
  readonly answerTimeoutMs?: number | undefined;
  readonly streams?: Partial<StreamSettings> | undefined;
  /** Folder of the built console. Default: where the build puts it. */
  readonly console?: string | undefined;
}

/** A server that does not listen yet. */
export function createServer(control: Control, options: ServerOptions = {}): FastifyInstance {
  const { services } = control;
  const server = Fastify({
    logger: false,
    bodyLimit,
    trustProxy: toTrustProxy(options.trustProxy),
    routerOptions: { maxParamLength: 200, caseSensitive: true, ignoreTrailingSlash: false },
    exposeHeadRoutes: true,
    requestTimeout: options.requestTimeoutMs ?? requestTimeoutMs,
    // Requests that Node would refuse with an answer of its own are refused here with the envelope.
    ...toTransport(options.tls),
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerBrokenRequest(control, error, socket),
    frameworkErrors: (error, request, reply) => void sendRefusal(control, error, request, reply),
  });
  answerStrangeRequests(server.server);
  const addresses = createAddresses(server);
  const streams = createStreams(options.streams);
  let isClosing = false;

  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  server.setErrorHandler((error, request, reply) => sendRefusal(control, error, request, reply));
  // Refused before: what is nowhere is not read.
  server.setNotFoundHandler((request, reply) =>
    sendRefusal(control, new ControlError("not_found"), request, reply),
  );
  server.addHook("preClose", async () => {
    isClosing = true;
    streams.end();
  });
  server.addHook("onRequest", async (request) => {
    request.startedMs = performance.now();
    noteRequest(request);
    if (isClosing) throw new ControlError("overloaded", {}, { "retry-after": "1" });
    addresses.check(request);
    checkHeaders(request);
  });
  server.addHook("onResponse", async (request, reply) => {
    const durationMs = performance.now() - (request.startedMs ?? performance.now());
    services.telemetry.time(
      "svc_http_request_duration_seconds",
      {
        operation: request.routeOptions.config.operation?.id ?? request.routeOptions.url ?? none,
        status: String(reply.statusCode),
      },
      durationMs / 1_000,
    );
    services.log.info("request", {
      request_id: request.requestId ?? null,
      client_request_id: clientRequestId(request),
      method: request.method,
      // The pattern of the route: the path itself may hold what should not be in a log.
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(durationMs),
      user_id: request.caller?.user.id ?? null,
      client: request.caller?.client ?? null,
    });
  });

  const timing = { answerTimeoutMs: options.answerTimeoutMs ?? answerTimeoutMs, streams };
  for (const operation of control.operations) addOperation(server, control, operation, timing);
  addDocuments(server, control);
  addConsole(server, control, options.console);
  addHealth(server, control);
  addMetrics(server, control);
  addMcp(server, control);
  return server;
}

const toTrustProxy = (trust: ServerOptions["trustProxy"] = false) =>
  typeof trust === "boolean" ? trust : [...trust];

/**
 * To Fastify's types a server over TLS is another one; nothing here makes a difference between the
 * two.
 */
function toTransport(tls: ServerOptions["tls"]) {
  const options = { requireHostHeader: false };
  return (tls ? { https: { ...options, ...tls } } : { http: options }) as {
    readonly http: typeof options;
  };
}
