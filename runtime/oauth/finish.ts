import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Tokens } from "../contract/token-store.ts";
import { exchangeCode, type TokenResponse } from "../egress/token-endpoint.ts";
import { checkCallback, parseCallback, refusal } from "./callback.ts";
import { requireAuthorization, toTokenClient } from "./declaration.ts";
import {
  type AuthorizationContext,
  hashState,
  type PendingAuthorization,
  type PendingStore,
} from "./pending.ts";
import { type AuthorizationNetwork, withTokenTransport } from "./token-transport.ts";

export interface FinishOptions extends AuthorizationNetwork {
  readonly manifest: Manifest;
  /**
   * The URL at which the browser arrived, query included: the redirect URI's own origin and path,
   * not what a proxy made of them.
   */
  readonly callbackUrl: string;
  /** The context of the request that brought the callback, from its session. */
  readonly context: AuthorizationContext;
  readonly pendings: PendingStore;
}

export interface GrantedAuthorization {
  /** Save them before anything else: no second exchange will give them again. */
  readonly tokens: Tokens;
  /** As the provider said, or as asked for when it said nothing (RFC 6749 section 5.1). */
  readonly grantedScopes: readonly string[];
  /** Asked for and not granted: some streams will lack permission. */
  readonly missingScopes: readonly string[];
  /**
   * Settings that the callback decided (the region), by their dotted names. They replace the
   * user's.
   */
  readonly config: JsonObject;
  readonly reference?: string | undefined;
}

const never = new AbortController().signal;

/**
 * Ends what startAuthorization began: takes the pending authorisation, checks the callback against
 * it, and exchanges the code. The code is sent once and never again, whatever comes of it; a
 * callback that arrives twice is refused.
 * @throws AUTHORIZATION_FAILED the callback does not fit, or the code was refused ·
 * CREDENTIALS_REJECTED the client is not known · what the token endpoint or the way to it fails
 * with (RATE_LIMITED, PROVIDER_UNAVAILABLE, REQUEST_REJECTED, RESPONSE_INVALID, REDIRECT_REFUSED,
 * CONNECTION_FAILED, …): start anew then
 */
export async function finishAuthorization(options: FinishOptions): Promise<GrantedAuthorization> {
  const { manifest, context, pendings, secrets, clock } = options;
  const { spec } = manifest;
  const account = requireAuthorization(manifest);
  const callback = parseCallback(options.callbackUrl);
  const pending = await pendings.take(hashState(callback.state));
  if (!pending) throw refusal("unknown_state");
  const checked = checkCallback(callback, pending, { account, spec, context, nowMs: clock.now() });

  const client = toTokenClient(
    account,
    { ...pending.config, ...checked.config },
    spec,
    pending.client,
  );
  const { callbackParameters, codeVerifier } = checked.grant;
  for (const secret of [client.clientSecret, callbackParameters.get("code"), codeVerifier])
    if (secret) secrets.add(secret);
  const minted = await withTokenTransport(client.tokenUrl, options, (transport) =>
    exchangeCode(client, checked.grant, transport, clock, never).catch((error: unknown) => {
      if (error instanceof ConnectorError && error.code === "REAUTHORIZATION_NEEDED")
        throw refusal("code_refused");
      throw error;
    }),
  );
  const tokens = toTokens(minted, clock.now());
  for (const secret of [tokens.accessToken, tokens.refreshToken]) if (secret) secrets.add(secret);
  if (tokens.expiresAtMs !== undefined && tokens.refreshToken === undefined)
    throw refusal("no_refresh_token");
  const { reference } = pending;
  return {
    tokens,
    ...compareScopes(minted, pending),
    config: checked.config,
    reference,
  };
}

function toTokens(
  { accessToken, refreshToken, expiresInMs }: TokenResponse,
  nowMs: number,
): Tokens {
  return {
    accessToken,
    obtainedAtMs: nowMs,
    ...(expiresInMs === undefined ? {} : { expiresAtMs: nowMs + expiresInMs }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  };
}

function compareScopes({ scope }: TokenResponse, { scopes }: PendingAuthorization) {
  const grantedScopes =
    scope === undefined ? scopes : scope.split(/[\s,]+/).filter((one) => one !== "");
  return { grantedScopes, missingScopes: scopes.filter((one) => !grantedScopes.includes(one)) };
}
