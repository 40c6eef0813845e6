/** Hosts that a connector may reach, and those that nobody may. */
import { isIP } from "node:net";
import type { Lab } from "../../contract/lab.ts";

/** Origins of the recordings, and those that the connector declares. */
export function declaredOrigins({
  recordings,
  manifest,
}: Pick<Lab, "recordings" | "manifest">): ReadonlySet<string> {
  const recorded = recordings.flatMap(({ interactions }) =>
    interactions.map(({ request }) => originOf(request.url)),
  );
  const { egress } = manifest ?? {};
  const declared =
    egress?.kind === "http"
      ? [
          egress.baseUrl,
          ...egress.auth.map((auth) => (auth.type === "oauth2" ? auth.tokenUrl : "")),
        ]
      : [];
  return new Set(
    [...recorded, ...declared.map((url) => (typeof url === "string" ? originOf(url) : ""))].filter(
      (origin) => origin !== "",
    ),
  );
}

const originOf = (url: string) => URL.parse(url)?.origin ?? "";

/**
 * True when this host, as URL has it, lies on the inside of a network: never a provider.
 * @see IANA Special-Purpose Address Registries
 */
export function isInsideHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const family = isIP(host);
  if (family === 4) return isInsideAddress(host);
  // Outside of 2000::/3 nothing is public; forms that carry an IPv4 address lie there too.
  if (family === 6) return !/^[23][0-9a-f]{3}:/.test(host) || /^2002:|^2001:0?:/.test(host);
  return /(^|\.)(localhost|local|internal|localdomain)\.?$/.test(host) || !host.includes(".");
}

function isInsideAddress(address: string): boolean {
  const [first = 0, second = 0] = address.split(".").map(Number);
  return (
    [0, 10, 127].includes(first) ||
    first >= 224 ||
    (first === 169 && second === 254) ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second < 128) ||
    address === "168.63.129.16"
  );
}

/**
 * Ways to write hosts of the inside: loopback, private, link-local, metadata, IPv4 inside IPv6, and
 * addresses as numbers.
 */
export const insideHosts: readonly string[] = [
  "127.0.0.1",
  "localhost",
  "169.254.169.254",
  "10.0.0.1",
  "192.168.1.1",
  "172.16.0.1",
  "100.64.0.1",
  "0.0.0.0",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:a9fe:a9fe]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[64:ff9b::7f00:1]",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "0xa9fea9fe",
  "metadata.google.internal",
  "service.localhost",
];
