import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { TokenStore } from "../contract/token-store.ts";
import { createTokenSource } from "../egress/oauth.ts";
import { refreshTokens } from "../egress/token-endpoint.ts";
import { findAccount, type OAuthClient, toTokenClient } from "./declaration.ts";
import { type AuthorizationNetwork, withTokenTransport } from "./token-transport.ts";

export interface AccessTokenOptions extends AuthorizationNetwork {
  readonly manifest: Manifest;
  readonly config: JsonObject;
  readonly client: OAuthClient;
  readonly store: TokenStore;
}

/**
 * A token endpoint that does not answer is asked once more, within the time for which somebody
 * waits.
 */
const retry = { maxAttempts: 2, budgetMs: 20_000 };
const never = new AbortController().signal;

/**
 * An access token for the setting that it takes the place of. One that ends is renewed by its
 * refresh token, ahead of its end, by one refresh at a time, and saved before it is given. Asks
 * nobody while it is good.
 * @throws REAUTHORIZATION_NEEDED it has ended, and there is no refresh token or the provider
 * refused it · as the token endpoint fails
 */
export async function validAccessToken(options: AccessTokenOptions): Promise<string> {
  const { manifest, config, store, secrets, clock } = options;
  const account = findAccount(manifest);
  if (!account)
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress.auth",
      problem: "declares no account",
    });
  const client = toTokenClient(account, config, manifest.spec, options.client);
  secrets.add(client.clientSecret);
  return await withTokenTransport(client.tokenUrl, options, async (transport) => {
    const wait = (durationMs: number, signal: AbortSignal) => clock.sleep(durationMs, signal);
    const policy = { ...retry, clock, random: Math.random, wait };
    const source = createTokenSource({ store, secrets, clock, retry: policy, closing: never });
    const refresh = (refreshToken: string) =>
      refreshTokens(client, refreshToken, transport, clock, never);
    return (await source.valid(refresh)).accessToken;
  });
}
