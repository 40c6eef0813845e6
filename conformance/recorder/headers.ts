import type { Manifest } from "svc-connectors/host";

/** Header fields of answers that every connector may depend on. */
const always = ["content-type", "retry-after", "link", "etag", "last-modified", "sunset", "deprecation"];
/** Fields of requests that the host makes or that the kit does not match. */
const neverMatched = new Set([
  "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie", "host", "user-agent",
]); // biome-ignore format: a list of words

export interface HeaderRules {
  /** Of an answer: what is kept; everything else is dropped. */
  isKept(name: string, status: number): boolean;
  /** Of a request: what the connector chose itself. */
  isMatched(name: string): boolean;
}

/** From what the connector declares: the fields that it needs, those that its error rules look at, and those that carry its credential. */
export function headerRules({ egress }: Manifest): HeaderRules {
  const declared = egress.kind === "http" ? (egress.responseHeaders ?? []) : [];
  const ruled =
    egress.kind === "http" ? (egress.errors ?? []).flatMap(({ header }) => (header ? [header.name] : [])) : [];
  const kept = new Set([...always, ...declared, ...ruled].map((name) => name.toLowerCase()));
  const credentials = new Set(
    egress.kind === "http"
      ? egress.auth.flatMap((auth) => (auth.type === "headers" ? Object.keys(auth.headers) : []))
      : [],
  );
  return {
    isKept: (name, status) =>
      kept.has(name) || /rate-?limit/.test(name) || (name === "location" && status >= 300 && status < 400),
    isMatched: (name) => !neverMatched.has(name) && !credentials.has(name),
  };
}
