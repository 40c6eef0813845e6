/**
 * Runs a connector for the control API: in a sandboxed worker, through the egress, with secrets
 * that only this process sees.
 */
import type { CheckResult, JsonObject, Manifest, VerbOptions } from "svc-connectors/host";
import { baseUrlIn } from "../connectors/configuration.ts";
import type { ConnectorDefinition } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { withSecrets } from "../contract/secret-settings.ts";
import { openAccount } from "../credentials/account.ts";
import { bindToBaseUrl, noteOutcome } from "../credentials/outcome.ts";
import { type CredentialRow, requireConnector, requireUsable } from "../credentials/rows.ts";
import { noteSecrets, type StoredSecret, secretOwner } from "../credentials/stored-secret.ts";
import { logUse } from "../credentials/usage-log.ts";

/** The context of a run: an operation's, or a job's. */
export type RunContext = Pick<OperationContext, "services" | "db" | "now" | "secrets" | "signal">;

/** The subject of a run: a connector with a credential and the settings that are no secrets. */
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
 * @throws credential_mismatch, credential_not_usable, oauth_app_missing, and as a token endpoint
 * fails that is asked before the run
 */
export async function openRun(
  ctx: RunContext,
  target: RunTarget,
  purpose: string,
): Promise<PreparedRun> {
  const { services, signal } = ctx;
  const { definition, credential, configuration } = target;
  const manifest = await services.connectors.manifest(definition);
  const secret = await openSecret(ctx, definition, credential, purpose);
  // Settings that go with the secrets count over the source's: the region of an account, the host
  // to which a token is bound.
  const settings = { ...configuration, ...(credential.metadata as JsonObject) };
  const config = withSecrets(settings, secret.fields, manifest.spec);
  const account = await openAccount(ctx, manifest, credential, secret, config);
  const { tokens } = account;
  return {
    manifest,
    config: { ...config, ...account.config },
    options: {
      signal,
      ...services.telemetry.watch(definition.id),
      tokens,
      ledger: services.providerRates(credential.id),
    },
  };
}

/**
 * Opens the secret of a credential, and logs what for. Its texts are added to those that are
 * searched for.
 * @throws credential_mismatch, credential_not_usable
 */
export async function openSecret(
  { services, db, now, secrets }: Omit<RunContext, "signal">,
  definition: ConnectorDefinition,
  credential: CredentialRow,
  purpose: string,
): Promise<StoredSecret> {
  requireConnector(credential, definition.id);
  requireUsable(credential);
  await logUse(db, credential, purpose, now);
  const opened = await services.vault.open(db, secretOwner(credential));
  if (!opened) throw new ControlError("credential_not_usable", { status: credential.status });
  const secret = opened.value as unknown as StoredSecret;
  noteSecrets(secrets, secret);
  return secret;
}

/** Tries whether the configuration works, and notes the result with the credential. */
export async function runCheck(ctx: RunContext, target: RunTarget): Promise<CheckResult> {
  const run = await openRun(ctx, target, "check");
  const { reference } = target.definition;
  const result = await ctx.services.host.check(reference, run.config, run.options);
  const failure = result.status === "failed" ? result.error.code : undefined;
  await noteOutcome(ctx.db, target.credential, failure, ctx.now);
  if (failure === undefined) await bindToItsHost(ctx, target, run);
  return result;
}

/** Secrets that a provider at an entered base URL has taken go nowhere else from now on. */
export async function bindToItsHost(
  { db }: RunContext,
  { credential }: RunTarget,
  { manifest, config }: PreparedRun,
): Promise<void> {
  const baseUrl = baseUrlIn(config, manifest);
  if (baseUrl !== undefined) await bindToBaseUrl(db, credential, String(baseUrl));
}
