/** The cookie of the console's session, and which requests it counts for. */
import type { FastifyRequest } from "fastify";
import { headerOf } from "./headers.ts";

/**
 * Every request of the console has it. A page of another origin cannot send it without asking
 * first, and is never allowed to.
 */
const consoleHeader = "x-svc-console";

/**
 * Over TLS the prefix keeps other hosts of the same domain from setting it. Without TLS, on one's
 * own machine, it is named after the port: a browser sends cookies to all ports of a host.
 */
export function cookieName(request: FastifyRequest): string {
  if (request.protocol === "https") return "__Host-svc_console";
  const [, port = "80"] = /:(\d{1,5})$/.exec(request.host) ?? [];
  return `svc_console_${port}`;
}

/** Without a script's reach, and for requests that a page of this very site makes. */
export const cookie = (request: FastifyRequest, value: string, maxAgeS: number): string =>
  [
    `${cookieName(request)}=${value}`,
    "Path=/",
    `Max-Age=${maxAgeS}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(request.protocol === "https" ? ["Secure"] : []),
  ].join("; ");

/** The cookie's value; undefined also when it stands there twice. */
function cookieOf(request: FastifyRequest): string | undefined {
  const name = `${cookieName(request)}=`;
  const found = (request.headers.cookie ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one.startsWith(name));
  return found.length === 1 ? found[0]?.slice(name.length) : undefined;
}

/**
 * Whether a page of this server asks. The header alone cannot come from another origin; browsers
 * say besides where a request comes from, and a write must say it.
 */
export function isOwnPage(request: FastifyRequest, publicUrl: string | undefined): boolean {
  if (headerOf(request, consoleHeader) !== "1") return false;
  const site = headerOf(request, "sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const { origin } = request.headers;
  if (origin !== undefined && !isOwnOrigin(origin, request, publicUrl)) return false;
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead || site !== undefined || origin !== undefined;
}

const isOwnOrigin = (
  origin: string,
  { protocol, host }: FastifyRequest,
  publicUrl: string | undefined,
): boolean =>
  origin === `${protocol}://${host}` ||
  (publicUrl !== undefined && origin === new URL(publicUrl).origin);

/** The cookie's value, for requests of the console's own pages. */
export const consoleTokenOf = (
  request: FastifyRequest,
  publicUrl: string | undefined,
): string | undefined => (isOwnPage(request, publicUrl) ? cookieOf(request) : undefined);
