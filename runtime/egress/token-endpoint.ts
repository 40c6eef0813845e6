/** One refresh at a provider's token endpoint: RFC 6749 section 6, with what providers make of it. */
import {
  type AuthorizationServer,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
} from "oauth4webapi";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, type ErrorCode } from "../errors.ts";
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

export interface MintedTokens {
  readonly accessToken: string;
  /** Given only when the provider rotates it. */
  readonly refreshToken?: string;
  /** Given only when it is a positive number. */
  readonly expiresInMs?: number;
}

/** A token answer is about 4 KB. */
const maxTokenBytes = 262_144;

/** `error` of RFC 6749 section 5.2 and what providers send in its place, mostly with status 200. */
const codesByError: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ...["invalid_grant", "invalid_refresh_token", "bad_refresh_token", "invalid_code", "token_revoked", "token_expired"].map((error) => [error, "REAUTHORIZATION_NEEDED"] as const),
  ...["invalid_client", "unauthorized_client", "incorrect_client_credentials", "bad_client_secret", "invalid_client_secret"].map((error) => [error, "CREDENTIALS_REJECTED"] as const),
  ...["temporarily_unavailable", "server_error", "internal_error", "general_error"].map((error) => [error, "PROVIDER_UNAVAILABLE"] as const),
  // "Access Denied" in these words, with status 400 or 200, is Zoho's for too many tokens; RFC 6749 writes access_denied.
  ...["slow_down", "ratelimited", "rate_limited", "Access Denied"].map((error) => [error, "RATE_LIMITED"] as const),
]); // biome-ignore format: one code a line

/**
 * New tokens for a refresh token. Sent once: whoever calls decides on a further try.
 * @throws REAUTHORIZATION_NEEDED the refresh token is no longer valid · CREDENTIALS_REJECTED the client is not known ·
 *   RATE_LIMITED, PROVIDER_UNAVAILABLE, REQUEST_REJECTED, REDIRECT_REFUSED, RESPONSE_INVALID · as {@link Transport.exchange}
 */
export async function refreshTokens(
  { tokenUrl, clientId, clientSecret, clientAuth }: TokenClient,
  refreshToken: string,
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<MintedTokens> {
  const server: AuthorizationServer = { issuer: tokenUrl.origin, token_endpoint: tokenUrl.href };
  const client = { client_id: clientId };
  const authenticate = clientAuth === "basic" ? basicClient(clientSecret) : ClientSecretPost(clientSecret);
  const send = async (_url: string, init: { readonly headers: Record<string, string>; readonly body?: unknown }) => {
    const request = {
      method: "POST",
      url: tokenUrl,
      headers: init.headers,
      body: Buffer.from(String(init.body)),
    } as const;
    return await transport.exchange(request, signal, async ({ status, headers, body }) => {
      const bytes = await readBody(body, headers, maxTokenBytes);
      return toTokenResponse(status, bytes, parseRetryAfter(headers["retry-after"], clock.now()));
    });
  };
  try {
    const response = await refreshTokenGrantRequest(server, client, authenticate, refreshToken, {
      [customFetch]: send,
    });
    const tokens = await processRefreshTokenResponse(server, client, response);
    return toMinted(tokens);
  } catch (error) {
    if (error instanceof ConnectorError) throw error;
    throw notATokenAnswer();
  }
}

/**
 * RFC 6749 section 2.3.1. The library's own function also encodes "-", "." and "_", which form encoding leaves alone:
 * servers that decode nothing would refuse most real client ids.
 */
const basicClient =
  (clientSecret: string): ClientAuth =>
  (_server, client, _body, headers) => {
    const formEncode = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
    const encoded = Buffer.from(`${formEncode(client.client_id)}:${formEncode(clientSecret)}`).toString("base64");
    headers.set("authorization", `Basic ${encoded}`);
  };

/** Answers of many dialects in the one form that the library takes. */
function toTokenResponse(status: number, bytes: Buffer, retryAfterMs: number | undefined): Response {
  if (status >= 300 && status < 400) throw new ConnectorError("REDIRECT_REFUSED");
  const answer = parseObject(bytes);
  const isTransient = status === 429 || statusCode(status) === "PROVIDER_UNAVAILABLE";
  if (status >= 400 && isTransient) throw statusError(status, undefined, retryAfterMs);
  if (typeof answer?.error === "string" && answer.error !== "") {
    throw statusError(status, codesByError.get(answer.error) ?? rejectedCode(status), retryAfterMs);
  }
  if (status < 200 || status >= 300) throw statusError(status, rejectedCode(status));
  if (!answer) throw notATokenAnswer();
  const { access_token, refresh_token, expires_in } = answer;
  return Response.json({
    access_token,
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refresh_token } : {}),
    ...(Number(expires_in) > 0 ? { expires_in: Number(expires_in) } : {}),
    // The connector declares the word that goes before the token; what the answer calls it differs even within RFC 6749.
    token_type: "bearer",
  });
}

const rejectedCode = (status: number): ErrorCode =>
  status === 401 || status === 403 ? "CREDENTIALS_REJECTED" : "REQUEST_REJECTED";

function toMinted(tokens: { access_token: string; refresh_token?: string; expires_in?: number }): MintedTokens {
  const isToken = (text: string) => /^[\u0021-\u007e]+$/.test(text);
  if (!isToken(tokens.access_token) || (tokens.refresh_token !== undefined && !isToken(tokens.refresh_token)))
    throw notATokenAnswer();
  return {
    accessToken: tokens.access_token,
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
    ...(tokens.expires_in === undefined ? {} : { expiresInMs: tokens.expires_in * 1_000 }),
  };
}

function parseObject(bytes: Buffer): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const notATokenAnswer = () =>
  new ConnectorError("RESPONSE_INVALID", { reason: "no token in the answer of the token endpoint" });
