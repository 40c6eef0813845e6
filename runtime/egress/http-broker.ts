/**
 * The HTTP broker of a run: takes calls of a worker that is not trusted, adds what the worker must
 * not have, and gives back what it may. Read `request`, then `attempt`: one step a line.
 */

import type { HttpEgress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { HttpLimits } from "../contract/network.ts";
import { createMemoryTokenStore } from "../contract/token-store.ts";
import {
  type HttpAnswer,
  type HttpCall,
  readingMethods,
  writingMethods,
} from "../wire/http-call.ts";
import { orCancelled, withEither } from "./abort.ts";
import { createAuthenticator, type PlainRequest } from "./auth.ts";
import type { Broker, BrokerOptions } from "./broker.ts";
import { checkCall } from "./check-call.ts";
import { createSlots } from "./concurrency.ts";
import { configText, configValue } from "./config-field.ts";
import { createTokenSource, type TokenSource } from "./oauth.ts";
import { createOutcomeReader, type Outcome } from "./outcome.ts";
import { checkHeaders } from "./request-headers.ts";
import { fillTemplate, requestUrl, resolveBaseUrl } from "./request-url.ts";
import { acceptEncoding, createCookieWatch } from "./response.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";
import { shareRateLimiter } from "./shared-limiter.ts";
import { createTransport, type Transport, type TransportRequest } from "./transport.ts";
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
 * Token endpoints answer in a second or not at all; a run that ends waits for a refresh under way.
 */
const tokenLimits = { totalTimeoutMs: 30_000, maxAttempts: 3 };

/**
 * A broker for a provider's HTTP API. `close` it when the run ends.
 * @throws BASE_URL_REFUSED, CONFIG_INVALID a credential or part of the URL is missing or cannot be
 * sent, CONNECTOR_INVALID
 */
export function createHttpBroker(options: BrokerOptions): Broker {
  const {
    config,
    spec,
    secrets,
    clock,
    settings,
    seams,
    random = Math.random,
    onRequest = () => undefined,
  } = options;
  const { writer } = options;
  const declaration = httpDeclaration(options);
  const limits: HttpLimits = { ...defaultHttpLimits, ...options.limits };
  const concurrency = declaration.concurrency ?? defaultConcurrency;
  const base = writer?.baseUrl ?? resolveBaseUrl(declaration.baseUrl, config, settings, spec);
  const auth = createAuthenticator(declaration.auth, config, secrets);
  const fixedHeaders = {
    accept: "application/json",
    "user-agent": "svc-connectors",
    ...checkHeaders(declaration.headers ?? {}, auth.headerNames, "CONNECTOR_INVALID"),
    "accept-encoding": acceptEncoding,
  };

  const closing = new AbortController();
  const waiting = createWaitReport(clock, options.onWaiting);
  const slots = createSlots(concurrency);
  const readOutcome = createOutcomeReader(declaration, base, secrets, () => clock.now());
  const watchCookies = createCookieWatch(secrets);
  const policy: RetryPolicy = {
    clock,
    random,
    maxAttempts: limits.maxAttempts,
    budgetMs: limits.retryBudgetMs,
    wait: (durationMs, signal) => waiting.sleep(durationMs, "retry", signal),
  };
  const tokens = auth.oauth ? openTokens(auth.oauth) : undefined;
  const transport = createTransport({
    settings,
    seams,
    port: portOf(base),
    connections: concurrency,
    limits,
  });
  const { limiter, release } = shareRateLimiter(base.origin, auth.values, {
    clock,
    declared: declaration.rateLimit,
    concurrency,
    maxWaitMs: limits.maxRateLimitWaitMs,
  });
  // The token source has had its own tries: its failures are not worth more of them.
  const tokenFailures = new WeakSet<ConnectorError>();
  let requestCount = 0;

  async function request(call: HttpCall, callerSignal: AbortSignal): Promise<HttpAnswer> {
    checkCall(call, writer ? writingMethods : readingMethods);
    const plain = toPlainRequest(call);
    const accept = call.accept ?? [];
    const again = call.again && {
      attempt: call.again.attempt,
      error: new ConnectorError(call.again.code),
    };
    if (again?.error.code === "RATE_LIMITED") limiter.refused();
    const isSafe = repeatableMethods.has(call.method) || declaration.isPostSafe === true;
    const isRetryable = (error: ConnectorError) =>
      isSafe && error.kind === "transient" && !tokenFailures.has(error);
    return await withEither(callerSignal, closing.signal, (signal) =>
      withRetries({ ...policy, isRetryable }, signal, () => attempt(plain, accept, signal), again),
    );
  }

  /** One try: at most one renewal of the access token, at most three redirects. */
  async function attempt(
    plain: PlainRequest,
    accept: readonly number[],
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    let { url } = plain;
    let rejected: string | undefined;
    for (let redirectCount = 0; ; ) {
      const acceptNow =
        tokens && rejected === undefined ? accept.filter((status) => status !== 401) : accept;
      let accessToken: string | undefined;
      const sign = async () => {
        accessToken = await currentToken(rejected, signal);
        return withSignature(auth.apply({ ...plain, url }, accessToken));
      };
      try {
        const outcome = await send(sign, acceptNow, signal);
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
  }

  /** A signature is valid for minutes: each try has its own. */
  function withSignature(request: TransportRequest): TransportRequest {
    const id = request.headers["webhook-id"];
    if (!writer?.sign || id === undefined) return request;
    return {
      ...request,
      headers: { ...request.headers, ...writer.sign(id, request.body ?? Buffer.alloc(0)) },
    };
  }

  async function currentToken(
    rejected: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!tokens) return undefined;
    try {
      return await orCancelled(
        rejected === undefined ? tokens.accessToken() : tokens.renew(rejected),
        signal,
      );
    } catch (error) {
      if (error instanceof ConnectorError) tokenFailures.add(error);
      throw error;
    }
  }

  /**
   * Waits for its turn, then signs, since a token may end while it waits; sends, and reads the
   * answer.
   */
  async function send(
    sign: () => Promise<TransportRequest>,
    accept: readonly number[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const giveBack = await slots.take(signal);
    try {
      const ticket = await takeTicket(signal);
      let isAnswered = false;
      try {
        const signed = await sign();
        requestCount++;
        const startedMs = performance.now();
        let status: number | undefined;
        try {
          return await transport.exchange(signed, signal, async (incoming) => {
            isAnswered = true;
            status = incoming.status;
            ticket.answered(incoming.status, incoming.headers);
            watchCookies(incoming.headers);
            return await readOutcome(incoming, { method: signed.method, url: signed.url, accept });
          });
        } finally {
          onRequest({ method: signed.method, status, durationMs: performance.now() - startedMs });
        }
      } finally {
        if (!isAnswered) ticket.failed();
      }
    } finally {
      giveBack();
    }
  }

  async function takeTicket(signal: AbortSignal) {
    let end: (() => void) | undefined;
    try {
      return await limiter.take(signal, (untilMs) => {
        const next = waiting.begin(untilMs, "rate_limit");
        end?.();
        end = next;
      });
    } finally {
      end?.();
    }
  }

  function toPlainRequest({ method, path, query, headers, body }: HttpCall): PlainRequest {
    const url = requestUrl(base, path, query);
    const extra =
      headers === undefined ? {} : checkHeaders(headers, auth.headerNames, "CONNECTOR_PROTOCOL");
    if (method === "GET") return { method, url, headers: { ...fixedHeaders, ...extra } };
    return {
      method,
      url,
      headers: { ...fixedHeaders, "content-type": "application/json", ...extra },
      json: body,
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    };
  }

  function openTokens(
    oauth: NonNullable<typeof auth.oauth>,
  ): TokenSource & { readonly transport: Transport } {
    const tokenUrl = fillTemplate(oauth.tokenUrl, config, spec);
    const clientSecret = configText(config, oauth.clientSecret);
    secrets.add(clientSecret);
    const refreshToken = configValue(config, oauth.refreshToken);
    const store =
      options.tokens ??
      createMemoryTokenStore({ refreshToken: configText(config, oauth.refreshToken) });
    if (typeof refreshToken === "string" && refreshToken !== "") secrets.add(refreshToken);
    const client = {
      tokenUrl,
      clientId: configText(config, oauth.clientId),
      clientSecret,
      clientAuth: oauth.clientAuth ?? "body",
    };
    const totalTimeoutMs = Math.min(limits.totalTimeoutMs, tokenLimits.totalTimeoutMs);
    const own = createTransport({
      settings,
      seams,
      port: portOf(tokenUrl),
      connections: 1,
      limits: { ...limits, totalTimeoutMs },
    });
    const retry = { ...policy, maxAttempts: Math.min(limits.maxAttempts, tokenLimits.maxAttempts) };
    const source = createTokenSource({
      client,
      store,
      transport: own,
      secrets,
      clock,
      retry,
      closing: closing.signal,
    });
    return { ...source, transport: own };
  }

  return {
    request,
    async connect() {
      throw new ConnectorError("CONNECTOR_PROTOCOL", {
        problem: "this connector declares no database",
      });
    },
    get requestCount() {
      return requestCount;
    },
    async close() {
      if (!closing.signal.aborted) release();
      closing.abort();
      await tokens?.settled();
      await Promise.all([transport.close(), tokens?.transport.close()]);
    },
  };
}

function httpDeclaration({ declaration }: BrokerOptions): HttpEgress {
  if (declaration.kind === "http") return declaration;
  throw new ConnectorError("INTERNAL");
}

const portOf = (url: URL) => Number(url.port || 443);
