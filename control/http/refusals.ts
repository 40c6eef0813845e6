/** Everything that goes wrong before the door is reached, as the door would answer it. */
import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ControlError, type Reason } from "../contract/reasons.ts";
import { type Answer, errorBody } from "../door/answer.ts";
import type { Control } from "../door/control.ts";
import { budgetOf } from "../door/execute.ts";
import { toControlError } from "../door/to-control-error.ts";

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
 * Answers an error. Who has shown a token pays for it as for the operation itself: a flood of
 * broken requests ends in 429.
 */
export async function sendRefusal(
  control: Control,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { services } = control;
  const requestId = randomUUID();
  const reason = reasonOf(error);
  let refusal = reason
    ? new ControlError(reason)
    : toControlError(error, services.log, { request_id: requestId, operation: null });
  let limits: Readonly<Record<string, string>> = {};
  if (request.caller && request.operation) {
    try {
      limits = await services.limiter.take(
        budgetOf(request.operation),
        request.caller.session.id,
        services.clock.now(),
      );
    } catch (over) {
      refusal = toControlError(over, services.log, { request_id: requestId, operation: null });
    }
  }
  return send(request, reply, { requestId, ...errorBody(refusal, requestId, limits) });
}

/**
 * Nothing of a provider's or user's data is kept by a browser or a proxy on the way, or taken for
 * something else than JSON.
 */
const envelopeHeaders = {
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
