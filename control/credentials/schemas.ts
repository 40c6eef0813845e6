import { type Static, Type } from "typebox";
import {
  Handle,
  Id,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  Version,
} from "../contract/schemas.ts";
import { credentialStatuses } from "../store/tables.ts";
import { lostAuthorization } from "./outcome.ts";
import type { CredentialRow } from "./rows.ts";

export const authTypes = ["api_key", "basic", "custom", "oauth2"] as const;

/** A credential as it is shown: never with a value of its secrets, nor a part of one. */
export const Credential = StrictObject(
  {
    credential_id: Id("credential"),
    workspace_id: Id("workspace"),
    credential_handle: Handle,
    connector_id: Type.String(),
    name: Name,
    auth_type: OneOf(authTypes),
    status: OneOf(credentialStatuses),
    metadata: Type.Object(
      {},
      { additionalProperties: true, description: "Settings that go with the secrets." },
    ),
    base_url: Nullable(
      Type.String({
        description: "The secrets are sent there only. Null: where the connector says.",
      }),
    ),
    secret_fields: Type.Array(Type.String(), {
      description: "Names of the secrets that are stored.",
    }),
    fingerprint: Type.String({
      description: "The same for two credentials of a workspace with the same secrets.",
    }),
    granted_scopes: Type.Array(Type.String()),
    expires_at: Nullable(Time),
    secrets_expire_at: Nullable(Time),
    last_verified_at: Nullable(Time),
    last_error: Nullable(
      StrictObject({
        reason: Type.String({
          description:
            "reauthorization_needed: the account has to be connected again · credentials_rejected · revocation_failed",
        }),
        at: Time,
      }),
    ),
    created_at: Time,
    updated_at: Time,
    version: Version,
  },
  { title: "Credential" },
);

/** The reason, which had another word before. */
const reasonOf = (reason: string) => (reason === "authorization_lost" ? lostAuthorization : reason);

export function toCredential(row: CredentialRow): Static<typeof Credential> {
  return {
    credential_id: row.id,
    workspace_id: row.workspace_id,
    credential_handle: row.handle,
    connector_id: row.connector_id,
    name: row.name,
    auth_type: row.auth_type,
    status: row.status,
    metadata: row.metadata,
    base_url: row.base_url,
    secret_fields: [...row.secret_fields],
    fingerprint: row.fingerprint,
    granted_scopes: [...row.granted_scopes],
    expires_at: row.expires_at?.toISOString() ?? null,
    secrets_expire_at: row.secrets_expire_at?.toISOString() ?? null,
    last_verified_at: row.last_verified_at?.toISOString() ?? null,
    last_error: row.last_error && { ...row.last_error, reason: reasonOf(row.last_error.reason) },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
  };
}
