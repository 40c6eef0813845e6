import type { JsonObject } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";
import { fingerprintOf, replaceSecret } from "./store.ts";

/** The parts of a credential that a request may change; absent ones stay. */
export interface CredentialChange {
  readonly name?: string | undefined;
  /** Replace those of the same names. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /** Null, and new secrets without it: nobody knows. */
  readonly secretsExpireAt?: Date | null | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Canonical; the secrets are sent nowhere else. */
  readonly baseUrl?: string | null | undefined;
}

/**
 * Writes a change of a credential, in a transaction that holds its row. New secrets make it active
 * again; tokens that came from an old secret end with it.
 */
export async function changeCredential(
  tx: Db,
  ctx: Pick<OperationContext, "services" | "secrets" | "workspaceId" | "now">,
  row: CredentialRow,
  change: CredentialChange,
): Promise<CredentialRow> {
  const { services, workspaceId, now } = ctx;
  const { name = row.name, secrets, metadata, baseUrl = row.base_url } = change;
  const { secretsExpireAt = secrets ? null : row.secrets_expire_at } = change;
  const secret =
    secrets &&
    (await replaceSecret(tx, ctx, row, ({ fields }) => ({ fields: { ...fields, ...secrets } })));
  return await tx
    .updateTable("credentials")
    .set((eb) => ({
      name,
      base_url: baseUrl,
      secrets_expire_at: secretsExpireAt,
      version: eb("version", "+", 1),
      updated_at: now,
      ...(metadata && { metadata: JSON.stringify(metadata) }),
      ...(secret && {
        status: row.status === "needs_reauth" ? ("active" as const) : row.status,
        secret_fields: JSON.stringify(Object.keys(secret.fields).sort()),
        fingerprint: fingerprintOf(services, workspaceId, secret),
        expires_at: null,
        last_verified_at: null,
        last_error: null,
      }),
    }))
    .where("id", "=", row.id)
    .where("workspace_id", "=", workspaceId)
    .returningAll()
    .executeTakeFirstOrThrow();
}
