/** Runs a connector for the control API: in a sandboxed worker, through the egress, with secrets that only this process sees. */
import type { CheckResult, JsonObject, Manifest, VerbOptions } from "svc-connectors/host";
import type { ConnectorDefinition } from "./connectors.ts";
import type { OperationContext } from "./contract/operation.ts";
import { ControlError } from "./contract/reasons.ts";
import { openAccount } from "./credentials/account.ts";
import { redeemLease, takeLease } from "./credentials/leases.ts";
import { noteOutcome } from "./credentials/outcome.ts";
import { type CredentialRow, requireConnector, requireUsable } from "./credentials/rows.ts";
import { noteSecrets } from "./credentials/stored-secret.ts";

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
 * @throws credential_mismatch, credential_not_usable, oauth_app_missing, and as a token endpoint fails that is asked before the run
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
  const { secret } = redeemed;
  noteSecrets(secrets, secret);
  // Settings that go with the secrets count over the source's: the region of an account, the host to which a token is bound.
  const config = { ...configuration, ...(credential.metadata as JsonObject), ...secret.fields };
  const account = await openAccount(ctx, manifest, credential, secret, config);
  const { tokens } = account;
  return {
    manifest,
    config: { ...config, ...account.config },
    options: { signal, ...(tokens ? { tokens } : {}) },
  };
}

/** Tries whether the configuration works, and notes the result with the credential. */
export async function runCheck(ctx: OperationContext, target: RunTarget): Promise<CheckResult> {
  const { config, options } = await openRun(ctx, target, "check");
  const result = await ctx.services.host.check(target.definition.reference, config, options);
  await noteOutcome(ctx.db, target.credential, result.status === "failed" ? result.error.code : undefined, ctx.now);
  return result;
}
