import type { Egress } from "../contract/egress.ts";
import { isSlash, withoutEnd } from "../wire/without-end.ts";

/**
 * The loopback of this machine by its three usual names, any port, a plain path. Other spellings of
 * the same addresses (127.1, 0.0.0.0, ::ffff:127.0.0.1) are left out: nobody needs them.
 */
const grammar =
  /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[1-9][0-9]{0,4})?(?:\/[A-Za-z0-9._~-]+)*\/?$/;
const dotSegment = /\/\.{1,2}(?:\/|$)/;

/**
 * The declared base URL of a provider on this machine, or undefined for any other. It is judged as
 * it stands in the declaration: no setting of a customer can make a URL a local one.
 */
export function parseLocalUrl(declared: string): URL | undefined {
  if (!grammar.test(declared) || dotSegment.test(declared)) return undefined;
  const url = URL.parse(declared);
  if (!url || url.port === "0") return undefined;
  url.pathname = withoutEnd(url.pathname, isSlash);
  return url;
}

/** The base URL of a connector whose provider is on this machine; of any other undefined. */
export const localUrlOf = (egress: Egress): URL | undefined =>
  egress.kind === "http" && typeof egress.baseUrl === "string"
    ? parseLocalUrl(egress.baseUrl)
    : undefined;

/**
 * Whether a connector's provider is on this machine: it is being written, and runs for nobody else.
 */
export const isLocal = (egress: Egress): boolean => localUrlOf(egress) !== undefined;
