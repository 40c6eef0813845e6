/** The parts of a reverse ETL destination: checked, and tried before it is saved. */
import {
  type ActivationManifest,
  builtInActivations,
  ConnectorError,
  checkPublicUrl,
  findActivationConnector,
  type JsonObject,
  type Manifest,
} from "svc-connectors/host";
import { checkFailed } from "../connectors/check-failed.ts";
import { checkBaseUrlOf, refuseSecrets, refuseSecretValues } from "../connectors/configuration.ts";
import { requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { openSettingsOf, secretFieldsOf } from "../contract/secret-settings.ts";
import { bindToBaseUrl, noteOutcome } from "../credentials/outcome.ts";
import { type CredentialRow, requireUsable } from "../credentials/rows.ts";
import { checkSettings } from "../sources/settings.ts";
import { type ActivationTarget, openActivation } from "./activation-target.ts";

export const activationTypes = builtInActivations.map(({ type }) => type);

export interface EnteredDestination {
  readonly type: string;
  /** The settings that the request itself brings. */
  readonly entered: JsonObject;
  /** The whole configuration that comes of it. */
  readonly configuration: JsonObject;
}

/**
 * @throws connector_disabled, secret_not_allowed, invalid_base_url, credential_mismatch,
 * credential_not_usable, invalid_configuration, validation_failed
 */
export async function checkDestinationParts(
  ctx: OperationContext,
  { type, entered, configuration }: EnteredDestination,
  findCredential: () => Promise<CredentialRow | null>,
): Promise<ActivationTarget> {
  const { connectors, activations } = ctx.services;
  const manifest = await activations.manifest(findActivationConnector(type));
  // The rules for settings look at the spec and the base URL only.
  const described = manifest as unknown as Manifest;
  const secrets = secretFieldsOf(described);
  refuseSecrets(entered, secrets, "configuration", openSettingsOf(manifest.spec));
  const credential = await findCredential();
  if (!credential) throw refuseField("validation_failed", "credentialHandle", "is missing");
  const takes = builtInActivations.find((one) => one.type === type)?.credentialsOf ?? [];
  if (!takes.includes(credential.connector_id))
    throw new ControlError("credential_mismatch", { connector_id: takes[0] ?? null });
  requireUsable(credential);
  await requireEnabled(ctx.db, connectors.get(credential.connector_id));
  const complete = withUrl(ctx, manifest, configuration, credential);
  checkSettings(connectors.get(takes[0] ?? ""), described, complete, credential);
  const { egress } = manifest;
  const isApproved =
    egress.kind === "http" && typeof egress.baseUrl !== "string" && !("kind" in egress.baseUrl);
  const baseUrl = isApproved ? String(complete[egress.baseUrl.field]) : undefined;
  return { type, credential, configuration: complete, baseUrl };
}

function withUrl(
  ctx: OperationContext,
  manifest: ActivationManifest,
  configuration: JsonObject,
  credential: CredentialRow,
): JsonObject {
  const { egress } = manifest;
  if (egress.kind !== "http" || typeof egress.baseUrl === "string") return configuration;
  const { baseUrl } = egress;
  const { field } = baseUrl;
  if (!("kind" in baseUrl)) {
    const whole = { ...(credential.metadata as JsonObject), ...configuration };
    return {
      ...configuration,
      [field]:
        checkBaseUrlOf(ctx, manifest as unknown as Manifest, whole, "configuration", credential)[
          field
        ] ?? null,
    };
  }
  try {
    return { ...configuration, [field]: checkPublicUrl(configuration[field], field).href };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const rule = String(error.details.rule);
    throw new ControlError("invalid_base_url", {
      rule,
      errors: [{ path: `configuration.${field}`, reason: rule, message: "is refused" }],
    });
  }
}

/**
 * Save & Test. Only now that the credential is open can be seen whether a setting, or the name,
 * holds one of its secrets.
 * @throws connection_check_failed, secret_not_allowed, credential_not_usable
 */
export async function tryReverseDestination(
  ctx: OperationContext,
  target: ActivationTarget,
  name: string,
): Promise<void> {
  const { reference, config, options } = await openActivation(ctx, target, "check");
  const { activations } = ctx.services;
  const { hasCheck } = await activations.manifest(reference);
  const result = await activations.check(reference, config, options);
  const failure = result.status === "failed" ? result.error.code : undefined;
  // Where nobody is asked, that nothing was refused says nothing of the credential.
  if (target.credential && (failure || hasCheck)) {
    await noteOutcome(ctx.db, target.credential, failure, ctx.now);
    if (!failure && target.baseUrl !== undefined)
      await bindToBaseUrl(ctx.db, target.credential, target.baseUrl);
  }
  if (result.status === "failed") throw checkFailed(result.error);
  refuseSecretValues(ctx, { name });
  refuseSecretValues(ctx, target.configuration, "configuration");
}
