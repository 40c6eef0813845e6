/**
 * The access tokens of a broker: from the provider's token endpoint, over a transport of their own.
 */

import type { OAuth2 } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits } from "../contract/network.ts";
import { createMemoryTokenStore } from "../contract/token-store.ts";
import { orCancelled } from "./abort.ts";
import type { BrokerOptions } from "./broker.ts";
import { configText, configValue } from "./config-field.ts";
import { createTokenSource } from "./oauth.ts";
import { fillTemplate } from "./request-url.ts";
import type { RetryPolicy } from "./retry.ts";
import { refreshTokens, type TokenClient } from "./token-endpoint.ts";
import { createTransport } from "./transport.ts";

export interface AccessTokens {
  /**
   * The token to sign with: another one than `rejected`, which the provider refused.
   * @throws CANCELLED, REAUTHORIZATION_NEEDED and the token endpoint's failures
   */
  current(rejected: string | undefined, signal: AbortSignal): Promise<string>;
  /** True for what `current` threw: the token endpoint has been tried often enough. */
  isFailure(error: ConnectorError): boolean;
  /** Resolves when no refresh is under way any more and the connections are closed. */
  close(): Promise<void>;
}

type BrokerTokenOptions = Pick<
  BrokerOptions,
  "config" | "secrets" | "clock" | "settings" | "seams" | "tokens"
> & {
  readonly spec: JsonObject | undefined;
  readonly limits: HttpLimits;
  readonly retry: RetryPolicy;
  readonly closing: AbortSignal;
};

/**
 * Token endpoints answer in a second or not at all; a run that ends waits for a refresh under way.
 */
export const tokenTimeoutMs = 30_000;
/** Providers lock out clients that keep asking. */
export const maxTokenAttempts = 3;
const never = new AbortController().signal;

/** @throws CONFIG_INVALID a credential or part of the URL is missing */
export function openAccessTokens(oauth: OAuth2, options: BrokerTokenOptions): AccessTokens {
  const { config, spec, secrets, clock, settings, seams, limits, retry, closing } = options;
  const tokenUrl = fillTemplate(oauth.tokenUrl, config, spec);
  const clientSecret = configText(config, oauth.clientSecret);
  secrets.add(clientSecret);
  const refreshToken = configValue(config, oauth.refreshToken);
  const store =
    options.tokens ??
    createMemoryTokenStore({ refreshToken: configText(config, oauth.refreshToken) });
  if (typeof refreshToken === "string" && refreshToken !== "") secrets.add(refreshToken);
  const transport = createTransport({
    settings,
    seams,
    port: Number(tokenUrl.port || 443),
    connections: 1,
    limits: {
      ...limits,
      totalTimeoutMs: Math.min(limits.totalTimeoutMs, tokenTimeoutMs),
    },
  });
  const client: TokenClient = {
    tokenUrl,
    clientId: configText(config, oauth.clientId),
    clientSecret,
    clientAuth: oauth.clientAuth ?? "body",
  };
  // One that is under way is let through: its answer may hold the only valid token.
  const refresh = (refreshToken: string) =>
    refreshTokens(client, refreshToken, transport, clock, never);
  const source = createTokenSource({
    store,
    secrets,
    clock,
    retry: { ...retry, maxAttempts: Math.min(limits.maxAttempts, maxTokenAttempts) },
    closing,
  });
  const failures = new WeakSet<ConnectorError>();

  return {
    async current(rejected, signal) {
      try {
        return (await orCancelled(source.valid(refresh, rejected), signal)).accessToken;
      } catch (error) {
        if (error instanceof ConnectorError) failures.add(error);
        throw error;
      }
    },
    isFailure: (error) => failures.has(error),
    async close() {
      await source.settled();
      await transport.close();
    },
  };
}
