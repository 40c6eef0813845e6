/**
 * Proofs of who asks (timestamps, nonces, signatures) that a retry took over from the first try.
 */
import type { Exchange, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { freshNames, type RequestPlace, seconds } from "../derive/requests/rate-limits.ts";

export interface StaleProof {
  /** "the header x-timestamp". */
  readonly where: string;
  readonly waitedText: string;
}

/**
 * Headers that carry a proof; others that differ from run to run, such as an idempotency key, have
 * to stay the same.
 */
const proofHeader = /auth|sign|token|stamp|nonce|date|digest/i;
/** Less time than this may fall into one second, which is how exactly most proofs tell the time. */
const leastWaitMs = 2_000;

/**
 * @param later the same run at another time: what differs in it depends on the time, or on chance
 */
export function staleIn(
  tries: readonly Exchange[],
  place: RequestPlace,
  later: Observation,
): StaleProof[] {
  const [first, second] = tries;
  const other = later.exchanges[place.at];
  if (!first || !second || !other || second.atMs - first.atMs < leastWaitMs) return [];
  const waitedText = seconds(second.atMs - first.atMs);
  const [before, again, shifted] = [
    proofsOf(first.request),
    proofsOf(second.request),
    proofsOf(other.request),
  ];
  return [...before].flatMap(([where, value]) => {
    const dependsOnTime = shifted.has(where) && shifted.get(where) !== value;
    return dependsOnTime && again.get(where) === value ? [{ where, waitedText }] : [];
  });
}

function proofsOf({ headers, url, body }: ProviderRequest): Map<string, string> {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    proofHeader.test(name) ? [[`the header ${name}`, value] as const] : [],
  );
  const inQuery = [...url.searchParams].flatMap(([name, value]) =>
    freshNames.test(name) ? [[`the parameter ${name}`, value] as const] : [],
  );
  const inBody = Object.entries(bodyOf(body)).flatMap(([name, value]) =>
    freshNames.test(name) ? [[`the body's ${name}`, JSON.stringify(value)] as const] : [],
  );
  return new Map([...inHeaders, ...inQuery, ...inBody]);
}

function bodyOf(body: string): object {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
