import type { DestinationManifest, JsonObject } from "svc-connectors/host";
import { refuseSecrets } from "../connectors/configuration.ts";
import { type ConnectorDefinition, requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { openSettingsOf, secretFieldsOf } from "../contract/secret-settings.ts";
import { type CredentialRow, requireConnector, requireUsable } from "../credentials/rows.ts";
import { checkSettings } from "../sources/settings.ts";

/** The parts of a destination, looked up and checked without asking anybody. */
export interface DestinationParts {
  readonly definition: ConnectorDefinition;
  readonly manifest: DestinationManifest;
  /** Null: the connector has no secrets. */
  readonly credential: CredentialRow | null;
  readonly configuration: JsonObject;
}

/** Settings as a request has them. */
export interface DestinationSettings {
  /** The settings that the request itself brings. */
  readonly entered: JsonObject;
  /** The whole configuration that comes of it. */
  readonly configuration: JsonObject;
}

/**
 * @throws connector_disabled, secret_not_allowed, validation_failed, credential_mismatch,
 * credential_not_usable, invalid_configuration
 */
export async function checkParts(
  ctx: OperationContext,
  definition: ConnectorDefinition,
  { entered, configuration }: DestinationSettings,
  findCredential: () => Promise<CredentialRow | null>,
): Promise<DestinationParts> {
  await requireEnabled(ctx.db, definition);
  const manifest = await ctx.services.connectors.destination(definition);
  const secrets = secretFieldsOf(manifest);
  refuseSecrets(entered, secrets, "configuration", openSettingsOf(manifest.spec));
  const credential = await findCredential();
  if (credential) {
    requireConnector(credential, definition.id);
    requireUsable(credential);
  } else if (secrets.length > 0) {
    throw refuseField("validation_failed", "credential_handle", "is missing");
  }
  checkSettings(
    definition,
    manifest,
    configuration,
    credential ?? { metadata: {}, auth_type: "custom", secret_fields: [] },
  );
  return { definition, manifest, credential, configuration };
}
