/** Requests for a token. */
import type { ProviderRequest } from "../../contract/network.ts";

/** True when a request asks a token endpoint for an access token (RFC 6749 section 4 and 6). */
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
