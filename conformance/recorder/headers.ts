import type { Published } from "./subject.ts";

/** Header fields of answers that every connector may depend on. */
const always = [
  "content-type",
  "retry-after",
  "link",
  "etag",
  "last-modified",
  "sunset",
  "deprecation",
];
/** Fields of requests that the host makes or that the kit does not match. */
const neverMatched = new Set([
  "accept",
  "accept-encoding",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "cookie",
  "host",
  "user-agent",
]);

export interface HeaderRules {
  /** Whether a field of an answer is kept; every other is dropped. */
  isKept(name: string, status: number): boolean;
  /** Whether a field of a request is one that the connector chose itself. */
  isMatched(name: string): boolean;
}

/**
 * Derives the rules from the connector's egress: the fields that it needs, those that its error
 * rules look at, and those that carry its credential. Of a connector without egress no field of a
 * request is matched: HTTP libraries add some of their own, other ones each time.
 */
export function headerRules({ egress }: Pick<Published, "egress">): HeaderRules {
  const http = egress?.kind === "http" ? egress : undefined;
  const declared = http?.responseHeaders ?? [];
  const ruled = (http?.errors ?? []).flatMap(({ header }) => (header ? [header.name] : []));
  const kept = new Set([...always, ...declared, ...ruled].map((name) => name.toLowerCase()));
  const credentials = new Set(
    (http?.auth ?? []).flatMap((auth) =>
      auth.type === "headers" ? Object.keys(auth.headers) : [],
    ),
  );
  return {
    isKept: (name, status) =>
      kept.has(name) ||
      /rate-?limit/.test(name) ||
      (name === "location" && status >= 300 && status < 400),
    isMatched: (name) => egress !== undefined && !neverMatched.has(name) && !credentials.has(name),
  };
}
