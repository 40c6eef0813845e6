import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
} from "oauth4webapi";
import type { Manifest } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import type { Authorization } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { fillTemplate } from "../egress/request-url.ts";
import {
  accountConfig,
  type OAuthClient,
  requireAuthorization,
  toTokenClient,
} from "./declaration.ts";
import {
  type AuthorizationContext,
  hashContext,
  hashState,
  type PendingAuthorization,
} from "./pending.ts";

/**
 * Time that a user has for logging in and consenting. RFC 6749 section 4.1.2 recommends as much for
 * a code.
 */
const pendingMs = 600_000;

export interface StartOptions {
  readonly manifest: Manifest;
  /**
   * The settings so far: what stands in the declared URLs must be there, and the client unless it
   * is given.
   */
  readonly config: JsonObject;
  /** The operator's client. Default: the settings that the connector declares for one. */
  readonly client?: OAuthClient | undefined;
  /** Fewer scopes than the connector declares. */
  readonly scopes?: readonly string[] | undefined;
  /** Registered with the provider; one for each connector, https or loopback, without a query. */
  readonly redirectUri: string;
  readonly context: AuthorizationContext;
  /** @see PendingAuthorization.reference */
  readonly reference?: string | undefined;
  readonly clock: Clock;
}

export interface StartedAuthorization {
  /**
   * Where the browser goes. It holds the state: send it to this browser only, and do not log it.
   */
  readonly url: string;
  /** Store it, encrypted, before the browser leaves. */
  readonly pending: PendingAuthorization;
}

/**
 * Begins to connect an account: the authorization request of RFC 6749 section 4.1.1 with a state of
 * 32 random bytes and a proof key. Sends nothing.
 * @throws CONNECTOR_INVALID no authorization is declared · CONFIG_INVALID a setting is missing, a
 * scope is not declared, or the redirect URI cannot be one
 */
export async function startAuthorization(options: StartOptions): Promise<StartedAuthorization> {
  const { manifest, client, redirectUri, context, reference, clock } = options;
  const account = requireAuthorization(manifest);
  const { authorizeUrl, scopeSeparator = " ", pkce = true, extra = {} } = account.authorization;
  const scopes = chosenScopes(account.authorization, options.scopes);
  const config = accountConfig(manifest, options.config, client);
  // A lack that the exchange would meet is said before the user logs in.
  const { clientId } = toTokenClient(account, config, manifest.spec, client);
  checkRedirectUri(redirectUri);

  const state = generateRandomState();
  const codeVerifier = pkce ? generateRandomCodeVerifier() : undefined;
  const url = fillTemplate(authorizeUrl, config, manifest.spec);
  for (const [name, value] of Object.entries({
    ...extra,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scopes.length > 0 ? { scope: scopes.join(scopeSeparator) } : {}),
    state,
  })) {
    url.searchParams.set(name, value);
  }
  if (codeVerifier !== undefined) {
    url.searchParams.set("code_challenge", await calculatePKCECodeChallenge(codeVerifier));
    url.searchParams.set("code_challenge_method", "S256");
  }
  const pending = {
    stateHash: hashState(state),
    contextHash: hashContext(context),
    redirectUri,
    codeVerifier,
    scopes,
    config,
    client,
    reference,
    expiresAtMs: clock.now() + pendingMs,
  };
  return { url: url.href, pending };
}

function chosenScopes(
  { scopes }: Authorization,
  chosen: readonly string[] = scopes,
): readonly string[] {
  if (chosen.every((scope) => scopes.includes(scope))) return [...new Set(chosen)];
  throw new ConnectorError("CONFIG_INVALID", {
    path: "scopes",
    problem: "has one that the connector does not declare",
  });
}

/**
 * RFC 6749 section 3.1.2 and RFC 8252 section 7.3; compared as text later, so it must be in
 * canonical form.
 */
function checkRedirectUri(redirectUri: string): void {
  const url = URL.parse(redirectUri);
  const isLoopback =
    url?.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  const isPlain =
    url?.href === redirectUri && url.search === "" && url.hash === "" && url.username === "";
  if (isPlain && (url.protocol === "https:" || isLoopback)) return;
  throw new ConnectorError("CONFIG_INVALID", {
    path: "redirect_uri",
    problem: "must be an https URL with a path, without query, fragment or user",
  });
}
