import { findAccount, type JsonObject, revokeTokens } from "svc-connectors/host";
import type { AnyManifest } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { networkOf, operatorClient } from "./account.ts";
import type { CredentialRow } from "./rows.ts";
import { noteSecrets, type StoredSecret, secretOwner } from "./stored-secret.ts";
import { createTokenStore } from "./token-store.ts";

/** The fates of tokens at their provider, and how the audit log puts it. */
export const revocations = {
  revoked: "the provider has revoked the tokens",
  not_supported: "there was nothing to revoke at the provider",
  failed: "the provider did not revoke the tokens",
} as const;
export type Revocation = keyof typeof revocations;

/**
 * Asks the provider to forget the tokens of an account that was connected here. What people entered
 * themselves is theirs, and is left alone. Nobody refreshes meanwhile: a token that was renewed at
 * the last moment would outlive its credential.
 */
export async function endAccount(
  ctx: Pick<OperationContext, "services" | "secrets" | "db">,
  row: CredentialRow,
  manifest: AnyManifest,
): Promise<Revocation> {
  const { services, secrets, db } = ctx;
  // Accounts of destinations are entered, never connected.
  if (row.auth_type !== "oauth2" || "syncModes" in manifest) return "not_supported";
  const account = findAccount(manifest);
  if (!account?.authorization?.revokeUrl) return "not_supported";
  if (!Object.hasOwn(services.settings.oauthApps, row.connector_id)) return "failed";
  const client = operatorClient(ctx, row.connector_id);
  return (
    (await createTokenStore(services, row, account.token.field).exclusively?.(async () => {
      const opened = await services.vault.open(db, secretOwner(row));
      const { tokens = {} } = (opened?.value ?? { fields: {} }) as unknown as StoredSecret;
      noteSecrets(secrets, tokens);
      const config = row.metadata as JsonObject;
      const { status } = await revokeTokens({
        manifest,
        config,
        client,
        tokens,
        ...networkOf(ctx),
      });
      return status;
    })) ?? "failed"
  );
}
