/** GET /metrics: for Prometheus, beside the API. */
import { createServer, type Server } from "node:http";
import { isIP } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ControlError } from "../contract/reasons.ts";
import type { Control } from "../door/control.ts";
import { selectMemberships } from "../door/memberships.ts";
import type { Services } from "../services/services.ts";

const path = "/metrics";
const contentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * They are of the whole instance: given to who is on this machine, and to who administers all
 * workspaces.
 */
export function addMetrics(server: FastifyInstance, control: Control): void {
  server.get(path, async (request, reply) => {
    if (!isLocal(request)) await requireAdministrator(control, request);
    return reply
      .headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" })
      .type(contentType)
      .send(await control.services.telemetry.scrape());
  });
}

/**
 * A server for metrics alone, without tokens: the operator says where it listens, and who gets
 * there. It does not listen yet.
 */
export function createMetricsServer({ telemetry }: Pick<Services, "telemetry">): Server {
  return createServer((request, response) => {
    const isScrape = request.method === "GET" && request.url?.split("?")[0] === path;
    if (!isScrape) return void response.writeHead(404).end();
    telemetry.scrape().then(
      (text) =>
        response
          .writeHead(200, { "content-type": contentType, "cache-control": "no-store" })
          .end(text),
      () => response.writeHead(500).end(),
    );
  });
}

/**
 * From this machine, and not for somebody else: a proxy beside the server connects from here too,
 * and so does a browser that a page of others has led here by a name of its own.
 */
function isLocal({ raw, headers, hostname }: FastifyRequest): boolean {
  const isForwarded = ["forwarded", "via", "x-forwarded-for", "x-real-ip"].some(
    (name) => headers[name] !== undefined,
  );
  return (
    !isForwarded &&
    isLoopback(raw.socket.remoteAddress ?? "") &&
    (hostname === "localhost" || isLoopback(hostname))
  );
}

function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").replace(/^::ffff:/, "");
  return bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** @throws unauthenticated, rate_limited, permission_denied */
async function requireAdministrator(control: Control, request: FastifyRequest): Promise<void> {
  const { services } = control;
  const facts = {
    authorization: request.headers.authorization,
    client: undefined,
    ip: request.ip,
    userAgent: null,
  };
  const caller = await control.authenticate(facts).catch(async (error: unknown) => {
    await services.limiter.take("anonymous", request.ip, services.clock.now());
    throw error;
  });
  await services.limiter.take("read", caller.session.id, services.clock.now());
  const { db } = services.database;
  // A token of a lower role administers nothing.
  const { role } = caller.session;
  const others = await db
    .selectFrom("workspaces")
    .select("id")
    .where("deleted_at", "is", null)
    .where(
      "id",
      "not in",
      selectMemberships(db, caller).select("workspace_id").where("role", "=", "admin"),
    )
    .executeTakeFirst();
  if (!caller.session.scopes.includes("control:admin") || (role && role !== "admin") || others)
    throw new ControlError("permission_denied");
}
