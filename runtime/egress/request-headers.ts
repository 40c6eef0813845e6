import { ConnectorError, type ErrorCode } from "../contract/errors.ts";

/** RFC 9110 section 5.1 (token) and 5.5 (field value), without the obsolete line folding. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Header fields that the host alone sets: authentication, addressing, connection and framing (RFC
 * 9110 section 7.6), and tricks around the method.
 */
const hostOnly = new Set([
  ...[
    "authorization",
    "authentication-info",
    "cookie",
    "cookie2",
    "set-cookie",
    "host",
    "origin",
    "referer",
  ],
  ...[
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "content-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
  ],
  ...[
    "accept-encoding",
    "via",
    "forwarded",
    "http2-settings",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
  ],
]);
const hostOnlyPrefixes = ["proxy-", "x-forwarded-", "sec-", ":"];

/** Whether a header field, by its lower-case name, is one that the host alone sets. */
export const isHostHeader = (name: string): boolean =>
  hostOnly.has(name) || hostOnlyPrefixes.some((prefix) => name.startsWith(prefix));

export type RequestHeaders = { readonly [name: string]: string };

/**
 * Header fields of a connector with lower-case names.
 * @param authNames lower-case names that authentication sets.
 * @param own names of the host's that this connector may set besides: it has no secret to set.
 * @throws `code` when a field is the host's, or cannot be a header field.
 */
export function checkHeaders(
  headers: unknown,
  authNames: ReadonlySet<string>,
  code: ErrorCode,
  own: ReadonlySet<string> = new Set(),
): RequestHeaders {
  const checked: Record<string, string> = {};
  const refuse = (problem: string) => new ConnectorError(code, { path: "headers", problem });
  if (typeof headers !== "object" || headers === null)
    throw refuse("request headers must be an object");
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!headerName.test(name)) throw refuse("a request header's name is not valid");
    if ((isHostHeader(name) && !own.has(name)) || authNames.has(name)) {
      throw refuse("a request header is one that only the host sets");
    }
    if (!isHeaderValue(value)) throw refuse("a request header's value is not valid");
    checked[name] = value;
  }
  return checked;
}

/** True for text without line breaks that a header field can carry. */
export function isHeaderValue(value: unknown): value is string {
  return typeof value === "string" && headerValue.test(value);
}
