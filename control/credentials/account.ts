import {
  findAccount,
  findRotatingField,
  type JsonObject,
  type Manifest,
  type OAuthClient,
  type TokenStore,
  validAccessToken,
} from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { CredentialRow } from "./rows.ts";
import type { StoredSecret } from "./stored-secret.ts";
import { createTokenStore } from "./token-store.ts";

type AccountContext = Pick<OperationContext, "services" | "secrets">;

/** The settings and tokens that stand for an account in a run. */
export interface AccountInRun {
  /** Settings that nobody enters: the operator's client, the account's token. */
  readonly config: JsonObject;
  /** Where the tokens are that the run renews. */
  readonly tokens?: TokenStore | undefined;
}

/**
 * The account of a credential, ready for a run: an access token that takes the place of a setting
 * is good for a while.
 * @param config the settings of the run so far
 * @throws oauth_app_missing, credential_not_usable, and as the token endpoint fails
 */
export async function openAccount(
  ctx: AccountContext,
  manifest: Manifest,
  credential: CredentialRow,
  { tokens }: StoredSecret,
  config: JsonObject,
): Promise<AccountInRun> {
  const account = findAccount(manifest);
  if (!account) {
    // A token that was entered by hand, and that its provider replaces.
    const field = findRotatingField(manifest);
    if (field === undefined) return { config: {} };
    return { config: {}, tokens: createTokenStore(ctx.services, credential, field) };
  }
  const { kind, field } = account.token;
  const store = createTokenStore(ctx.services, credential, field);
  if (credential.auth_type !== "oauth2")
    return kind === "refresh" ? { config: {}, tokens: store } : { config: {} };
  const client = operatorClient(ctx, credential.connector_id);
  if (kind === "access") {
    const token = await validAccessToken({ manifest, config, client, store, ...networkOf(ctx) });
    ctx.secrets.add(token);
    return { config: { [field]: token } };
  }
  const { id, secret } = account.client ?? { id: "", secret: "" };
  return {
    config: { [id]: client.id, [secret]: client.secret, [field]: tokens?.refreshToken ?? "" },
    tokens: store,
  };
}

/**
 * The application that the operator has registered with the connector's provider.
 * @throws oauth_app_missing
 */
export function operatorClient(
  { services, secrets }: AccountContext,
  connectorId: string,
): OAuthClient {
  const { oauthApps } = services.settings;
  const app = Object.hasOwn(oauthApps, connectorId) ? oauthApps[connectorId] : undefined;
  if (!app) throw new ControlError("oauth_app_missing", { connector_id: connectorId });
  secrets.add(app.clientSecret);
  return { id: app.clientId, secret: app.clientSecret };
}

/** How requests to a provider's accounts leave. */
export function networkOf({ services, secrets }: AccountContext) {
  const { settings, seams, clock } = services;
  return { settings: settings.network, seams, secrets, clock };
}
