/**
 * Requests to a provider's token endpoint: a refresh or a code, RFC 6749 sections 4.1.3 and 6, with
 * what providers make of them.
 */
import {
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  nopkce,
  processGenericTokenEndpointResponse,
  refreshTokenGrantRequest,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { budgets } from "../contract/budgets.ts";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, type ErrorCode } from "../contract/errors.ts";
import { isJsonObject } from "../contract/json.ts";
import { readBody } from "./response.ts";
import { parseRetryAfter } from "./retry.ts";
import { statusCode, statusError } from "./status-errors.ts";
import type { Transport } from "./transport.ts";

export interface TokenClient {
  readonly tokenUrl: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clientAuth: "basic" | "body";
}

export interface TokenResponse {
  readonly accessToken: string;
  /** Given only when the provider rotates it. */
  readonly refreshToken?: string | undefined;
  /** Given only when it is a positive number. */
  readonly expiresInMs?: number | undefined;
  /** Given only when the provider says what it granted, in its own form. */
  readonly scope?: string | undefined;
}

/** The parameters of a callback, and what the start had kept for it. */
export interface CodeGrant {
  /** The parameters as `validateAuthResponse` of oauth4webapi gave them. */
  readonly callbackParameters: URLSearchParams;
  /** Exactly as in the authorization request. */
  readonly redirectUri: string;
  /** Missing: no proof key was announced. */
  readonly codeVerifier?: string | undefined;
}

/** `error` of RFC 6749 section 5.2 and what providers send in its place, mostly with status 200. */
const codesByError: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ...[
    "invalid_grant",
    "invalid_refresh_token",
    "bad_refresh_token",
    "invalid_code",
    "token_revoked",
    "token_expired",
  ].map((error) => [error, "REAUTHORIZATION_NEEDED"] as const),
  ...[
    "invalid_client",
    "unauthorized_client",
    "incorrect_client_credentials",
    "bad_client_secret",
    "invalid_client_secret",
  ].map((error) => [error, "CREDENTIALS_REJECTED"] as const),
  ...["temporarily_unavailable", "server_error", "internal_error", "general_error"].map(
    (error) => [error, "PROVIDER_UNAVAILABLE"] as const,
  ),
  // "Access Denied" in these words, with status 400 or 200, is Zoho's for too many tokens; RFC 6749
  // writes access_denied.
  ...["slow_down", "ratelimited", "rate_limited", "Access Denied"].map(
    (error) => [error, "RATE_LIMITED"] as const,
  ),
]);

/**
 * New tokens for a refresh token. Sent once: whoever calls decides on a further try.
 * @throws REAUTHORIZATION_NEEDED the refresh token is no longer valid · CREDENTIALS_REJECTED the
 * client is not known · RATE_LIMITED, PROVIDER_UNAVAILABLE, REQUEST_REJECTED, REDIRECT_REFUSED,
 * RESPONSE_INVALID · as {@link Transport.exchange}
 */
export async function refreshTokens(
  tokenClient: TokenClient,
  refreshToken: string,
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<TokenResponse> {
  return await requestTokens(
    tokenClient,
    transport,
    clock,
    signal,
    ({ server, client, authenticate, options }) =>
      refreshTokenGrantRequest(server, client, authenticate, refreshToken, options),
  );
}

/**
 * The tokens for an authorization code. Never send a code again, whatever came of it: a server that
 * sees one twice revokes what it gave for it (RFC 6749 section 4.1.2).
 * @throws REAUTHORIZATION_NEEDED the code or what belongs to it is not valid · else as {@link
 * refreshTokens}
 */
export async function exchangeCode(
  tokenClient: TokenClient,
  { callbackParameters, redirectUri, codeVerifier }: CodeGrant,
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<TokenResponse> {
  return await requestTokens(
    tokenClient,
    transport,
    clock,
    signal,
    ({ server, client, authenticate, options }) =>
      authorizationCodeGrantRequest(
        server,
        client,
        authenticate,
        callbackParameters,
        redirectUri,
        codeVerifier ?? nopkce,
        options,
      ),
  );
}

interface GrantRequest {
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly authenticate: ClientAuth;
  readonly options: TokenEndpointRequestOptions;
}

async function requestTokens(
  tokenClient: TokenClient,
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
  grant: (request: GrantRequest) => Promise<Response>,
): Promise<TokenResponse> {
  const { tokenUrl } = tokenClient;
  const server: AuthorizationServer = { issuer: tokenUrl.origin, token_endpoint: tokenUrl.href };
  const client = { client_id: tokenClient.clientId };
  const send = async (
    _url: string,
    init: { readonly headers: Record<string, string>; readonly body?: unknown },
  ) => {
    const body = Buffer.from(String(init.body));
    const request = { method: "POST", url: tokenUrl, headers: init.headers, body } as const;
    return await transport.exchange(request, signal, async ({ status, headers, body }) => {
      const bytes = await readBody(body, headers, budgets.tokenAnswer.bytes);
      return toTokenResponse(status, bytes, parseRetryAfter(headers["retry-after"], clock.now()));
    });
  };
  try {
    const authenticate = clientAuthentication(tokenClient);
    const response = await grant({
      server,
      client,
      authenticate,
      options: { [customFetch]: send },
    });
    return toMinted(await processGenericTokenEndpointResponse(server, client, response));
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw notATokenAnswer();
  }
}

/** How the client proves itself at the token and revocation endpoints. */
export function clientAuthentication({ clientAuth, clientSecret }: TokenClient): ClientAuth {
  return clientAuth === "basic" ? basicClient(clientSecret) : ClientSecretPost(clientSecret);
}

/**
 * RFC 6749 section 2.3.1. The library's own function also encodes "-", "." and "_", which form
 * encoding leaves alone: servers that decode nothing would refuse most real client ids.
 */
const basicClient =
  (clientSecret: string): ClientAuth =>
  (_server, client, _body, headers) => {
    const formEncode = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
    const encoded = Buffer.from(
      `${formEncode(client.client_id)}:${formEncode(clientSecret)}`,
    ).toString("base64");
    headers.set("authorization", `Basic ${encoded}`);
  };

/** Answers of many dialects in the one form that the library takes. */
function toTokenResponse(
  status: number,
  bytes: Buffer,
  retryAfterMs: number | undefined,
): Response {
  if (status >= 300 && status < 400) throw new ConnectorError("REDIRECT_REFUSED");
  const answer = parseObject(bytes);
  const fault = tokenFault(status, answer, retryAfterMs);
  if (fault) throw fault;
  if (!answer) throw notATokenAnswer();
  const { access_token, refresh_token, expires_in, scope } = answer;
  return Response.json({
    access_token,
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refresh_token } : {}),
    ...(typeof scope === "string" ? { scope } : {}),
    ...(Number(expires_in) > 0 ? { expires_in: Number(expires_in) } : {}),
    // The connector declares the word that goes before the token; what the answer calls it differs
    // even within RFC 6749.
    token_type: "bearer",
  });
}

/** The failure that an answer of a token endpoint means. */
export function tokenFault(
  status: number,
  answer: { readonly error?: unknown } | undefined,
  retryAfterMs?: number,
): ConnectorError | undefined {
  const isTransient = status === 429 || statusCode(status) === "PROVIDER_UNAVAILABLE";
  if (status >= 400 && isTransient) return statusError(status, undefined, retryAfterMs);
  if (typeof answer?.error === "string" && answer.error !== "")
    return statusError(
      status,
      codesByError.get(answer.error) ?? rejectedCode(status),
      retryAfterMs,
    );
  if (status < 200 || status >= 300) return statusError(status, rejectedCode(status));
  return undefined;
}

const rejectedCode = (status: number): ErrorCode =>
  status === 401 || status === 403 ? "CREDENTIALS_REJECTED" : "REQUEST_REJECTED";

export const isToken = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length <= budgets.token.bytes &&
  /^[\u0021-\u007e]+$/.test(value);

function toMinted(tokens: TokenEndpointResponse): TokenResponse {
  if (
    !isToken(tokens.access_token) ||
    (tokens.refresh_token !== undefined && !isToken(tokens.refresh_token))
  )
    throw notATokenAnswer();
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    expiresInMs: tokens.expires_in === undefined ? undefined : tokens.expires_in * 1_000,
    scope: tokens.scope,
  };
}

function parseObject(bytes: Buffer): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isJsonObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const notATokenAnswer = () =>
  new ConnectorError("RESPONSE_INVALID", {
    reason: "no token in the answer of the token endpoint",
  });
