/** Everything that goes wrong before the door is reached, as the door would answer it. */
import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError, type Reason } from "../contract/reasons.ts";
import { type Answer, errorBody } from "../door/answer.ts";
import type { Control } from "../door/control.ts";
import { type RefusedRequest, refuse } from "../door/refuse.ts";
import { toControlError } from "../door/to-control-error.ts";
import { consoleTokenOf } from "./console-cookie.ts";
import { controlHeadersOf, factsOf } from "./headers.ts";

/** Refusals of Fastify and Node, by their codes. */
const reasonOfCode: Readonly<Record<string, Reason>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: "unsupported_media_type",
  FST_ERR_BAD_URL: "malformed_request",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_ASYNC_CONSTRAINT: "malformed_request",
  FST_ERR_HANDLER_TIMEOUT: "overloaded",
  ECONNRESET: "malformed_request",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_HEADER_OVERFLOW: "headers_too_large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "malformed_request",
};

/** The reason of an error that came from the HTTP layer; undefined: it is somebody else's. */
export function reasonOf(error: unknown): Reason | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && Object.hasOwn(reasonOfCode, code)
    ? reasonOfCode[code]
    : undefined;
}

/**
 * Answers an error. Who has shown a token pays for it as for the operation itself, and a write that
 * is refused is in the audit log.
 */
export async function sendRefusal(
  control: Control,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return send(request, reply, await answerRefusal(control, error, request));
}

/**
 * The answer to a request that was refused before it came to the door, or was not answered there.
 */
export async function answerRefusal(
  control: Control,
  error: unknown,
  request: FastifyRequest,
): Promise<Answer> {
  const { services } = control;
  const reason = reasonOf(error);
  let thrown = reason ? new ControlError(reason) : error;
  const { operation } = request.routeOptions.config;
  // A request that the door has begun is paid and written down there; nothing is refused twice.
  if (operation && !request.isSettled) {
    request.isSettled = true;
    try {
      request.caller ??= await identify(control, request, operation, thrown);
    } catch (over) {
      thrown = over;
    }
    if (request.caller)
      return await refuse(services, operation, toRefused(request), request.caller, thrown);
  }
  const requestId = randomUUID();
  const refusal = toControlError(thrown, services.log, { request_id: requestId, operation: null });
  return { requestId, ...errorBody(refusal, requestId) };
}

/**
 * Who has sent a request that was refused before anybody asked: for the budget and the audit log.
 * Undefined: nobody who could be named.
 * @throws rate_limited when an address has tried too often
 */
async function identify(
  control: Control,
  request: FastifyRequest,
  { access }: Operation,
  thrown: unknown,
): Promise<Caller | undefined> {
  // Whose token is not valid, or stands there twice, has been told so, and has paid.
  const isKnown = thrown instanceof ControlError && thrown.reason === "unauthenticated";
  const tokens = request.raw.rawHeaders.filter((one, index) => index % 2 === 0 && isTokenName(one));
  if (isKnown || access === "open" || tokens.length > 1) return undefined;
  // A claim about the client that was refused is left out.
  const consoleToken = consoleTokenOf(request, control.services.settings.publicUrl);
  const facts = { ...factsOf(request), consoleToken, client: undefined };
  return await control.authenticate(facts).catch(async () => {
    await control.services.limiter.take("anonymous", request.ip, control.services.clock.now());
    return undefined;
  });
}

const isTokenName = (name: string) => name.toLowerCase() === "authorization";

const toRefused = (request: FastifyRequest): RefusedRequest => ({
  params: (request.params ?? {}) as Record<string, string>,
  query: (request.query ?? {}) as Record<string, unknown>,
  body: Buffer.isBuffer(request.body) ? request.body : undefined,
  headers: controlHeadersOf(request),
});

/**
 * Nothing of a provider's or user's data is kept by a browser or a proxy on the way, or taken for
 * something else than JSON.
 */
export const envelopeHeaders = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

/** Sends an envelope. */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { requestId, status, headers, body }: Answer,
): FastifyReply {
  request.requestId = requestId;
  return reply
    .code(status)
    .headers({ ...headers, ...envelopeHeaders, "x-request-id": requestId })
    .send(body);
}
