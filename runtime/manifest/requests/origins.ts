/** Where a manifest's requests go: known when it is loaded, but for a label that is a setting. */
import { type HttpEgress, http, type MintedTokens, type RateLimit } from "../../contract/egress.ts";
import type { JsonObject } from "../../contract/json.ts";
import { invalid } from "../document/invalid.ts";
import { urlFormsOf } from "./url-forms.ts";

/**
 * The origins that a URL template can have: `{name}` stands for a setting, as one label of the host
 * or, alone, as a host that the customer types in and the operator has approved.
 * @throws CONNECTOR_INVALID when a host depends on anything else, or is no public name
 */
export const originsOf = (url: string, path: string, parameters: JsonObject): string[] => [
  ...new Set(urlFormsOf(url, path, parameters, "host").map((form) => originOf(form, path))),
];

/**
 * A setting that is a whole host, or a URL: a path that follows without a slash relies on its own.
 * Where it has none, the request goes to no declared host, and is refused.
 */
const wholeHost = /^(?:https:\/\/)?\{([\w.-]+)\}(?=[/?#]|$|[\w-]+(?:[/?#]|$))/i;

function originOf(form: string, path: string): string {
  const [, typed] = wholeHost.exec(form) ?? [];
  if (typed !== undefined) return `https://{${typed}}`;
  const [origin, host] =
    /^https?:\/\/((?:\{[\w.-]+\}|[\w.:-]|\[[\da-f:]*\])+)(?=[/?#]|$)/i.exec(form) ?? [];
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
 * Whole URLs, in which `{name}` stands for a setting, without their queries.
 * @throws CONNECTOR_INVALID as {@link originsOf}, and for a path that anything but a setting makes
 */
export const urlTemplatesOf = (url: string, path: string, parameters: JsonObject): string[] =>
  urlFormsOf(url, path, parameters, "end").map((form) => {
    const rest = form.replace(/^(?:https?:\/\/[^/?#]*|\{[^{}]+\})/i, "").replace(/[?#].*$/s, "");
    return originOf(form, path) + rest.trimEnd().replace(/^(?=[^/])/, "/");
  });

/** The network that the streams of a manifest need. */
export interface Needs {
  readonly origins: readonly string[];
  readonly minted: readonly MintedTokens[];
  readonly responseHeaders: readonly string[];
  readonly rateLimit: RateLimit | undefined;
  /** Answers may be ZIP archives. */
  readonly archives: boolean;
}

/**
 * The egress of a manifest: its first origin, and the others. Secrets are placeholders in it. What
 * a manifest posts asks for something: it writes nothing.
 */
export function toEgress({ origins, minted, archives, ...needs }: Needs): HttpEgress {
  const { responseHeaders, rateLimit } = needs;
  const [first = "", ...others] = new Set(origins);
  const rotating = new Set(minted.flatMap(({ rotates }) => rotates?.field ?? []));
  if (rotating.size > 1)
    throw invalid("streams", `refresh ${[...rotating].join(" and ")}: one account has one token`);
  const distinct = new Map(minted.map((one) => [JSON.stringify(one), one]));
  return http({
    ...{ baseUrl: first, auth: [], concurrency: 4, isPostSafe: true },
    placeholders: {
      urls: others,
      ...(archives ? { archives } : {}),
      ...(distinct.size > 0 ? { minted: [...distinct.values()] } : {}),
    },
    ...(responseHeaders.length > 0 ? { responseHeaders } : {}),
    ...(rateLimit ? { rateLimit } : {}),
  });
}
