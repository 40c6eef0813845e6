/**
 * The rule for a base URL that a customer types in. Pure: no look-up, no socket, and a refusal
 * never quotes the value, which may hold a password. What the host resolves to is the guard's
 * question (guard.ts).
 */
import { ConnectorError } from "../contract/errors.ts";

/** The rule that a refused URL breaks; the only thing that a refusal says of it. */
export type BaseUrlRule =
  | "syntax"
  | "scheme"
  | "userinfo"
  | "query"
  | "fragment"
  | "port"
  | "host"
  | "path"
  | "not_approved";

export interface BaseUrlOptions {
  /** Exact names, or `*.suffix` for exactly one label. */
  readonly approvedHosts: readonly string[];
  /** One or more plain segments that the path must end with, for instance "/api". */
  readonly pathEnd: string;
  /** Name of the setting, for the error. */
  readonly field: string;
}

/** Longer URLs are refused before they are looked at. */
const maxUrlLength = 2_048;
/** Longest host name (RFC 1035 section 2.3.4, without the root dot). */
const maxHostLength = 253;

/**
 * Letters, digits and inner hyphens, at most 63 (RFC 1123 section 2.1). Names in other scripts come
 * as A-labels.
 */
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const hostGrammar = new RegExp(`^(?:${label}\\.)+${label}$`);
const urlGrammar = new RegExp(
  `^[Hh][Tt][Tt][Pp][Ss]://((?:${label}\\.)+${label})(?::443)?((?:/[A-Za-z0-9._-]+)+)$`,
);
const pathEndGrammar = /^(?:\/[A-Za-z0-9._-]+)+$/;
const dotSegment = /\/\.+(?:\/|$)/;

/**
 * Last labels that never lead to the public Internet: RFC 6761, 6762, 7686, 8375, 9476, ICANN's
 * `internal`, and names in common private use.
 */
const reservedTopLabels = new Set(
  "localhost local internal intranet lan home corp private mail localdomain test invalid example onion alt arpa svc default".split(
    " ",
  ),
);

/**
 * Zones that are refused whoever approved them: public names of cloud metadata services, and DNS
 * zones whose names spell out any address. Other names that resolve to private space are the
 * guard's to refuse, when it sees the address.
 */
const refusedZones = [
  "metadata.tencentyun.com",
  "metadata.goog",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "nip.io",
  "sslip.io",
  "xip.io",
  "localtest.me",
  "lvh.me",
] as const;

/**
 * The canonical form of an approved base URL: `https://` + lower-case host + path, without the
 * port. Store this, never what was typed. Run it again whenever the URL is about to be used: an
 * approval may have been withdrawn.
 * @throws BASE_URL_REFUSED with `field` and `rule`, never the value · CONNECTOR_INVALID when
 * `pathEnd` is not a path
 */
export function checkBaseUrl(
  raw: unknown,
  { approvedHosts, pathEnd, field }: BaseUrlOptions,
): string {
  if (!pathEndGrammar.test(pathEnd) || dotSegment.test(pathEnd)) {
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress.baseUrl.pathEnd",
      problem: 'must look like "/api"',
    });
  }
  const refuse = (rule: BaseUrlRule) => new ConnectorError("BASE_URL_REFUSED", { field, rule });
  if (typeof raw !== "string" || raw.length > maxUrlLength) throw refuse("syntax");

  // One anchored grammar on the raw text leaves nothing over which two URL parsers could disagree.
  const [, rawHost, path] = urlGrammar.exec(raw) ?? [];
  if (rawHost === undefined || path === undefined) throw refuse(brokenRule(raw));
  if (dotSegment.test(path) || !path.endsWith(pathEnd)) throw refuse("path");

  const host = rawHost.toLowerCase();
  const canonical = `https://${host}${path}`;
  if (!isParsedAs(raw, host, canonical) || !isPublicHostName(host)) throw refuse("host");
  if (!approvedHosts.some((entry) => covers(entry.toLowerCase(), host)))
    throw refuse("not_approved");
  return canonical;
}

/**
 * The operator's approved hosts in lower case. Call it at start-up: a list with an entry that could
 * never be safe is refused as a whole, so that nobody takes it for approved.
 * @throws CONFIG_INVALID with the path `approved_hosts` and the number of the entry
 */
export function checkApprovedHosts(entries: readonly unknown[]): readonly string[] {
  return entries.map((entry, index) => {
    const name = typeof entry === "string" ? entry.toLowerCase().replace(/^\*\./, "") : "";
    const rule = !hostGrammar.test(name)
      ? "syntax"
      : isPublicHostName(name) && isParsedAs(`https://${name}/`, name)
        ? undefined
        : "host";
    if (rule)
      throw new ConnectorError("CONFIG_INVALID", {
        path: "approved_hosts",
        problem: `entry ${index + 1} breaks the rule ${rule}`,
      });
    return String(entry).toLowerCase();
  });
}

/**
 * Whether the WHATWG parser sees in the text what the grammar saw. It turns `0x7f.1` into an
 * address and decodes A-labels.
 */
function isParsedAs(raw: string, host: string, canonical = `https://${host}/`): boolean {
  const url = URL.parse(raw);
  return (
    url !== null &&
    url.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "" &&
    url.port === "" &&
    url.hostname === host &&
    url.href === canonical
  );
}

/**
 * Whether a lower-case name of at least two labels can be a host of the public Internet; an IP
 * literal never is.
 */
export function isPublicHostName(host: string): boolean {
  const labels = host.split(".");
  const top = labels.at(-1) ?? "";
  return (
    host.length <= maxHostLength &&
    labels.length >= 2 &&
    !/^(?:\d+|0x[0-9a-f]*)$/.test(top) &&
    !reservedTopLabels.has(top) &&
    !labels.includes("localhost") &&
    !refusedZones.some((zone) => host === zone || host.endsWith(`.${zone}`))
  );
}

/** `*.suffix` covers exactly one label in front of the suffix. */
function covers(entry: string, host: string): boolean {
  if (!entry.startsWith("*.")) return entry === host;
  return host.slice(host.indexOf(".")) === entry.slice(1);
}

/**
 * Names what a text outside the grammar breaks first, for the person who typed it. It decides
 * nothing.
 */
function brokenRule(raw: string): BaseUrlRule {
  if (/[\u0000-\u0020\u007f\\]/.test(raw)) return "syntax";
  const rest = /^https:\/\/(.*)$/is.exec(raw)?.[1];
  if (rest === undefined) return /^https(?![^:])/i.test(raw) ? "syntax" : "scheme";
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  if (authority.includes("@")) return "userinfo";
  if (rest.includes("#")) return "fragment";
  if (rest.includes("?")) return "query";
  const [, host = "", port] = /^(\[.*\]|[^:]*)(:.*)?$/s.exec(authority) ?? [];
  if (!hostGrammar.test(host)) return "host";
  return port !== undefined && port !== ":443" ? "port" : "path";
}
