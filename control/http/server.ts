/**
 * HTTP in front of the door. Routes come from the registry; every answer, whatever went wrong before a handler was reached, is
 * the envelope with a request id of its own.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError, type Reason } from "../contract/reasons.ts";
import type { Control } from "../create-control.ts";
import { type Answer, errorBody } from "../door/answer.ts";
import { basePath } from "../door/base-path.ts";
import { toControlError } from "../door/to-control-error.ts";

/** Largest body. */
const bodyLimit = 1_048_576;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller;
    requestId?: string;
    startedMs?: number;
  }
}

export interface ServerOptions {
  /** Trust X-Forwarded-For of a proxy in front. Default false. */
  readonly trustProxy?: boolean;
}

/** A server that does not listen yet. */
export function createServer(control: Control, options: ServerOptions = {}): FastifyInstance {
  const { services } = control;
  const server = Fastify({
    logger: false,
    bodyLimit,
    trustProxy: options.trustProxy ?? false,
    routerOptions: { maxParamLength: 200, caseSensitive: true, ignoreTrailingSlash: false },
    exposeHeadRoutes: true,
    requestTimeout: 120_000,
    clientErrorHandler: (_error, socket) => answerSocket(socket),
    frameworkErrors: (error, request, reply) => void sendError(control, error, request, reply),
    return503OnClosing: true,
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  server.setErrorHandler((error, request, reply) => sendError(control, error, request, reply));
  server.setNotFoundHandler((request, reply) => sendError(control, notFound(control, request), request, reply));
  server.addHook("onRequest", async (request) => {
    request.startedMs = performance.now();
    // Nothing of a provider's or user's data is kept by a browser or a proxy on the way.
  });
  server.addHook("onSend", async (request, reply, payload) => {
    reply.header("x-content-type-options", "nosniff");
    reply.header("cache-control", "no-store");
    if (request.requestId !== undefined) reply.header("x-request-id", request.requestId);
    return payload;
  });
  server.addHook("onResponse", async (request, reply) => {
    services.log.info("request", {
      request_id: request.requestId ?? null,
      method: request.method,
      // The pattern of the route: the path itself may hold what should not be in a log.
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(performance.now() - (request.startedMs ?? 0)),
      user_id: request.caller?.user.id ?? null,
      client: request.caller?.client ?? null,
    });
  });

  for (const operation of control.operations) addRoute(server, control, operation);
  return server;
}

function addRoute(server: FastifyInstance, control: Control, operation: Operation): void {
  server.route({
    method: operation.method,
    url: basePath + operation.path.replace(/\{(\w+)\}/g, ":$1"),
    // Before the body is read: strangers send none.
    onRequest: async (request) => {
      requireJson(request);
      request.caller = await authenticateRequest(control, request);
    },
    handler: async (request, reply) => {
      const { caller } = request;
      if (!caller) throw new ControlError("internal");
      const controller = new AbortController();
      request.raw.once("close", () => {
        if (!reply.raw.writableEnded) controller.abort();
      });
      const answer = await control.execute(
        operation,
        {
          path: request.url.split("?")[0] ?? "",
          params: request.params as Record<string, string>,
          query: request.query as Record<string, unknown>,
          ...(Buffer.isBuffer(request.body) ? { body: request.body } : {}),
          headers: {
            workspaceId: headerOf(request, "x-svc-workspace-id"),
            executionMode: headerOf(request, "x-svc-execution-mode"),
            idempotencyKey: headerOf(request, "idempotency-key"),
            ifMatch: headerOf(request, "if-match"),
          },
          signal: controller.signal,
        },
        caller,
      );
      return send(request, reply, answer);
    },
  });
}

async function authenticateRequest(control: Control, request: FastifyRequest): Promise<Caller> {
  const { services } = control;
  try {
    return await control.authenticate({
      authorization: request.headers.authorization,
      client: headerOf(request, "x-svc-client"),
      ip: request.ip,
      userAgent: request.headers["user-agent"]?.slice(0, 300) ?? null,
    });
  } catch (error) {
    if (error instanceof ControlError && error.reason === "unauthenticated")
      await services.limiter.take("stranger", request.ip, services.clock.now());
    throw error;
  }
}

/** Headers that stand more than once come joined. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

/** @throws not_acceptable */
function requireJson({ headers: { accept } }: FastifyRequest): void {
  if (accept === undefined) return;
  const types = accept.split(",").map((type) => type.split(";")[0]?.trim().toLowerCase());
  if (!types.some((type) => type === "*/*" || type === "application/*" || type === "application/json"))
    throw new ControlError("not_acceptable");
}

/** What Fastify itself refuses. */
const ofFastify: Readonly<Record<string, Reason>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  FST_ERR_BAD_URL: "malformed_request",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_ASYNC_CONSTRAINT: "malformed_request",
  ECONNRESET: "malformed_request",
};

function sendError(control: Control, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = (error as { code?: unknown } | null)?.code;
  const reason = typeof code === "string" && Object.hasOwn(ofFastify, code) ? ofFastify[code] : undefined;
  const requestId = randomUUID();
  const known = reason
    ? new ControlError(reason)
    : toControlError(error, control.services.log, { request_id: requestId });
  return send(request, reply, { requestId, ...errorBody(known, requestId) });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { requestId, status, headers, body }: Answer,
): FastifyReply {
  request.requestId = requestId;
  return reply.code(status).headers(headers).type("application/json; charset=utf-8").send(body);
}

/** A path that other methods have is 405 and names them. */
function notFound(control: Control, request: FastifyRequest): ControlError {
  const path = request.url.split("?")[0] ?? "";
  const methods = control.operations
    .filter((operation) => toPattern(operation.path).test(path))
    .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  if (methods.length === 0) return new ControlError("not_found");
  return new ControlError("method_not_allowed", {}, { allow: [...new Set(methods)].sort().join(", ") });
}

const toPattern = (path: string) => new RegExp(`^${basePath}${path.replace(/\{\w+\}/g, "[^/]+")}$`);

/** A request that is no HTTP: there is no reply object, only the socket. */
function answerSocket(socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const requestId = randomUUID();
  const { body } = errorBody(new ControlError("malformed_request"), requestId);
  const head = [
    "HTTP/1.1 400 Bad Request",
    "content-type: application/json; charset=utf-8",
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
