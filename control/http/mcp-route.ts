import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import {
  createMcpHandler,
  localhostAllowedOrigins,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { refuse } from "../door/refuse.ts";
import { createMcpServer, createTools, type WayToDoor } from "../mcp/server.ts";
import { untilAnswered } from "./operation-route.ts";

/** Where agents find the tools. */
export const mcpPath = "/mcp";
const metadataPath = `/.well-known/oauth-protected-resource${mcpPath}`;

/**
 * Adds the agent interface: streamable HTTP, for clients of the stateless protocol and of the ones
 * before it.
 */
export function addMcp(server: FastifyInstance, control: Control): void {
  const { settings, limiter, clock } = control.services;
  const tools = createTools(control.operations);
  const handler = createMcpHandler(
    ({ authInfo }) => createMcpServer(tools, doorOf(control, authInfo?.extra?.caller as Caller)),
    { onerror: () => undefined },
  );
  server.addHook("onClose", () => handler.close());
  server.route({
    method: ["POST", "GET", "DELETE"],
    url: mcpPath,
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      requireOrigin(request, settings.publicUrl);
      const caller = await authenticate(control, request);
      request.caller = caller;
      // The operation of a tool is paid for beside it, at the door.
      reply.headers(await limiter.take("read", caller.session.id, clock.now()));
    },
    handler: async (request, reply) => {
      const { caller } = request;
      if (!caller) throw new ControlError("internal");
      const authInfo = {
        token: "",
        clientId: caller.session.id,
        scopes: [...caller.session.scopes],
        extra: { caller },
      };
      return await sendResponse(
        reply,
        await handler.fetch(
          toWebRequest(request, originOf(request, settings.publicUrl), untilAnswered(reply)),
          {
            authInfo,
          },
        ),
      );
    },
  });
  // RFC 9728: which tokens are taken here. They are made by the operator, not by a server that
  // could be named.
  server.get(metadataPath, { exposeHeadRoute: false }, async (request, reply) => {
    const resource = `${originOf(request, settings.publicUrl)}${mcpPath}`;
    const scopes_supported = ["control:read", "control:write", "control:approve", "control:admin"];
    return reply.send({
      resource,
      resource_name: "svc",
      scopes_supported,
      bearer_methods_supported: ["header"],
    });
  });
}

/** The door, as the caller. */
const doorOf = (control: Control, caller: Caller): WayToDoor => ({
  async ask({ operation, params, query, body, executionMode, idempotencyKey }, signal) {
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const request = {
      path: basePath + path,
      params,
      query,
      // As bytes: the door looks at them as at those of any request.
      body: body && Buffer.from(JSON.stringify(body)),
      headers: { executionMode, idempotencyKey },
      signal,
    };
    const answer = await control.execute(operation, request, caller);
    return { status: answer.status, text: answer.body };
  },
  async refuse(operation, args, refusal) {
    const params = Object.fromEntries(
      Object.entries(args).filter(([, value]) => typeof value === "string"),
    );
    const request = { params, query: {}, headers: {} };
    return (await refuse(control.services, operation, request, caller, refusal)).body;
  },
});

/**
 * Whoever comes this way is an agent, whatever their token was made for.
 * @throws unauthenticated with the place where the resource describes itself · rate_limited
 */
async function authenticate(control: Control, request: FastifyRequest): Promise<Caller> {
  const { services } = control;
  const { authorization, "user-agent": userAgent } = request.headers;
  try {
    return await control.authenticate({
      authorization,
      client: "mcp",
      ip: request.ip,
      userAgent: userAgent?.slice(0, 300) ?? null,
    });
  } catch (error) {
    if (!(error instanceof ControlError) || error.reason !== "unauthenticated") throw error;
    await services.limiter.take("anonymous", request.ip, services.clock.now());
    const metadata = `${originOf(request, services.settings.publicUrl)}${metadataPath}`;
    const challenge = `Bearer realm="svc", resource_metadata="${metadata}", scope="control:read control:write"`;
    throw new ControlError("unauthenticated", {}, { "www-authenticate": challenge });
  }
}

/**
 * A browser says from which page it asks; pages of others are refused.
 * @throws origin_not_allowed
 */
function requireOrigin({ headers }: FastifyRequest, publicUrl: string | undefined): void {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  if (!validateOriginHeader(headers.origin, [...own, ...localhostAllowedOrigins()]).ok)
    throw new ControlError("origin_not_allowed");
}

/**
 * How the server is reached. Without a setting, as the request has it: only who has sent it is
 * told.
 */
function originOf({ protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const named = `${protocol}://${host}`;
  return URL.canParse(named) ? new URL(named).origin : `${protocol}://localhost`;
}

function toWebRequest(request: FastifyRequest, origin: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (
      value !== undefined &&
      !/^(connection|content-length|transfer-encoding|authorization)$/.test(name)
    )
      headers.set(name, Array.isArray(value) ? value.join(",") : value);
  const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : undefined;
  const { method } = request;
  return new Request(new URL(mcpPath, origin), {
    method,
    headers,
    signal,
    ...(body ? { body } : {}),
  });
}

async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  for (const [name, value] of response.headers) reply.header(name, value);
  reply
    .code(response.status)
    .header("cache-control", "no-store")
    .header("x-content-type-options", "nosniff");
  if (response.body === null) return reply.send();
  if (response.headers.get("content-type")?.startsWith("text/event-stream"))
    return reply.send(Readable.fromWeb(response.body as ReadableStream));
  return reply.send(Buffer.from(await response.arrayBuffer()));
}
