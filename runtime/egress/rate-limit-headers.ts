/** The rate limit that header fields of an answer describe. */
export interface RateLimitFacts {
  /** Requests per window. */
  readonly limit?: number | undefined;
  /** Requests left in the current window. */
  readonly remaining?: number | undefined;
  /** When the current window ends, in clock time. */
  readonly resetAtMs?: number | undefined;
  /** Length of the window, when the provider says it. */
  readonly perMs?: number | undefined;
}

export type ResponseHeaders = { readonly [name: string]: string | readonly string[] | undefined };

/** Names that reach the connector too. */
export const rateLimitHeaderNames = [
  ...["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"],
  ...["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit", "ratelimit-policy"],
] as const;

/** Larger numbers are times, smaller ones durations: 10^9 s is 2001, 10^12 ms too. */
const firstUnixSecond = 1e9;
const firstUnixMs = 1e12;

/**
 * Reads `X-RateLimit-*` (no standard; reset in Unix seconds, Unix milliseconds or seconds from
 * now), `RateLimit-*` of the early drafts and `RateLimit`/`RateLimit-Policy`. Values that make no
 * sense are left out.
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export function readRateLimitHeaders(headers: ResponseHeaders, nowMs: number): RateLimitFacts {
  const combined = text(headers.ratelimit);
  const policy = text(headers["ratelimit-policy"]) ?? text(headers["ratelimit-limit"]);
  const limit =
    number(text(headers["x-ratelimit-limit"])) ??
    number(text(headers["ratelimit-limit"])) ??
    parameter(combined, "limit") ??
    parameter(policy, "q") ??
    number(policy);
  const remaining =
    number(text(headers["x-ratelimit-remaining"])) ??
    number(text(headers["ratelimit-remaining"])) ??
    parameter(combined, "remaining") ??
    parameter(combined, "r");
  const reset =
    number(text(headers["x-ratelimit-reset"])) ??
    number(text(headers["ratelimit-reset"])) ??
    parameter(combined, "reset") ??
    parameter(combined, "t");
  const resetAtMs = reset === undefined ? undefined : toResetTime(reset, nowMs);
  const windowSeconds = parameter(policy, "w");
  return {
    limit: limit !== undefined && limit >= 1 ? limit : undefined,
    remaining,
    resetAtMs: resetAtMs !== undefined && resetAtMs > nowMs ? resetAtMs : undefined,
    perMs: windowSeconds !== undefined && windowSeconds > 0 ? windowSeconds * 1_000 : undefined,
  };
}

function toResetTime(reset: number, nowMs: number): number {
  if (reset >= firstUnixMs) return reset;
  return reset >= firstUnixSecond ? reset * 1_000 : nowMs + reset * 1_000;
}

const text = (value: string | readonly string[] | undefined) =>
  typeof value === "string" ? value : value?.[0];

/** The number at the start: `100, 100;w=60` is 100. */
function number(value: string | undefined): number | undefined {
  const digits =
    value === undefined ? undefined : /^\s*(\d{1,15}(?:\.\d+)?)\s*(?:[,;]|$)/.exec(value)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function parameter(value: string | undefined, name: string): number | undefined {
  const digits =
    value === undefined
      ? undefined
      : new RegExp(`(?:^|[\\s,;])${name}\\s*=\\s*"?(\\d{1,15})`).exec(value)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
