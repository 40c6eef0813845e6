/**
 * The HTTP broker of a run: takes calls of a worker that is not trusted, adds what the worker must
 * not have, and gives back what it may. Read `request`, then the attempt: one step a line.
 */

import { budgets } from "../contract/budgets.ts";
import type { HttpEgress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import type { HttpLimits } from "../contract/network.ts";
import {
  type HttpAnswer,
  type HttpCall,
  readingMethods,
  writingMethods,
} from "../wire/http-call.ts";
import { withEither } from "./abort.ts";
import { type AccessTokens, openAccessTokens, tokenTimeoutMs } from "./access-tokens.ts";
import { createAuthenticator, type PlainRequest, type RequestAuthenticator } from "./auth.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { checkCall } from "./check-call.ts";
import { createSlots } from "./concurrency.ts";
import { fillRequest } from "./fill-request.ts";
import { createOutcomeReader } from "./outcome.ts";
import {
  createAnswerFilter,
  declaredOrigins,
  isSameOrigin,
  mintingPlaces,
} from "./placeholder-access.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";
import { unlimited } from "./rate-limit.ts";
import { checkHeaders } from "./request-headers.ts";
import { declaredUrl, isUnder, portOf, requestUrl, resolveBaseUrl } from "./request-url.ts";
import { acceptEncoding, createCookieWatch, defaultMaxResponseBytes } from "./response.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";
import { createRotatingTokens, tokenErrorStatuses } from "./rotating-tokens.ts";
import { createSendQueue, type SendQueue, type SendQueueOptions } from "./send-queue.ts";
import { shareRateLimiter } from "./shared-limiter.ts";
import { createCallSigner } from "./sign-jwt.ts";
import { createTransport, type TransportOptions, type TransportRequest } from "./transport.ts";
import { createWaitReport } from "./waiting.ts";

export const defaultHttpLimits: HttpLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 600_000,
  maxAttempts: 5,
  retryBudgetMs: 600_000,
  maxRateLimitWaitMs: 3_900_000,
};

const defaultConcurrency = 4;
const maxRedirects = 3;
/** Doing them twice does what doing them once does (RFC 9110 section 9.2.2). */
const repeatableMethods: ReadonlySet<string> = new Set(["GET", "PUT", "DELETE"]);
/**
 * A broker for a provider's HTTP API. `close` it when the run ends.
 * @throws BASE_URL_REFUSED, LOCAL_REFUSED, CONFIG_INVALID a credential or part of the URL is
 * missing or cannot be sent, CONNECTOR_INVALID
 */
export function createHttpBroker(options: BrokerOptions): Broker {
  const { config, spec, secrets, clock, settings, seams, writer, random = Math.random } = options;
  const declaration = withAnswerLimits(httpDeclaration(options));
  const limits: HttpLimits = { ...defaultHttpLimits, ...options.limits };
  const { concurrency } = declaration;
  const { url: base, isLocal } = writer?.baseUrl
    ? { url: writer.baseUrl, isLocal: false }
    : resolveBaseUrl(declaration.baseUrl, config, settings, spec, {
        isAllowed: options.allowLocal === true,
        standIn: seams?.standIn,
      });
  const auth = createAuthenticator(declaration.auth, config, secrets);
  const { placeholders } = options;
  const origins = declaredOrigins(declaration, base, config, spec, settings);
  const toPlainRequest = createRequestMaker(base, origins, declaration, auth);

  const closing = new AbortController();
  const waiting = createWaitReport(clock, options.onWaiting);
  const policy: RetryPolicy = {
    clock,
    random,
    maxAttempts: limits.maxAttempts,
    budgetMs: limits.retryBudgetMs,
    wait: (durationMs, signal) => waiting.sleep(durationMs, "retry", signal),
  };
  const tokens =
    auth.oauth &&
    openAccessTokens(auth.oauth, {
      ...{ config, spec, secrets, clock, settings, seams, limits },
      tokens: options.tokens,
      retry: policy,
      closing: closing.signal,
    });
  const transport = createTransport({
    settings,
    seams,
    port: portOf(base),
    isLocal,
    connections: concurrency,
    limits,
  });
  const { limiter, release } = shareRateLimiter(
    base.origin,
    [...auth.values, ...(placeholders?.secrets ?? [])],
    {
      clock,
      declared: declaration.rateLimit,
      concurrency,
      maxWaitMs: limits.maxRateLimitWaitMs,
      ledger: options.ledger,
    },
  );
  const shared = {
    waiting,
    readOutcome: createOutcomeReader(
      declaration,
      origins ? isSameOrigin : (target) => isUnder(base, target),
      secrets,
      () => clock.now(),
      placeholders && createAnswerFilter(declaration, placeholders, config, spec, settings),
    ),
    watchCookies: createCookieWatch(secrets),
    onRequest: options.onRequest ?? (() => undefined),
  };
  const queue = createSendQueue({
    ...shared,
    slots: createSlots(concurrency),
    limiter,
    transport,
  });
  const fill = (request: TransportRequest) =>
    placeholders ? fillRequest(request, placeholders, secrets) : request;
  const attempt = createAttempt({ auth, tokens, queue, writer, fill });

  const signCall = createCallSigner(placeholders);
  const renewals =
    placeholders &&
    openRenewals(options, declaration, placeholders, {
      network: { settings, seams, port: portOf(base), isLocal },
      limits,
      shared,
      attempt: { auth, tokens, writer, fill },
      retry: policy,
      closing: closing.signal,
    });

  async function request(
    given: HttpCall,
    callerSignal: AbortSignal,
    room?: () => Promise<void>,
  ): Promise<HttpAnswer> {
    checkCall(given, writer ? writingMethods : readingMethods, origins !== undefined);
    const call = signCall(given);
    const plain = toPlainRequest(call);
    options.onCall?.({ method: plain.method, url: plain.url, place: placeOf(call) });
    if (call.renewal !== undefined) {
      if (!renewals) throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: noRenewals });
      return await renewals.answer(plain, call.renewal, callerSignal);
    }
    const accept = call.accept ?? [];
    const again = call.again && {
      attempt: call.again.attempt,
      error: new ConnectorError(call.again.code),
    };
    if (again?.error.code === "RATE_LIMITED") limiter.refused();
    const isSafe = repeatableMethods.has(call.method) || declaration.isPostSafe === true;
    const isRetryable = (error: ConnectorError) =>
      isSafe && error.kind === "transient" && !tokens?.isFailure(error);
    return await withEither(callerSignal, closing.signal, (signal) =>
      withRetries(
        { ...policy, isRetryable },
        signal,
        () => attempt(plain, accept, signal, room),
        again,
      ),
    );
  }

  return {
    request,
    async connect() {
      throw new ConnectorError("CONNECTOR_PROTOCOL", {
        problem: "this connector declares no database",
      });
    },
    get requestCount() {
      return queue.requestCount + (renewals?.requestCount ?? 0);
    },
    async close() {
      if (!closing.signal.aborted) release();
      closing.abort();
      await tokens?.close();
      await renewals?.settled();
      await Promise.all([transport.close(), renewals?.close()]);
    },
  };
}

/** The word of a worker: names of files with numbers, or nothing. */
const placeOf = ({ place }: HttpCall): string | undefined =>
  typeof place === "string" && /^[\w.-]{1,60}:\d{1,7}( ← [\w.-]{1,60}:\d{1,7}){0,2}$/.test(place)
    ? place
    : undefined;

const noRenewals = "this connector declares no refresh token that changes";

interface RenewalParts {
  readonly network: Pick<TransportOptions, "settings" | "seams" | "port" | "isLocal">;
  readonly limits: HttpLimits;
  readonly shared: Pick<SendQueueOptions, "waiting" | "readOutcome" | "watchCookies" | "onRequest">;
  readonly attempt: Omit<AttemptParts, "queue">;
  readonly retry: RetryPolicy;
  readonly closing: AbortSignal;
}

/**
 * Refresh tokens that change with each use. While tokens are asked for others wait who have this
 * account, in other processes too: that request stands in no line.
 */
function openRenewals(
  { config, spec, secrets, clock, settings, tokens }: BrokerOptions,
  declaration: HttpEgress,
  placeholders: PlaceholderRegistry,
  { network, limits, shared, attempt, retry, closing }: RenewalParts,
) {
  const places = mintingPlaces(declaration.placeholders, config, spec, settings).flatMap(
    ({ url, rotates }) => (rotates ? [{ url, rotates }] : []),
  );
  const transport = createTransport({
    ...network,
    connections: 1,
    limits: { ...limits, totalTimeoutMs: Math.min(limits.totalTimeoutMs, tokenTimeoutMs) },
  });
  const queue = createSendQueue({
    ...shared,
    slots: createSlots(1),
    limiter: unlimited,
    transport,
  });
  const renew = createAttempt({ ...attempt, queue });
  const { answer, settled } = createRotatingTokens({
    ...{ config, placeholders, secrets, clock, places, retry, closing, store: tokens },
    send: (plain, signal, sending) => renew(plain, tokenErrorStatuses, signal, sending),
  });
  return {
    answer,
    settled,
    get requestCount() {
      return queue.requestCount;
    },
    close: () => transport.close(),
  };
}

/** Calls as requests: below the base URL, with the declared headers, not yet signed. */
function createRequestMaker(
  base: URL,
  origins: ReadonlyMap<string, string> | undefined,
  declaration: HttpEgress,
  auth: RequestAuthenticator,
): (call: HttpCall) => PlainRequest {
  const fixedHeaders = {
    accept: "application/json",
    "user-agent": "svc-connectors",
    ...checkHeaders(declaration.headers ?? {}, auth.headerNames, "CONNECTOR_INVALID"),
    "accept-encoding": acceptEncoding,
  };
  const own = new Set(origins ? ["authorization"] : []);
  return ({ method, path, query, headers, body, text }) => {
    const url =
      typeof path === "string"
        ? declaredUrl(path, query, origins ?? new Map())
        : requestUrl(base, path, query);
    const extra =
      headers === undefined
        ? {}
        : checkHeaders(headers, auth.headerNames, "CONNECTOR_PROTOCOL", own);
    if (method === "GET") return { method, url, headers: { ...fixedHeaders, ...extra } };
    return {
      method,
      url,
      headers: { ...fixedHeaders, "content-type": "application/json", ...extra },
      json: body,
      body: bodyOf(body, text),
    };
  };
}

function bodyOf(json: JsonValue | undefined, text: string | undefined): Buffer | undefined {
  if (text !== undefined) return Buffer.from(text);
  return json === undefined ? undefined : Buffer.from(JSON.stringify(json));
}

interface AttemptParts {
  readonly auth: RequestAuthenticator;
  readonly tokens: AccessTokens | undefined;
  readonly queue: SendQueue;
  readonly writer: BrokerOptions["writer"];
  /** Puts secrets in the place of their placeholders. */
  readonly fill: (request: TransportRequest) => TransportRequest;
}

/** One try: at most one renewal of the access token, at most three redirects. */
function createAttempt({ auth, tokens, queue, writer, fill }: AttemptParts) {
  /** A signature is valid for minutes: each try has its own. */
  const withSignature = (request: TransportRequest): TransportRequest => {
    const id = request.headers["webhook-id"];
    if (!writer?.sign || id === undefined) return request;
    const signature = writer.sign(id, request.body ?? Buffer.alloc(0));
    return { ...request, headers: { ...request.headers, ...signature } };
  };

  return async (
    plain: PlainRequest,
    accept: readonly number[],
    signal: AbortSignal,
    room?: () => Promise<void>,
  ): Promise<HttpAnswer> => {
    let { url } = plain;
    let rejected: string | undefined;
    for (let redirectCount = 0; ; ) {
      const acceptNow =
        tokens && rejected === undefined ? accept.filter((status) => status !== 401) : accept;
      let accessToken: string | undefined;
      const sign = async () => {
        await room?.();
        accessToken = await tokens?.current(rejected, signal);
        return withSignature(fill(auth.apply({ ...plain, url }, accessToken)));
      };
      try {
        const outcome = await queue.send(sign, acceptNow, signal);
        if ("answer" in outcome) return outcome.answer;
        if (++redirectCount > maxRedirects) throw new ConnectorError("REDIRECT_REFUSED");
        url = outcome.redirect;
      } catch (error) {
        const isRefused =
          error instanceof ConnectorError &&
          error.code === "CREDENTIALS_REJECTED" &&
          error.details.status === 401;
        if (!isRefused || accessToken === undefined || rejected !== undefined) throw error;
        rejected = accessToken;
      }
    }
  };
}

/**
 * The answers that may come at once fit into memory: what is not declared is as much as usual, or
 * less.
 */
function withAnswerLimits(declaration: HttpEgress) {
  const most = budgets.answersAtOnce.together;
  const declared = declaration.maxResponseBytes ?? defaultMaxResponseBytes;
  const fitting = Math.floor(most / declared);
  const concurrency = declaration.concurrency ?? Math.min(defaultConcurrency, Math.max(1, fitting));
  const maxResponseBytes = Math.min(declared, Math.floor(most / concurrency));
  return { ...declaration, concurrency, maxResponseBytes };
}

function httpDeclaration({ declaration }: BrokerOptions): HttpEgress {
  if (declaration.kind === "http") return declaration;
  throw new ConnectorError("INTERNAL");
}
