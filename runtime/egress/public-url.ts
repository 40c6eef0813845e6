import { ConnectorError } from "../contract/errors.ts";
import { type BaseUrlRule, isPublicHostName } from "./base-url.ts";

const maxUrlLength = 2_048;

/** RFC 3986 section 3.3. Dot segments are looked for apart. */
const publicUrl =
  /^https:\/\/([a-z0-9.-]+)(?::443)?((?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)$/i;
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Any https URL of the public Internet that a customer enters as the target of their own rows: a
 * host name (never an address), port 443, a path; no user-info, no query, no fragment. Where the
 * name leads is checked when it is dialled.
 * @throws BASE_URL_REFUSED with `field` and `rule`, never the value
 */
export function checkPublicUrl(raw: unknown, field: string): URL {
  const refuse = (rule: BaseUrlRule) => new ConnectorError("BASE_URL_REFUSED", { field, rule });
  if (typeof raw !== "string" || raw.length > maxUrlLength || /[\s\\\u0000-\u001f\u007f]/.test(raw))
    throw refuse("syntax");
  if (!/^https:\/\//i.test(raw)) throw refuse("scheme");
  const authority = /^[^/?#]*/.exec(raw.slice("https://".length))?.[0] ?? "";
  if (authority.includes("@")) throw refuse("userinfo");
  if (raw.includes("#")) throw refuse("fragment");
  if (raw.includes("?")) throw refuse("query");
  if (/:(?!443$)[^\]]*$/.test(authority)) throw refuse("port");
  const [, host = "", path = ""] = publicUrl.exec(raw) ?? [];
  const url = URL.parse(raw);
  if (
    host === "" ||
    url === null ||
    url.hostname !== host.toLowerCase() ||
    !isPublicHostName(url.hostname)
  )
    throw refuse("host");
  // The parser's URL must be the one that was read here.
  if (dotSegment.test(path) || url.pathname !== (path === "" ? "/" : path)) throw refuse("path");
  return url;
}
