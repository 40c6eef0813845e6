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
import {
  allowedHeaderNames,
  defaultMaxResponseBytes,
  maxErrorBytes,
  passableHeaderNames,
  pickHeaders,
  readBody,
} from "./response.ts";
import { parseRetryAfter } from "./retry.ts";
import { statusError } from "./status-errors.ts";
import type { Incoming } from "./transport.ts";

export type Outcome = { readonly answer: HttpAnswer } | { readonly redirect: URL };

/** The request that is answered: it decides what the answer may be. */
export interface AnsweredRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  /** Statuses besides 2xx that come back as an answer; also 206, which is a part of one only. */
  readonly accept: readonly number[];
}

/** Makes the answer that a connector with placeholders gets. */
export interface AnswerFilter {
  /** The body of a 2xx answer; minted tokens are caught before anything of it is given away. */
  body(url: URL, bytes: Buffer): Promise<Buffer>;
  text(text: string): string;
}

export type OutcomeReader = (incoming: Incoming, asked: AnsweredRequest) => Promise<Outcome>;

const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Gives the function that reads an answer.
 * @param isFollowed whether a redirect from one URL to another is followed
 * @throws (that function) REDIRECT_REFUSED, RESPONSE_TOO_LARGE, RESPONSE_INVALID; what an error
 * rule or the status says
 */
export function createOutcomeReader(
  declaration: HttpEgress,
  isFollowed: (target: URL, from: URL) => boolean,
  secrets: SecretRegistry,
  now: () => number,
  filter?: AnswerFilter,
): OutcomeReader {
  const { errors: rules = [], maxResponseBytes = defaultMaxResponseBytes } = declaration;
  const declared = allowedHeaderNames(declaration.responseHeaders);
  const namesIn = (headers: ResponseHeaders) =>
    declaration.isImage ? passableHeaderNames(headers) : declared;
  // The worker parses a 2xx body and applies the rules that look into it; those that do not are
  // decided here.
  const bodilessRules = rules.filter(({ pointer }) => pointer === undefined);
  const hasBodyRules = bodilessRules.length < rules.length;
  const hide = filter ? { redactText: filter.text } : secrets;

  return async ({ status, headers, body }, asked) => {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess) {
      const whole = await readBody(body, headers, maxResponseBytes);
      const bytes = filter ? await filter.body(asked.url, whole) : whole;
      // A part of what was asked for (RFC 9110 section 15.3.7) is no success of a call that wants
      // the whole.
      if (status === 206 && !asked.accept.includes(status))
        throw new ConnectorError("RESPONSE_INVALID", {
          reason: "it is a part of the answer only (HTTP 206)",
        });
      const code = findErrorCode(bodilessRules, { status, headers, body: undefined });
      if (code !== undefined)
        throw statusError(status, code, parseRetryAfter(headers["retry-after"], now()));
      return {
        answer: { status, headers: pickHeaders(headers, namesIn(headers), hide), body: bytes },
      };
    }

    const isAccepted = asked.accept.includes(status);
    const bytes = await readErrorBody({ status, headers, body });
    if (isAccepted) {
      return {
        answer: {
          status,
          headers: pickHeaders(headers, namesIn(headers), hide),
          body: redact(bytes, hide),
        },
      };
    }
    if (redirects.has(status)) return { redirect: redirectTarget(headers, asked, isFollowed) };
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

function redirectTarget(
  headers: ResponseHeaders,
  { method, url }: AnsweredRequest,
  isFollowed: (target: URL, from: URL) => boolean,
): URL {
  const { location } = headers;
  const target = typeof location === "string" ? URL.parse(location, url) : null;
  if (method !== "GET" || target === null || !isFollowed(target, url))
    throw new ConnectorError("REDIRECT_REFUSED");
  target.hash = "";
  return target;
}

function redact(bytes: Buffer, secrets: Pick<SecretRegistry, "redactText">): Buffer {
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
