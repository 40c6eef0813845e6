/** Runs a connector for the control API: in a sandboxed worker, through the egress, with secrets that only this process sees. */
import {
  type CheckResult,
  isAuthorizable,
  type JsonObject,
  type Manifest,
  type VerbOptions,
} from "svc-connectors/host";
import type { ConnectorDefinition } from "./connectors.ts";
import type { OperationContext } from "./contract/operation.ts";
import { ControlError } from "./contract/reasons.ts";
import { redeemLease, takeLease } from "./credentials/leases.ts";
import { type CredentialRow, requireConnector, requireUsable } from "./credentials/rows.ts";
import { textsOf } from "./credentials/stored-secret.ts";
import { createTokenStore } from "./credentials/token-store.ts";

/** What is run: a connector with a credential and the settings that are no secrets. */
export interface RunTarget {
  readonly definition: ConnectorDefinition;
  readonly credential: CredentialRow;
  readonly configuration: JsonObject;
}

export interface PreparedRun {
  readonly manifest: Manifest;
  /** The whole configuration, secrets included. It goes to the host and nowhere else. */
  readonly config: JsonObject;
  readonly options: VerbOptions;
}

/**
 * Opens the credential for one run. Its secrets are added to those that the answer is searched for.
 * @throws credential_mismatch, credential_not_usable, oauth_app_missing
 */
export async function openRun(ctx: OperationContext, target: RunTarget, purpose: string): Promise<PreparedRun> {
  const { services, db, now, secrets, signal } = ctx;
  const { definition, credential, configuration } = target;
  requireConnector(credential, definition.id);
  requireUsable(credential);
  const manifest = await services.connectors.manifest(definition);
  const lease = await takeLease(db, credential, purpose, now);
  const redeemed = await redeemLease(db, services.vault, lease, now);
  if (!redeemed) throw new ControlError("credential_not_usable", { status: credential.status });
  const { fields, tokens } = redeemed.secret;
  for (const text of textsOf([fields, tokens])) secrets.add(text);

  const oauth = oauthFields(manifest);
  const config = { ...(credential.metadata as JsonObject), ...configuration, ...fields };
  if (!oauth) return { manifest, config, options: { signal } };
  if (credential.auth_type === "oauth2") {
    const app = services.settings.oauthApps[definition.id];
    if (!app) throw new ControlError("oauth_app_missing", { connector_id: definition.id });
    secrets.add(app.clientSecret);
    config[oauth.clientId] = app.clientId;
    config[oauth.clientSecret] = app.clientSecret;
    config[oauth.refreshToken] = tokens?.refreshToken ?? "";
  }
  const store = createTokenStore(services, credential, oauth.refreshToken);
  return { manifest, config, options: { signal, tokens: store } };
}

/** Tries whether the configuration works, and notes the result with the credential. */
export async function runCheck(ctx: OperationContext, target: RunTarget): Promise<CheckResult> {
  const { config, options } = await openRun(ctx, target, "check");
  const result = await ctx.services.host.check(target.definition.reference, config, options);
  const isRejected =
    result.status === "failed" && ["CREDENTIALS_REJECTED", "REAUTHORIZATION_NEEDED"].includes(result.error.code);
  if (result.status === "succeeded" || isRejected) {
    const error = isRejected ? { reason: "credentials_rejected", at: ctx.now.toISOString() } : null;
    await ctx.db
      .updateTable("credentials")
      .set({ ...(isRejected ? {} : { last_verified_at: ctx.now }), last_error: error && JSON.stringify(error) })
      .where("id", "=", target.credential.id)
      .where("workspace_id", "=", target.credential.workspace_id)
      .execute();
  }
  return result;
}

/** The settings that an OAuth declaration names. */
export function oauthFields(manifest: Manifest) {
  const { egress } = manifest;
  const oauth = egress.kind === "http" ? egress.auth.find((auth) => auth.type === "oauth2") : undefined;
  return oauth && { ...oauth, isAuthorizable: isAuthorizable(manifest) };
}
