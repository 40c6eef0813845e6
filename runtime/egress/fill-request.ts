/** The last step of a request that holds placeholders: the secrets come in, place by place. */
import { ConnectorError } from "../contract/errors.ts";
import { minSecretCharacters } from "../filter/secret-views.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import { inForm, inJson, inUrl, type PlaceholderRegistry } from "./placeholders.ts";
import { isHeaderValue, type RequestHeaders } from "./request-headers.ts";
import type { TransportRequest } from "./transport.ts";

/**
 * The request with each placeholder replaced by its secret: in the path, in the query, in header
 * values, in HTTP Basic, which is taken apart and made again, and in bodies, written as the content
 * type asks. Its host stays as it is. A placeholder that was cut or encoded otherwise stays too.
 * @throws CONFIG_INVALID when a secret cannot stand where its placeholder does
 */
export function fillRequest(
  request: TransportRequest,
  placeholders: PlaceholderRegistry,
  secrets: SecretRegistry,
): TransportRequest {
  const { url, headers, body } = request;
  return {
    ...request,
    url: fillUrl(url, placeholders),
    headers: fillHeaders(headers, placeholders, secrets),
    body: body && fillBody(body, headers["content-type"] ?? "", placeholders),
  };
}

function fillUrl(url: URL, placeholders: PlaceholderRegistry): URL {
  const path = placeholders.fill(url.pathname, inUrl);
  const search = placeholders.fill(url.search, inUrl);
  const filled = new URL(`${url.origin}${path}${search}`);
  if (filled.pathname !== path || filled.search !== search) throw unsendable("the URL");
  return filled;
}

function fillHeaders(
  headers: RequestHeaders,
  placeholders: PlaceholderRegistry,
  secrets: SecretRegistry,
): RequestHeaders {
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const basic = name === "authorization" ? /^(Basic +)(\S+)$/i.exec(value) : null;
    filled[name] = basic
      ? `${basic[1]}${fillBasic(basic[2] ?? "", placeholders, secrets)}`
      : placeholders.fill(value);
    if (!isHeaderValue(filled[name])) throw unsendable("a header");
  }
  return filled;
}

/** RFC 7617: the base64 of a name and a password, in UTF-8. */
function fillBasic(
  encoded: string,
  placeholders: PlaceholderRegistry,
  secrets: SecretRegistry,
): string {
  const plain = Buffer.from(encoded, "base64").toString("utf8");
  if (!placeholders.isIn(plain)) return placeholders.fill(encoded);
  let hasShort = false;
  const filled = placeholders.fill(plain, (secret) => {
    hasShort ||= secret.length < minSecretCharacters;
    return secret;
  });
  const made = Buffer.from(filled).toString("base64");
  // A longer one is found in base64 at any offset; the connector chooses what stands before it.
  if (hasShort) secrets.add(made);
  return made;
}

function fillBody(body: Buffer, contentType: string, placeholders: PlaceholderRegistry): Buffer {
  const text = body.toString("utf8");
  if (!placeholders.isIn(text)) return body;
  const [type = ""] = contentType.toLowerCase().split(";");
  if (/^application\/(?:[\w.-]+\+)?json\s*$/.test(type))
    return Buffer.from(placeholders.fill(text, inJson));
  if (/^application\/x-www-form-urlencoded\s*$/.test(type))
    return Buffer.from(placeholders.fill(text, inForm));
  return Buffer.from(placeholders.fill(text));
}

const unsendable = (place: string) =>
  new ConnectorError("CONFIG_INVALID", {
    path: "a secret setting",
    problem: `holds what cannot be sent in ${place}, for instance a line break`,
  });
