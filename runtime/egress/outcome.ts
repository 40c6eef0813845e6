/**
 * From a provider's answer to what the connector gets: an answer, an error of the table, or a
 * redirect to follow.
 */
import type { HttpEgress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import { findErrorCode } from "../wire/error-rules.ts";
import type { HttpAnswer, HttpMethod } from "../wire/http-call.ts";
import { type ResponseHeaders, readRateLimitHeaders } from "./rate-limit-headers.ts";
import { isUnder } from "./request-url.ts";
import {
  allowedHeaderNames,
  defaultMaxResponseBytes,
  maxErrorBytes,
  pickHeaders,
  readBody,
} from "./response.ts";
import { parseRetryAfter } from "./retry.ts";
import { statusError } from "./status-errors.ts";
import type { Incoming } from "./transport.ts";

export type Outcome = { readonly answer: HttpAnswer } | { readonly redirect: URL };

/** The request that is answered: it decides what the answer may be. */
export interface Asked {
  readonly method: HttpMethod;
  readonly url: URL;
  /** Statuses besides 2xx that come back as an answer. */
  readonly accept: readonly number[];
}

export type OutcomeReader = (incoming: Incoming, asked: Asked) => Promise<Outcome>;

const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Gives the function that reads an answer.
 * @throws (that function) REDIRECT_REFUSED, RESPONSE_TOO_LARGE, RESPONSE_INVALID; what an error
 * rule or the status says
 */
export function createOutcomeReader(
  declaration: HttpEgress,
  base: URL,
  secrets: SecretRegistry,
  now: () => number,
): OutcomeReader {
  const { errors: rules = [], maxResponseBytes = defaultMaxResponseBytes } = declaration;
  const names = allowedHeaderNames(declaration.responseHeaders);
  // The worker parses a 2xx body and applies the rules that look into it; those that do not are
  // decided here.
  const bodilessRules = rules.filter(({ pointer }) => pointer === undefined);
  const hasBodyRules = bodilessRules.length < rules.length;

  return async ({ status, headers, body }, asked) => {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess) {
      const bytes = await readBody(body, headers, maxResponseBytes);
      const code = findErrorCode(bodilessRules, { status, headers, body: undefined });
      if (code !== undefined)
        throw statusError(status, code, parseRetryAfter(headers["retry-after"], now()));
      return { answer: { status, headers: pickHeaders(headers, names, secrets), body: bytes } };
    }

    const isAccepted = asked.accept.includes(status);
    const bytes = await readErrorBody({ status, headers, body });
    if (isAccepted) {
      return {
        answer: {
          status,
          headers: pickHeaders(headers, names, secrets),
          body: redact(bytes, secrets),
        },
      };
    }
    if (redirects.has(status)) return { redirect: redirectTarget(headers, asked, base) };
    const code =
      findErrorCode(rules, {
        status,
        headers,
        body: hasBodyRules ? parseJson(bytes) : undefined,
      }) ?? (status === 403 && isUsedUp(headers, now()) ? "RATE_LIMITED" : undefined);
    throw statusError(status, code, parseRetryAfter(headers["retry-after"], now()));
  };
}

/**
 * Some providers refuse what goes beyond a limit as forbidden, and say in the header fields what
 * they mean.
 */
const isUsedUp = (headers: ResponseHeaders, nowMs: number) =>
  readRateLimitHeaders(headers, nowMs).remaining === 0 || headers["retry-after"] !== undefined;

/**
 * A body that is too long, damaged or cut off says nothing that a rule could use; the status still
 * counts.
 */
async function readErrorBody({ headers, body }: Incoming): Promise<Buffer> {
  try {
    return await readBody(body, headers, maxErrorBytes);
  } catch {
    return Buffer.alloc(0);
  }
}

function redirectTarget(headers: ResponseHeaders, { method, url }: Asked, base: URL): URL {
  const { location } = headers;
  const target = typeof location === "string" ? URL.parse(location, url) : null;
  if (method !== "GET" || target === null || !isUnder(base, target))
    throw new ConnectorError("REDIRECT_REFUSED");
  target.hash = "";
  return target;
}

function redact(bytes: Buffer, secrets: SecretRegistry): Buffer {
  const text = bytes.toString("utf8");
  const redacted = secrets.redactText(text);
  return redacted === text ? bytes : Buffer.from(redacted);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
