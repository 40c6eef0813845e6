/** Requests for credentials, checked without asking anybody. */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { refuseSecretValues } from "../connectors/configuration.ts";
import {
  type AnyManifest,
  type ConnectorDefinition,
  namedConnector,
  requireEnabled,
} from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import {
  IdInput,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  workspaceInput,
} from "../contract/schemas.ts";
import { basePath } from "../door/base-path.ts";
import type { Db } from "../store/database.ts";
import { checkMetadata, checkSecrets, type Metadata, Secrets } from "./entered.ts";
import type { CredentialRow } from "./rows.ts";
import { noteSecrets, secretOwner } from "./stored-secret.ts";

/** The end of secrets that people enter, in a request. */
export const secretsEnd = {
  secrets_expire_at: Type.Optional(
    Nullable(
      Type.String({
        format: "date-time",
        description:
          "When the provider ends the secrets, if you know: people are told a week before. Secrets that replace others have no end unless it is given.",
      }),
    ),
  ),
};

/** @throws validation_failed when it is over already */
export function checkEnd(
  { now }: Pick<OperationContext, "now">,
  { secrets_expire_at: end }: { readonly secrets_expire_at?: string | null | undefined },
): Date | null | undefined {
  if (end === undefined || end === null) return end;
  const at = new Date(end);
  if (at <= now)
    throw refuseField("validation_failed", "secrets_expire_at", "must be in the future");
  return at;
}

export const NewCredentialBody = StrictObject({
  ...workspaceInput,
  ...secretsEnd,
  connector_id: IdInput("The connector."),
  name: Type.Optional(Name),
  auth_type: Type.Optional(OneOf(["api_key", "basic", "custom"], { default: "api_key" })),
  secrets: Secrets,
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true, default: {} })),
});

/** The parts of a new credential, checked without asking anybody. */
export interface NewParts extends Metadata {
  readonly definition: ConnectorDefinition;
  readonly name: string;
}

/**
 * @throws not_found, connector_disabled, secret_not_allowed, validation_failed, invalid_base_url
 */
export async function checkNew(
  ctx: OperationContext,
  body: Static<typeof NewCredentialBody>,
): Promise<NewParts> {
  const { services, db, secrets } = ctx;
  noteSecrets(secrets, body.secrets);
  const definition = namedConnector(ctx, body.connector_id);
  requireGeneralPath(definition);
  checkEnd(ctx, body);
  await requireEnabled(db, definition);
  const manifest = await services.connectors.describe(definition);
  const metadata = (body.metadata ?? {}) as JsonObject;
  const kept = checkMetadata(ctx, manifest, metadata);
  checkSecrets(manifest, body.secrets, true);
  refuseSecretValues(ctx, { name: body.name ?? null });
  refuseSecretValues(ctx, metadata, "metadata");
  return { definition, name: body.name ?? definition.title, ...kept };
}

/**
 * Refuses the secrets of a connector that has an endpoint of its own for them: there they are bound
 * to their host.
 * @throws secret_not_allowed with the place that takes them
 */
export function requireGeneralPath({ credentialPath }: ConnectorDefinition): void {
  if (credentialPath === "/credentials") return;
  throw new ControlError("secret_not_allowed", {
    taken_by: { method: "POST", path: `${basePath}${credentialPath}` },
    errors: [
      {
        path: "secrets",
        reason: "secret_not_allowed",
        message: `are taken by POST ${credentialPath} only, new ones and those that replace others`,
      },
    ],
  });
}

export const ChangeBody = StrictObject(
  { ...workspaceInput, ...secretsEnd, name: Type.Optional(Name), secrets: Type.Optional(Secrets) },
  { minProperties: 1 },
);

/**
 * Refuses what cannot be changed, and a name that would tell a secret: of those that are given, or
 * of those that are stored.
 */
export async function checkChange(
  db: Db,
  ctx: OperationContext,
  row: CredentialRow,
  { name, secrets, ...rest }: Static<typeof ChangeBody>,
  manifest: AnyManifest,
): Promise<void> {
  ctx.expectVersion(row.version);
  checkEnd(ctx, rest);
  const stored = await ctx.services.vault.open(db, secretOwner(row));
  noteSecrets(ctx.secrets, [stored?.value, secrets]);
  if (secrets) {
    if (row.auth_type === "oauth2")
      throw refuseField(
        "immutable_field",
        "secrets",
        "come from the provider: connect the account again",
      );
    checkSecrets(manifest, secrets, false);
    refuseSecretValues(ctx, row.metadata as JsonObject, "metadata");
  }
  refuseSecretValues(ctx, { name: name ?? row.name });
}
