import type { JsonObject, Manifest } from "svc-connectors/host";
import { baseUrlField, checkBaseUrlOf, refuseSecrets } from "../connectors/configuration.ts";
import { type ConnectorDefinition, requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { openSettingsOf, secretFieldsOf } from "../contract/secret-settings.ts";
import { type CredentialRow, requireConnector, requireUsable } from "../credentials/rows.ts";
import { checkSettings } from "./settings.ts";

/** The parts of a source, looked up and checked without asking anybody. */
export interface SourceParts {
  readonly definition: ConnectorDefinition;
  readonly manifest: Manifest;
  readonly credential: CredentialRow;
  readonly configuration: JsonObject;
}

/** Settings as a request has them. */
export interface SourceSettings {
  /** The settings that the request itself brings. */
  readonly entered: JsonObject;
  /** The whole configuration that comes of it. */
  readonly configuration: JsonObject;
  /** Where in the request they stand: "configuration", or "" for the body itself. */
  readonly place: string;
}

/**
 * @throws connector_disabled, secret_not_allowed, invalid_base_url, credential_mismatch,
 * credential_not_usable, invalid_configuration
 */
export async function checkParts(
  ctx: OperationContext,
  definition: ConnectorDefinition,
  { entered, configuration, place }: SourceSettings,
  findCredential: () => Promise<CredentialRow>,
): Promise<SourceParts> {
  await requireEnabled(ctx.db, definition);
  const manifest = await ctx.services.connectors.manifest(definition);
  const field = baseUrlField(manifest);
  refuseSecrets(
    entered,
    secretFieldsOf(manifest),
    "configuration",
    openSettingsOf(manifest.spec),
    definition.credentialPath,
  );
  if (field !== undefined && Object.hasOwn(configuration, field))
    checkBaseUrlOf(ctx, manifest, configuration, place);
  const credential = await findCredential();
  requireConnector(credential, definition.id);
  requireUsable(credential);
  const checked = checkBaseUrlOf(
    ctx,
    manifest,
    { ...(credential.metadata as JsonObject), ...configuration },
    place,
    credential,
  );
  const complete =
    field === undefined ? configuration : { ...configuration, [field]: checked[field] ?? null };
  checkSettings(definition, manifest, complete, credential);
  return { definition, manifest, credential, configuration: complete };
}
