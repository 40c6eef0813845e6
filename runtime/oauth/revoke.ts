import { customFetch, revocationRequest } from "oauth4webapi";
import type { Manifest } from "../contract/catalog.ts";
import { ConnectorError, type ErrorCode, toConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Tokens } from "../contract/token-store.ts";
import { fillTemplate } from "../egress/request-url.ts";
import { readBody } from "../egress/response.ts";
import { statusError } from "../egress/status-errors.ts";
import { clientAuthentication, type TokenClient } from "../egress/token-endpoint.ts";
import type { Transport } from "../egress/transport.ts";
import { findAccount, type OAuthClient, toTokenClient } from "./declaration.ts";
import { type AuthorizationNetwork, withTokenTransport } from "./token-transport.ts";

export interface RevokeOptions extends AuthorizationNetwork {
  readonly manifest: Manifest;
  /** The settings: region, and the client unless it is given. */
  readonly config: JsonObject;
  /** The operator's client. */
  readonly client?: OAuthClient | undefined;
  readonly tokens: Tokens;
}

/**
 * The fate of the tokens at the provider. Record it; the stored tokens are destroyed in any
 * case.
 */
export type RevocationResult =
  | { readonly status: "revoked" }
  /** The connector declares no revocation, or there is no token. */
  | { readonly status: "not_supported" }
  | { readonly status: "failed"; readonly code: ErrorCode };

/** An answer of RFC 7009 is empty or a short error. */
const maxAnswerBytes = 65_536;
const never = new AbortController().signal;

/**
 * Asks the provider to forget the tokens (RFC 7009): the refresh token first, because its end may
 * end the access token too, then the access token. Each is sent once; call it again after a failure
 * that may pass. Never throws.
 */
export async function revokeTokens(options: RevokeOptions): Promise<RevocationResult> {
  try {
    return await revoke(options);
  } catch (error) {
    return { status: "failed", code: toConnectorError(error).code };
  }
}

async function revoke({
  manifest,
  config,
  client: given,
  tokens,
  ...network
}: RevokeOptions): Promise<RevocationResult> {
  const account = findAccount(manifest);
  const { refreshToken, accessToken } = tokens;
  const template = account?.authorization?.revokeUrl;
  if (!account || template === undefined || (refreshToken ?? accessToken) === undefined)
    return { status: "not_supported" };
  const client = toTokenClient(account, config, manifest.spec, given);
  const url = fillTemplate(template, config, manifest.spec);
  for (const secret of [client.clientSecret, refreshToken, accessToken])
    if (secret) network.secrets.add(secret);
  return await withTokenTransport(url, network, async (transport) => {
    if (refreshToken !== undefined)
      await revokeOne(url, client, "refresh_token", refreshToken, transport);
    if (accessToken !== undefined) {
      await revokeOne(url, client, "access_token", accessToken, transport).catch(
        (error: unknown) => {
          // Servers that revoke refresh tokens only: the access token ends by itself (RFC 7009
          // section 2.2.1).
          if (refreshToken === undefined || !isUnsupported(error)) throw error;
        },
      );
    }
    return { status: "revoked" };
  });
}

const isUnsupported = (error: unknown) =>
  error instanceof ConnectorError && error.code === "REQUEST_REJECTED";

/**
 * @throws as the status of the answer says; an unknown token is no failure (RFC 7009 section 2.2)
 */
async function revokeOne(
  url: URL,
  client: TokenClient,
  kind: "refresh_token" | "access_token",
  token: string,
  transport: Transport,
): Promise<void> {
  const server = { issuer: url.origin, revocation_endpoint: url.href };
  const send = async (
    _url: string,
    init: { readonly headers: Record<string, string>; readonly body?: unknown },
  ) => {
    const request = {
      method: "POST",
      url,
      headers: init.headers,
      body: Buffer.from(String(init.body)),
    } as const;
    return await transport.exchange(request, never, async ({ status, headers, body }) => {
      await readBody(body, headers, maxAnswerBytes);
      if (status >= 300 && status < 400) throw new ConnectorError("REDIRECT_REFUSED");
      if (status < 200 || status >= 300) throw statusError(status);
      return new Response(null, { status: 200 });
    });
  };
  await revocationRequest(
    server,
    { client_id: client.clientId },
    clientAuthentication(client),
    token,
    {
      [customFetch]: send,
      additionalParameters: { token_type_hint: kind },
    },
  );
}
