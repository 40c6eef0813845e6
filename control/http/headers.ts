/** Rules for the headers of a request, which hold before anything else of it is looked at. */
import type { FastifyRequest } from "fastify";
import type { StreamMedia } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { RequestFacts } from "../door/authenticate.ts";
import type { ControlHeaders } from "../door/execute.ts";

/** Two of them are a mistake, or an attempt to show a proxy one and this server another. */
const single: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  "last-event-id",
  "x-client-request-id",
  "x-svc-client",
  "x-svc-workspace-id",
]);

/** @throws invalid_header, malformed_request, unsupported_media_type */
export function checkHeaders({ raw }: FastifyRequest): void {
  const { rawHeaders, headers, httpVersion } = raw;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name))
      throw new ControlError("invalid_header", { header: name, problem: "stands twice" });
    seen.add(name);
  }
  if (headers.host === undefined && httpVersion === "1.1")
    throw new ControlError("malformed_request");
  // Bodies come as they are (RFC 9110, section 15.5.16).
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? ""))
    throw new ControlError(
      "unsupported_media_type",
      { problem: "the body must come without a content-encoding" },
      { "accept-encoding": "identity" },
    );
}

/** A header as one text; one that may stand several times comes joined. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

/** The claims of a request about itself. */
export const factsOf = (request: FastifyRequest): RequestFacts => ({
  authorization: request.headers.authorization,
  client: headerOf(request, "x-svc-client"),
  ip: request.ip,
  userAgent: request.headers["user-agent"]?.slice(0, 300) ?? null,
});

/** The headers that mean something to an operation. */
export const controlHeadersOf = (request: FastifyRequest): ControlHeaders => ({
  workspaceId: headerOf(request, "x-svc-workspace-id"),
  executionMode: headerOf(request, "x-svc-execution-mode"),
  idempotencyKey: headerOf(request, "idempotency-key"),
  ifMatch: headerOf(request, "if-match"),
  lastEventId: headerOf(request, "last-event-id"),
  traceparent: headerOf(request, "traceparent"),
});

/** Whether the sender can read what is sent. `q=0` means: not this. */
export function accepts(
  request: FastifyRequest,
  type: "application/json" | "text/html" | StreamMedia,
): boolean {
  const { accept = "" } = request.headers;
  if (accept.trim() === "") return true;
  const [family] = type.split("/");
  const ranges = accept.split(",").map((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return { name, isRefused: parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter)) };
  });
  const closest = [type, `${family}/*`, "*/*"]
    .map((wanted) => ranges.find(({ name }) => name === wanted))
    .find((range) => range !== undefined);
  return closest !== undefined && !closest.isRefused;
}

/** The id that the sender gave the request, for the log; only when it looks like one. */
export function clientRequestId(request: FastifyRequest): string | undefined {
  const id = headerOf(request, "x-client-request-id");
  return id !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(id) ? id : undefined;
}
