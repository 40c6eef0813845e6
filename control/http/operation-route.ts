import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Caller, isStream, type Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { anonymousCaller } from "../door/authenticate.ts";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { consoleTokenOf } from "./console-cookie.ts";
import { accepts, controlHeadersOf, factsOf } from "./headers.ts";
import { send } from "./refusals.ts";
import type { Streams } from "./streams.ts";

/** The signal of requests that nobody stops. */
const endless = new AbortController().signal;

/** The route of an operation: what HTTP says, handed to the door. */
export function addOperation(
  server: FastifyInstance,
  control: Control,
  operation: Operation,
  { answerTimeoutMs, streams }: { readonly answerTimeoutMs: number; readonly streams: Streams },
): void {
  // Reads wait for the database alone, which has time limits of its own.
  const isBounded = operation.effect !== "read";
  server.route({
    method: operation.method,
    config: { operation },
    ...(isBounded ? { handlerTimeout: answerTimeoutMs } : {}),
    // A stream has an end only when somebody listens.
    ...(isStream(operation) ? { exposeHeadRoute: false } : {}),
    url: basePath + operation.path.replace(/\{(\w+)\}/g, ":$1"),
    // Before the body is read: who has no token sends none.
    onRequest: async (request) => {
      const type = isStream(operation) ? operation.media : "application/json";
      if (!accepts(request, type)) throw new ControlError("not_acceptable");
      request.caller = await callerOf(control, request, operation.access);
    },
    handler: async (request, reply) => {
      const { caller } = request;
      if (!caller) throw new ControlError("internal");
      if (isStream(operation)) streams.takePlace(caller, reply);
      request.isSettled = true;
      const params = request.params as Record<string, string>;
      const answer = await control.execute(
        operation,
        {
          // Made of what was understood: however the address was spelt, an Idempotency-Key finds
          // its first request.
          path:
            basePath +
            operation.path.replace(/\{(\w+)\}/g, (_, name) =>
              encodeURIComponent(params[name] ?? ""),
            ),
          params,
          query: request.query as Record<string, unknown>,
          body: Buffer.isBuffer(request.body) ? request.body : undefined,
          headers: controlHeadersOf(request),
          signal: isBounded ? untilAnswered(reply) : endless,
        },
        caller,
      );
      if (reply.sent) return reply;
      return answer.stream
        ? streams.send(request, reply, answer, answer.stream)
        : send(request, reply, answer);
    },
  });
}

/** Made once: nobody looks at it, and an abort without a reason makes one with a stack. */
const over = new ControlError("overloaded");

/**
 * Aborts when the sender has gone, or when the answer has been sent for it, as after its time was
 * over. (Fastify's own signal also aborts when the body of a request has been read.)
 */
export function untilAnswered({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once("close", () => controller.abort(over));
  return controller.signal;
}

/** @throws unauthenticated, invalid_header; rate_limited when an address has tried too often */
async function callerOf(
  control: Control,
  request: FastifyRequest,
  access: Operation["access"],
): Promise<Caller> {
  const { services } = control;
  try {
    return access === "open"
      ? anonymousCaller(factsOf(request))
      : await control.authenticate({
          ...factsOf(request),
          consoleToken: consoleTokenOf(request, services.settings.publicUrl),
        });
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    const limits = await services.limiter.take("anonymous", request.ip, services.clock.now());
    throw new ControlError(error.reason, error.details, { ...error.headers, ...limits });
  }
}
