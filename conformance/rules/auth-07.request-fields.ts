/** The values of a request as the provider reads them: each decoded as its place demands. */
import type { JsonValue } from "svc-connectors";
import type { ProviderRequest } from "../contract/network.ts";

/**
 * By place: "header x-api-key", "Basic user", "Basic password", "query key", "body client_secret".
 * @param isTokenEndpoint there, both parts of Basic are form-encoded (RFC 6749 section 2.3.1)
 */
export function requestFields(
  { headers, url, body }: ProviderRequest,
  isTokenEndpoint: boolean,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    const encoded = /^basic\s+(\S+)$/i.exec(value)?.[1];
    if (encoded === undefined) fields.set(`header ${name}`, value);
    else
      for (const [part, text] of Object.entries(basicParts(encoded, isTokenEndpoint)))
        fields.set(`Basic ${part}`, text);
  }
  for (const [name, value] of url.searchParams) fields.set(`query ${name}`, value);
  for (const [index, segment] of url.pathname.split("/").entries())
    fields.set(`path segment ${index}`, decoded(segment));
  for (const [name, value] of bodyFields(body)) fields.set(`body ${name}`, value);
  return fields;
}

function basicParts(
  encoded: string,
  isTokenEndpoint: boolean,
): { readonly user: string; readonly password: string } {
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.includes(":") ? text.indexOf(":") : text.length;
  const read = isTokenEndpoint
    ? (part: string) => decoded(part.replaceAll("+", "%20"))
    : (part: string) => part;
  return { user: read(text.slice(0, colon)), password: read(text.slice(colon + 1)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A form's parameters, or the texts of a JSON document by path. */
function bodyFields(body: string): readonly (readonly [string, string])[] {
  if (!/^\s*[[{]/.test(body)) return [...new URLSearchParams(body)];
  try {
    return leaves(JSON.parse(body) as JsonValue, "");
  } catch {
    return [["(unreadable)", body]];
  }
}

function leaves(value: JsonValue, path: string): readonly (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([name, part]) =>
    leaves(part, path === "" ? name : `${path}.${name}`),
  );
}
