import {
  isAuthorizable,
  type JsonObject,
  type Manifest,
  type OAuthClient,
} from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { refuseSecrets } from "../connectors/configuration.ts";
import { type ConnectorDefinition, requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { IdInput, Name, workspaceInput } from "../contract/schemas.ts";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import { operatorClient } from "../credentials/account.ts";
import { type CredentialRow, findLiving, requireConnector } from "../credentials/rows.ts";
import { findSource } from "../sources/rows.ts";
import { requireReconnectable } from "./account.ts";

/** Properties of every start, whichever way the connector is named. */
export const startProperties = {
  ...workspaceInput,
  redirect_uri: Type.String({
    maxLength: 2_048,
    description: "One that the operator has registered, as text.",
  }),
  name: Type.Optional(Name),
  credential_id: Type.Optional(IdInput("The credential to connect again: its id and handle stay.")),
  source_id: Type.Optional(IdInput("The source whose credential is connected again.")),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 200 }), {
      minItems: 1,
      maxItems: 100,
      description: "Fewer than the connector asks for.",
    }),
  ),
  oauth_input: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: "Settings that decide where the user logs in: region.",
      },
    ),
  ),
};

const Start = Type.Object(startProperties);

/** Everything that an authorisation is begun with. */
export interface StartParts {
  readonly definition: ConnectorDefinition;
  readonly manifest: Manifest;
  readonly client: OAuthClient;
  readonly config: JsonObject;
  /** The credential that is connected again. */
  readonly credential: CredentialRow | undefined;
}

/**
 * Looks up and checks what a start names. Asks nobody.
 * @throws connector_disabled, oauth_not_supported, oauth_app_missing, redirect_uri_not_allowed,
 * not_found, credential_mismatch, credential_not_usable, secret_not_allowed
 */
export async function startParts(
  ctx: OperationContext,
  definition: ConnectorDefinition,
  body: Static<typeof Start>,
): Promise<StartParts> {
  const { services, db } = ctx;
  await requireEnabled(db, definition);
  const refused = new ControlError("oauth_not_supported", { connector_id: definition.id });
  if (definition.type !== "source") throw refused;
  const manifest = await services.connectors.manifest(definition);
  if (!isAuthorizable(manifest)) throw refused;
  const client = operatorClient(ctx, definition.id);
  // Compared as text: everything else about a URL has been tried in attacks.
  if (!services.settings.oauthApps[definition.id]?.redirectUris.includes(body.redirect_uri))
    throw new ControlError("redirect_uri_not_allowed");
  const input = (body.oauth_input ?? {}) as JsonObject;
  refuseSecrets(input, secretFieldsOf(manifest), "oauth_input");
  const credential = await reconnected(ctx, definition, body);
  return {
    definition,
    manifest,
    client,
    config: { ...(credential?.metadata as JsonObject), ...input },
    credential,
  };
}

async function reconnected(
  { db, workspaceId }: OperationContext,
  definition: ConnectorDefinition,
  { credential_id, source_id }: Static<typeof Start>,
): Promise<CredentialRow | undefined> {
  if (credential_id !== undefined && source_id !== undefined)
    throw refuseField(
      "validation_failed",
      "source_id",
      "cannot be given together with credential_id",
    );
  const id =
    source_id === undefined
      ? credential_id
      : (await findSource(db, workspaceId, source_id)).credential_id;
  if (id === undefined) return undefined;
  const credential = await findLiving(db, workspaceId, id);
  requireConnector(credential, definition.id);
  requireReconnectable(credential);
  return credential;
}
