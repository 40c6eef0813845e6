/** Where a manifest's requests go: known when it is loaded, but for a label that is a setting. */
import { type HttpEgress, http, type MintedTokens, type RateLimit } from "../../contract/egress.ts";
import { invalid, Unsupported } from "../document/invalid.ts";

const setting = /\{\{-?\s*config(?:\.(\w+)|\[\s*(?:'(\w+)'|"(\w+)")\s*\])\s*-?\}\}/g;

/**
 * The origin of a URL template, in which `{name}` stands for a setting.
 * @throws CONNECTOR_INVALID when its host depends on anything else, or is no public name
 */
export function originOf(url: string, path: string): string {
  const filled = url.replace(
    setting,
    (_, dotted, single, double) => `{${dotted ?? single ?? double}}`,
  );
  const [origin, host] =
    /^https?:\/\/((?:\{\w+\}|[\w.:-]|\[[\da-f:]*\])+)(?=\/|$)/i.exec(filled) ?? [];
  if (origin === undefined || host === undefined)
    throw invalid(
      path,
      "must begin with https:// and a host, in which only settings may be filled in",
    );
  if (/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(origin)) return origin;
  if (!origin.startsWith("https:")) throw invalid(path, "must begin with https://");
  if (!/[a-z}]$/i.test(host.replace(/:\d+$/, "")) || !host.includes("."))
    throw invalid(path, "leads to an address and no public name");
  return origin;
}

/**
 * A whole URL, in which `{name}` stands for a setting, without its query.
 * @throws CONNECTOR_INVALID as {@link originOf}, and for a path that anything but a setting makes
 */
export function urlTemplateOf(url: string, path: string): string {
  const origin = originOf(url, path);
  const filled = url.replace(
    setting,
    (_, dotted, single, double) => `{${dotted ?? single ?? double}}`,
  );
  if (filled.includes("{{") || filled.includes("{%"))
    throw new Unsupported(path, "depends on more than settings, where tokens come from");
  return (
    origin +
    filled
      .slice(origin.length)
      .replace(/[?#].*$/s, "")
      .trimEnd()
  );
}

/** What the streams of a manifest need of the network. */
export interface Needs {
  readonly origins: readonly string[];
  readonly minted: readonly MintedTokens[];
  readonly responseHeaders: readonly string[];
  readonly rateLimit: RateLimit | undefined;
}

/**
 * The egress of a manifest: its first origin, and the others. Secrets are placeholders in it. What a
 * manifest posts asks for something: it writes nothing.
 */
export function toEgress({ origins, minted, responseHeaders, rateLimit }: Needs): HttpEgress {
  const [first = "", ...others] = new Set(origins);
  const distinct = new Map(minted.map((one) => [JSON.stringify(one), one]));
  return http({
    ...{ baseUrl: first, auth: [], concurrency: 4, isPostSafe: true },
    placeholders: {
      urls: others,
      ...(distinct.size > 0 ? { minted: [...distinct.values()] } : {}),
    },
    ...(responseHeaders.length > 0 ? { responseHeaders } : {}),
    ...(rateLimit ? { rateLimit } : {}),
  });
}
