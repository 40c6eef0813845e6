import type { ApprovedUrl } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { NetworkSeams, NetworkSettings } from "../contract/network.ts";
import { schemaOf } from "../spec/egress-fields.ts";
import { parseLocalUrl } from "../spec/local-url.ts";
import { isSlash, withoutEnd } from "../wire/without-end.ts";
import { checkBaseUrl } from "./base-url.ts";
import { configText } from "./config-field.ts";

/** One DNS label: what a config value may put into a URL template. */
const singleLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Where requests of a run go. */
export interface BaseUrl {
  readonly url: URL;
  /** On this machine, as declared: the guard opens loopback addresses for it, and no others. */
  readonly isLocal: boolean;
}

/**
 * The declared base URL for this configuration, without a slash at the end.
 * @param local whether it may be on this machine, or what stands in for it there
 * @throws LOCAL_REFUSED · BASE_URL_REFUSED a customer's URL that is not approved · CONFIG_INVALID a
 * value that does not fit into the template · CONNECTOR_INVALID a template that gives no plain
 * https URL
 */
export function resolveBaseUrl(
  baseUrl: string | ApprovedUrl,
  config: JsonObject,
  settings: NetworkSettings,
  spec?: JsonObject,
  local: { readonly isAllowed: boolean; readonly standIn?: NetworkSeams["standIn"] | undefined } = {
    isAllowed: false,
  },
): BaseUrl {
  if (typeof baseUrl === "string") {
    const url = parseLocalUrl(baseUrl);
    if (!url) return { url: fillDeclared(baseUrl, config, spec, settings), isLocal: false };
    if (local.standIn) return { url: local.standIn(url), isLocal: false };
    if (!local.isAllowed) throw new ConnectorError("LOCAL_REFUSED");
    return { url, isLocal: true };
  }
  const { field, pathEnd, approvedHosts = [] } = baseUrl;
  const raw = configText(config, field);
  const checked = checkBaseUrl(raw, {
    approvedHosts: [...approvedHosts, ...settings.approvedHosts],
    pathEnd,
    field,
  });
  return { url: new URL(checked), isLocal: false };
}

/**
 * `https://{environment}.example.com/v2` with every `{field}` replaced by its config value: one
 * label of a host, or several ("com.au") when they stand in the enum of the spec.
 * @throws CONFIG_INVALID, CONNECTOR_INVALID
 */
export function fillTemplate(template: string, config: JsonObject, spec: JsonObject = {}): URL {
  const filled = template.replace(/\{([^{}]*)\}/g, (_, field: string) => {
    const value = configText(config, field);
    const choices = schemaOf(spec, field)?.enum;
    const labels = Array.isArray(choices) && choices.includes(value) ? value.split(".") : [value];
    if (labels.every((label) => singleLabel.test(label))) return value.toLowerCase();
    throw new ConnectorError("CONFIG_INVALID", {
      path: field,
      problem: "may hold letters, digits and hyphens only",
    });
  });
  const url = URL.parse(filled);
  const isPlain =
    url?.protocol === "https:" &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "";
  if (!url || !isPlain || !url.hostname.includes(".")) {
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress",
      problem: "a URL must be https, with a host and a path only",
    });
  }
  url.pathname = withoutEnd(url.pathname, isSlash);
  return url;
}

/** A host that is nothing but a setting. */
const wholeHost = /^https:\/\/\{([^{}]+)\}(?=\/|$)/;

/**
 * As {@link fillTemplate}; where a setting is the whole host, the customer may type it in, as a
 * name or in a URL, when it is one that the spec names as a choice or default, or that the operator
 * has approved.
 * @throws BASE_URL_REFUSED with `field` and `rule`, never the value
 */
export function fillDeclared(
  template: string,
  config: JsonObject,
  spec: JsonObject | undefined,
  settings: NetworkSettings,
): URL {
  const [whole, field] = wholeHost.exec(template) ?? [];
  if (whole === undefined || field === undefined) return fillTemplate(template, config, spec);
  const schema = schemaOf(spec ?? {}, field);
  const named = [...(Array.isArray(schema?.enum) ? schema.enum : []), schema?.default]
    .filter((one) => typeof one === "string")
    .map(hostIn);
  const typed = hostIn(configText(config, field));
  const checked = checkBaseUrl(typed.includes("://") ? typed : `https://${typed}/x`, {
    approvedHosts: [...named, ...settings.approvedHosts],
    ...{ pathEnd: "/x", field },
  });
  return fillTemplate(new URL(checked).origin + template.slice(whole.length), config, spec);
}

/** The host of an https URL, or the text before a path. */
const hostIn = (text: string): string => {
  const bare = text.trim().replace(/^https:\/\//i, "");
  return bare.includes("://") ? bare : bare.replace(/\/.*$/s, "");
};

/**
 * The URL of a request: each segment encoded and joined to the base, then the query in its order.
 * `new URL(path, base)` leaves the host for `//evil` and the path for `../x`; this never does.
 * @throws CONNECTOR_PROTOCOL when a segment or parameter cannot be part of a URL.
 */
export function requestUrl(
  base: URL,
  path: readonly (string | number)[],
  query: { readonly [name: string]: JsonValue | undefined } = {},
): URL {
  const prefix = base.pathname === "/" ? "" : base.pathname;
  const pathname = path.reduce<string>(
    (joined, segment) => `${joined}/${encodeSegment(segment)}`,
    prefix,
  );
  const search = encodeQuery(query);
  const url = new URL(`${base.origin}${pathname}${search === "" ? "" : `?${search}`}`);
  if (!isUnder(base, url) || url.pathname !== (pathname === "" ? "/" : pathname))
    throw refused("the path leaves the base URL");
  return url;
}

/** Longer URLs are refused before they are looked at. */
const maxUrlLength = 16_384;

/** A segment of dots, and what the parser of URLs takes for a slash, in a path as it is written. */
const leadsElsewhere = /\/(?:\.|%2e){1,2}(?=\/|$)|\\/i;

/**
 * A whole URL that a connector names, with the query behind its own; a part behind # is left out.
 * Its path may be made of values, as a manifest makes it: none leads to another path.
 * @param origins declared ones, and where each of them leads
 * @throws CONNECTOR_PROTOCOL when its host is not declared, or its path is not the one it seems
 */
export function declaredUrl(
  text: string,
  query: { readonly [name: string]: JsonValue | undefined } | undefined,
  origins: ReadonlyMap<string, string>,
): URL {
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  const origin = url && origins.get(url.origin);
  if (!url || origin === undefined || url.username !== "" || url.password !== "")
    throw refused("a request goes to a host that the connector does not declare");
  const [path = ""] = text.split(/[?#]/);
  if (/[\t\n\r]/.test(text) || leadsElsewhere.test(path))
    throw refused("a value in the path of a URL would lead to another path");
  const more = encodeQuery(query ?? {});
  const search = [url.search.slice(1), more].filter((part) => part !== "").join("&");
  return new URL(`${origin}${url.pathname}${search === "" ? "" : `?${search}`}`);
}

/** The port that a URL leads to, said or not. */
export const portOf = ({ port, protocol }: URL): number =>
  Number(port || (protocol === "http:" ? 80 : 443));

/** True when `url` has the base's origin and lies at or under its path. */
export function isUnder(base: URL, url: URL): boolean {
  const prefix = base.pathname === "/" ? "" : base.pathname;
  const isPlain = url.username === "" && url.password === "";
  return (
    isPlain &&
    url.origin === base.origin &&
    (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`))
  );
}

function encodeSegment(segment: unknown): string {
  const text = typeof segment === "number" && Number.isFinite(segment) ? String(segment) : segment;
  if (typeof text !== "string") throw refused("a path segment must be text or a number");
  if (text === "" || text === "." || text === "..")
    throw refused("a path segment must not be empty or made of dots");
  return encode(text);
}

function encodeQuery(query: { readonly [name: string]: unknown }): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value])
      pairs.push(`${encode(name)}=${encode(scalar(item))}`);
  }
  return pairs.join("&");
}

function scalar(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)))
    return String(value);
  throw refused("a query parameter must be text, a number or a boolean");
}

function encode(text: string): string {
  if (!text.isWellFormed()) throw refused("a path segment or query parameter is not valid Unicode");
  return encodeURIComponent(text);
}

const refused = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });
