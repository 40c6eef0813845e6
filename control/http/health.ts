import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ControlError } from "../contract/reasons.ts";
import type { Control } from "../door/control.ts";
import { send } from "./refusals.ts";

/** Who asks whether a server is ready does not wait longer. */
const readyTimeoutMs = 2_000;

/**
 * For who runs the server, beside the API and without a token: /healthz says that the process
 * answers, /readyz that requests can be served.
 */
export function addHealth(server: FastifyInstance, { services }: Control): void {
  const { database, sandbox } = services;
  const isReady = async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, readyTimeoutMs, false);
    try {
      return await Promise.race([database.isReady(), promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  server.get("/healthz", (request, reply) => answer(request, reply, { status: "alive" }));
  server.get("/readyz", async (request, reply) => {
    if (!(await isReady())) throw new ControlError("not_ready", {}, { "retry-after": "1" });
    return answer(request, reply, { status: "ready", database: database.kind, sandbox });
  });
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  data: Readonly<Record<string, string>>,
): FastifyReply {
  const requestId = randomUUID();
  return send(request, reply, {
    requestId,
    status: 200,
    headers: {},
    body: JSON.stringify({ request_id: requestId, data }),
  });
}
