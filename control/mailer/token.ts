/** Requests that bring a mailer's token, checked without asking anybody. */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { baseUrlField, checkBaseUrlOf, refuseSecretValues } from "../connectors/configuration.ts";
import { type ConnectorDefinition, requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { Name, StrictObject } from "../contract/schemas.ts";
import { checkSecrets } from "../credentials/entered.ts";
import { checkChange, checkEnd, secretsEnd } from "../credentials/requests.ts";
import {
  type CredentialRow,
  findByHandle,
  lockLiving,
  requireConnector,
  requireLiving,
} from "../credentials/rows.ts";
import { noteSecrets } from "../credentials/stored-secret.ts";
import { requireUsersAt } from "../credentials/uses.ts";
import { BaseUrl } from "../sources/named-settings.ts";
import { mailerConnector, mailerFields } from "./target.ts";

export const StoreToken = StrictObject({
  ...mailerFields,
  ...secretsEnd,
  base_url: Type.Optional(BaseUrl),
  api_token: Type.String({
    minLength: 1,
    maxLength: 8_192,
    writeOnly: true,
    description: "The mailer's API token: ASCII, without spaces around it or the word Bearer.",
  }),
  name: Type.Optional(Name),
  credential_handle: Type.Optional(
    Type.String({
      pattern: "^ch_[0-9A-Za-z]{36}$",
      description:
        "The credential whose token is replaced: its id and handle stay, and its name and base URL unless they are given. Default: a new one.",
    }),
  ),
});

type Db = OperationContext["db"];

/** A token with the settings beside it. */
export interface TokenParts {
  readonly definition: ConnectorDefinition;
  /** The credential whose token it replaces. Undefined: it gets one of its own. */
  readonly replaced: CredentialRow | undefined;
  readonly metadata: JsonObject;
  readonly secretsExpireAt: Date | null | undefined;
  /**
   * Canonical: the token is bound to it. Null: it will be to the first base URL that takes it.
   */
  readonly baseUrl: string | null;
}

/**
 * A base URL, where it is given, binds the token: it goes nowhere else; without one, the first that
 * takes it does. A token that is bound stays where it is.
 * @param db of a transaction: the credential whose token is replaced is locked
 * @throws not_found, connector_disabled, validation_failed, invalid_base_url, secret_not_allowed,
 * credential_mismatch, version_mismatch
 */
export async function checkToken(
  db: Db,
  ctx: OperationContext,
  body: Static<typeof StoreToken>,
): Promise<TokenParts> {
  const { name, api_token, base_url, connection_method } = body;
  noteSecrets(ctx.secrets, api_token);
  const definition = mailerConnector(ctx, body.connector_id);
  await requireEnabled(db, definition);
  const manifest = await ctx.services.connectors.manifest(definition);
  checkSecrets(manifest, { api_token }, true, "");
  const replaced = await findReplaced(db, ctx, definition, body.credential_handle);
  if (replaced) await checkChange(db, ctx, replaced, { ...body, secrets: { api_token } }, manifest);
  const settings: JsonObject = {
    ...((replaced?.metadata ?? {}) as JsonObject),
    ...(base_url === undefined ? {} : { base_url }),
    ...(connection_method === undefined ? {} : { connection_method }),
  };
  const field = baseUrlField(manifest) ?? "base_url";
  const isBound = settings[field] !== undefined;
  const metadata = isBound ? checkBaseUrlOf(ctx, manifest, settings, "", replaced) : settings;
  const baseUrl = isBound ? String(metadata[field]) : (replaced?.base_url ?? null);
  if (replaced && baseUrl !== null) await requireUsersAt(db, replaced, field, baseUrl);
  refuseSecretValues(ctx, { name: name ?? null, ...metadata });
  return { definition, replaced, metadata, secretsExpireAt: checkEnd(ctx, body), baseUrl };
}

/** @throws not_found, credential_mismatch when it is another connector's */
async function findReplaced(
  db: Db,
  { workspaceId }: OperationContext,
  { id }: ConnectorDefinition,
  handle: string | undefined,
): Promise<CredentialRow | undefined> {
  if (handle === undefined) return undefined;
  const row = requireLiving(await findByHandle(db, workspaceId, handle));
  requireConnector(row, id);
  return db.isTransaction ? await lockLiving(db, workspaceId, row.id) : row;
}
