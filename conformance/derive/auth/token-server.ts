/**
 * The provider with a token endpoint that mints, counts and judges: what the AUTH rules are tried
 * with.
 */
import type { JsonValue } from "svc-connectors";
import type { Lab } from "../../contract/lab.ts";
import type { Answer, Provider, ProviderRequest } from "../../contract/network.ts";
import { toAnswer } from "../../replay/strict.ts";
import {
  bodyParameters,
  isTokenRequest,
  rewriteTokens,
  type TokenEndpoint,
} from "./token-endpoint.ts";

export interface TokenServerOptions {
  /** `expires_in` of every token answer; null = it is left out. Default: `lifeSeconds`. */
  readonly expiresIn?: JsonValue | undefined;
  /** Seconds, on the virtual clock, that an access token is good for. Default 3600. */
  readonly lifeSeconds?: number | undefined;
  /** Refresh tokens: a new one with each refresh, or none in the answer. Default: as recorded. */
  readonly refreshTokens?: "rotated" | "omitted" | undefined;
  /** Only the newest refresh token is accepted. */
  readonly isStrict?: boolean | undefined;
  /** With API request number n (from 0) every token that was given before it ends. */
  readonly revokeAt?: number | undefined;
  /** No access token is ever accepted. */
  readonly refusesAll?: boolean | undefined;
  /** In place of token answer number n (from 0). */
  readonly tokenAnswer?: (count: number) => Answer | undefined;
  /** The last word on an answer of the token endpoint. */
  readonly change?: ((answer: Answer, request: ProviderRequest) => Answer) | undefined;
  /** In place of API answer number n (from 0). */
  readonly apiAnswer?: (count: number) => Answer | undefined;
}

/** A request to the token endpoint. */
export interface Refresh {
  readonly index: number;
  readonly atMs: number;
  /** The refresh token of the request. */
  readonly refreshToken: string | undefined;
  /** The access token of the answer. */
  readonly accessToken: string | undefined;
  readonly newRefreshToken: string | undefined;
}

/** A request to the API. */
export interface TokenUse {
  readonly request: ProviderRequest;
  /** A token that this server gave; undefined = none of them. */
  readonly accessToken: string | undefined;
  /** Milliseconds that it is still good for; negative when it has ended. */
  readonly leftMs: number;
  readonly isRefused: boolean;
}

export interface TokenServer extends Provider {
  readonly refreshes: readonly Refresh[];
  readonly uses: readonly TokenUse[];
}

export function createTokenServer(
  lab: Lab,
  endpoint: TokenEndpoint,
  options: TokenServerOptions = {},
): TokenServer {
  const { lifeSeconds = 3_600, expiresIn = lifeSeconds, isStrict = false } = options;
  const inner = lab.learned.provider();
  const refreshes: Refresh[] = [];
  const uses: TokenUse[] = [];
  const given = new Map<string, { readonly endsAtMs: number; readonly beforeUse: number }>();
  const initial = bodyParameters({ body: endpoint.request.body ?? "" }).get("refresh_token");
  let accepted: string | undefined;
  let isRevoked = false;

  function refresh(request: ProviderRequest): Answer {
    const { index, atMs = 0 } = request;
    const count = refreshes.length;
    const sent = bodyParameters(request).get("refresh_token");
    const failed = (answer: Answer): Answer => {
      refreshes.push({
        index,
        atMs,
        refreshToken: sent,
        accessToken: undefined,
        newRefreshToken: undefined,
      });
      return answer;
    };
    const instead = options.tokenAnswer?.(count);
    if (instead) return failed(instead);
    accepted ??= sent;
    if (isStrict && sent !== accepted) return failed(refusedGrant);
    const accessToken = `${endpoint.accessToken}${count + 1}`;
    const isRotated =
      options.refreshTokens === undefined
        ? endpoint.refreshToken !== undefined
        : options.refreshTokens === "rotated";
    const newRefreshToken = isRotated
      ? `${endpoint.refreshToken ?? initial ?? ""}${count + 1}`
      : undefined;
    accepted = newRefreshToken ?? accepted;
    given.set(accessToken, { endsAtMs: atMs + lifeSeconds * 1_000, beforeUse: uses.length });
    refreshes.push({ index, atMs, refreshToken: sent, accessToken, newRefreshToken });
    const truth = toAnswer(endpoint.response, "the token endpoint");
    const values = {
      access_token: accessToken,
      refresh_token: newRefreshToken,
      expires_in: expiresIn ?? undefined,
    };
    const answer = {
      ...truth,
      body: Buffer.from(rewriteTokens(truth.body.toString("utf8"), values)),
    };
    return options.change?.(answer, request) ?? answer;
  }

  function serve(request: ProviderRequest): Answer | { readonly unmatched: string } {
    const count = uses.length;
    if (count === options.revokeAt) isRevoked = true;
    const accessToken = [...given.keys()].findLast((token) => carries(request, token));
    const known = accessToken === undefined ? undefined : given.get(accessToken);
    const leftMs = known ? known.endsAtMs - (request.atMs ?? 0) : Number.POSITIVE_INFINITY;
    const isOld = isRevoked && (known?.beforeUse ?? 0) <= (options.revokeAt ?? 0);
    const isRefused = options.refusesAll === true || isOld || leftMs <= 0;
    uses.push({ request, accessToken, leftMs, isRefused });
    return isRefused ? refusal(lab) : (options.apiAnswer?.(count) ?? inner.answer(request));
  }

  return {
    refreshes,
    uses,
    answer: (request) => (isTokenRequest(endpoint, request) ? refresh(request) : serve(request)),
    unused: () => [],
  };
}

/** Tokens of one run begin with one another: the longest that is there was meant. */
const carries = ({ headers, url, body }: ProviderRequest, token: string) => {
  const isThere = (text: string) =>
    text.endsWith(token) || new RegExp(`${token}(?!\\w)`).test(text);
  return Object.values(headers).some(isThere) || isThere(url.search) || isThere(body);
};

const json = { "content-type": "application/json" };

/** RFC 6749 section 5.2. */
export const refusedGrant: Answer = {
  status: 400,
  headers: json,
  body: Buffer.from('{"error":"invalid_grant"}'),
};

function refusal({ answers }: Lab): Answer {
  const own = answers?.answers["401"];
  const body =
    own?.body ?? '{"error":{"code":"unauthorized","message":"The access token is not valid."}}';
  return { status: 401, headers: { ...json, ...own?.headers }, body: Buffer.from(body) };
}
