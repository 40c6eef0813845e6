import { parseExact } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import type { ProviderRequest } from "../contract/network.ts";
import type { RecordedRequest } from "../contract/recording.ts";

/**
 * Whether a request is the recorded one: method, origin, path, query in any order, body (JSON in
 * any order of keys), listed headers.
 */
export function matches(recorded: RecordedRequest, request: ProviderRequest): boolean {
  // Most differ in this; whatever else differs takes longer to see.
  const isNear =
    recorded.method === request.method && parsed(recorded).url.pathname === request.url.pathname;
  return isNear && differences(recorded, request).length === 0;
}

interface ParsedRequest {
  readonly url: URL;
  readonly body: string;
}

/** Each is compared with every request of every run. */
const parsedRequests = new WeakMap<RecordedRequest, ParsedRequest>();

function parsed(recorded: RecordedRequest): ParsedRequest {
  const known = parsedRequests.get(recorded) ?? {
    url: new URL(recorded.url),
    body: canonicalBody(recorded.body ?? ""),
  };
  parsedRequests.set(recorded, known);
  return known;
}

function differences(recorded: RecordedRequest, request: ProviderRequest): string[] {
  const { url: wanted, body } = parsed(recorded);
  const { url } = request;
  const found: string[] = [];
  if (recorded.method !== request.method)
    found.push(`method ${request.method} instead of ${recorded.method}`);
  if (wanted.origin !== url.origin) found.push(`origin ${url.origin} instead of ${wanted.origin}`);
  if (wanted.pathname !== url.pathname)
    found.push(`path ${url.pathname} instead of ${wanted.pathname}`);
  found.push(...queryDifferences(wanted.searchParams, url.searchParams));
  if (body !== canonicalBody(request.body)) found.push("another body");
  for (const [name, value] of Object.entries(recorded.headers ?? {}))
    if (request.headers[name] !== value) found.push(`header ${name}`);
  return found;
}

function queryDifferences(wanted: URLSearchParams, given: URLSearchParams): string[] {
  const names = new Set([...wanted.keys(), ...given.keys()]);
  return [...names].flatMap((name) => {
    const [before, now] = [wanted.getAll(name).sort(), given.getAll(name).sort()];
    if (before.join("\n") === now.join("\n") && before.length === now.length) return [];
    if (now.length === 0) return [`no parameter ${name}`];
    return [
      `parameter ${name}=${now.join(",")}${before.length > 0 ? ` instead of ${before.join(",")}` : ""}`,
    ];
  });
}

/** Text of the same JSON is the same text; anything else stays as it is. */
function canonicalBody(body: string): string {
  if (!/^\s*[[{]/.test(body)) return body;
  try {
    return canonicalize(parseExact(body));
  } catch {
    return body;
  }
}

/** One sentence: the recorded request that is nearest, and how this one differs. */
export function describeMismatch(
  request: ProviderRequest,
  recorded: readonly RecordedRequest[],
): string {
  const asked = `${request.method} ${request.url.origin}${request.url.pathname}${request.url.search}`;
  const nearest = recorded
    .map((one) => ({ one, found: differences(one, request) }))
    .sort((a, b) => a.found.length - b.found.length)[0];
  if (!nearest) return `${asked} was not recorded: the recording has no requests`;
  if (nearest.found.length === 0) return `${asked} was recorded, but fewer times`;
  return `${asked} was not recorded; the nearest is ${nearest.one.method} ${nearest.one.url}, but: ${nearest.found.join(", ")}`;
}
