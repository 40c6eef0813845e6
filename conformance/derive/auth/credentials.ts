/** What in a request proves who sends it, by the names that HTTP and its providers give it. */
import type { ProviderRequest } from "../../contract/network.ts";

export interface RequestCredential {
  /** As it is sent; the parts of Basic decoded. */
  readonly value: string;
  /**
   * "the header authorization", "the query parameter api_key", "the body parameter client_secret".
   */
  readonly place: string;
}

const credentialHeader =
  /^(proxy-)?authorization$|^cookie$|api-?key|(^|-)(auth|access|private|session|secret)?-?(token|secret|signature)$|(^|-)auth(-|$)/i;
const credentialParameter =
  /^(access_?token|refresh_?token|auth_?token|api_?token|token|api_?key|apikey|key|secret|client_?secret|password|passwd|signature|sig|assertion|client_assertion|code)$/i;

/** Every credential of a request and where it travels. */
export function credentialsOf({
  headers,
  url,
  body,
}: Pick<ProviderRequest, "headers" | "url" | "body">): RequestCredential[] {
  const named = (entries: Iterable<readonly [string, string]>, kind: string) =>
    [...entries].flatMap(([name, value]) =>
      credentialParameter.test(name) && value !== ""
        ? [{ value, place: `the ${kind} ${name}` }]
        : [],
    );
  return [
    ...Object.entries(headers).flatMap(([name, value]) =>
      credentialHeader.test(name)
        ? [{ value: basicDecoded(value), place: `the header ${name}` }]
        : [],
    ),
    ...(url.username + url.password === ""
      ? []
      : [
          {
            value: decodeURIComponent(`${url.username}:${url.password}`),
            place: "the URL's user information",
          },
        ]),
    ...named(url.searchParams, "query parameter"),
    ...named(bodyParameters(body), "body parameter"),
  ];
}

/** Whether a request asks a token endpoint for an access token (RFC 6749 section 4 and 6). */
export function isTokenRequest({
  method,
  url,
  body,
}: Pick<ProviderRequest, "method" | "url" | "body">): boolean {
  if (method !== "POST") return false;
  return (
    bodyParameters(body).some(([name]) => name === "grant_type") ||
    /\/(oauth2?\/)?(token|access_token)\/?$/.test(url.pathname)
  );
}

function basicDecoded(value: string): string {
  const encoded = /^basic\s+(\S+)$/i.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

/** Texts of a form, or of a JSON object. */
function bodyParameters(body: string): (readonly [string, string])[] {
  if (!/^\s*\{/.test(body)) return body.includes("=") ? [...new URLSearchParams(body)] : [];
  try {
    return Object.entries(JSON.parse(body) as object).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    );
  } catch {
    return [];
  }
}
