/** Where a manifest's requests go: known when it is loaded, but for a label that is a setting. */
import { type HttpEgress, http } from "../contract/egress.ts";
import { invalid } from "./invalid.ts";

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

/** The egress of a manifest: its first origin, and the others. Secrets are placeholders in it. */
export function toEgress(origins: readonly string[]): HttpEgress {
  const [first = "", ...others] = new Set(origins);
  return http({ baseUrl: first, auth: [], placeholders: { urls: others }, concurrency: 4 });
}
