import type { JsonObject } from "svc-connectors/host";
import { createHandle, createId } from "../contract/ids.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";
import { noteSecrets, type StoredSecret, secretOwner } from "./stored-secret.ts";

/** A credential before it has an id. */
export interface NewCredential {
  readonly connectorId: string;
  readonly name: string;
  readonly authType: CredentialRow["auth_type"];
  /** Default "active". */
  readonly status?: CredentialRow["status"] | undefined;
  readonly secret: StoredSecret;
  /** Settings that go with the secrets and are none. */
  readonly metadata?: JsonObject | undefined;
  /** Canonical; the secrets are sent nowhere else. Default: wherever the connector declares. */
  readonly baseUrl?: string | null | undefined;
  readonly grantedScopes?: readonly string[] | undefined;
  /** When the provider ends what was entered, as its owner knows. */
  readonly secretsExpireAt?: Date | null | undefined;
  /** When the tokens of a connected account end. */
  readonly expiresAt?: Date | null | undefined;
}

/**
 * Writes the row and seals the secret, in the transaction of whoever creates a credential. Gives
 * the row.
 */
export async function storeCredential(
  tx: Db,
  ctx: Pick<OperationContext, "services" | "workspaceId" | "now" | "secrets">,
  credential: NewCredential,
): Promise<CredentialRow> {
  const { services, workspaceId, now, secrets } = ctx;
  const { secret } = credential;
  noteSecrets(secrets, secret);
  const row = await tx
    .insertInto("credentials")
    .values({
      id: createId("credential"),
      workspace_id: workspaceId,
      handle: createHandle(),
      connector_id: credential.connectorId,
      name: credential.name,
      auth_type: credential.authType,
      status: credential.status ?? "active",
      metadata: JSON.stringify(credential.metadata ?? {}),
      base_url: credential.baseUrl ?? null,
      secret_fields: JSON.stringify(Object.keys(secret.fields).sort()),
      fingerprint: fingerprintOf(services, workspaceId, secret),
      granted_scopes: JSON.stringify(credential.grantedScopes ?? []),
      expires_at: credential.expiresAt ?? null,
      secrets_expire_at: credential.secretsExpireAt ?? null,
      last_verified_at: null,
      last_error: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (!(await services.vault.put(tx, secretOwner(row), 0, { ...secret })))
    throw new Error("a new credential has a secret already");
  return row;
}

/**
 * Eight characters by which people tell whether two credentials of a workspace hold the same
 * secret. It is made with a key of the service: nobody can try words against it.
 */
export function fingerprintOf(
  { mac }: Pick<Services, "mac">,
  workspaceId: string,
  { fields, tokens }: StoredSecret,
) {
  const entered = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1));
  const held = [workspaceId, entered, tokens?.refreshToken ?? tokens?.accessToken ?? null];
  return mac.of("fingerprint", JSON.stringify(held)).slice(0, 8);
}

/**
 * Replaces the secret by a new version, in a transaction that holds the row.
 * @throws overloaded when it keeps changing meanwhile
 */
export async function replaceSecret(
  tx: Db,
  { services, secrets }: Pick<OperationContext, "services" | "secrets">,
  row: Pick<CredentialRow, "id" | "workspace_id">,
  toNext: (current: StoredSecret) => StoredSecret,
): Promise<StoredSecret> {
  const owner = secretOwner(row);
  // A refresh that is under way may be the first; it comes to rest with it.
  for (let round = 0; round < 3; round += 1) {
    const opened = await services.vault.open(tx, owner);
    const current = opened ? (opened.value as unknown as StoredSecret) : { fields: {} };
    const next = toNext(current);
    noteSecrets(secrets, [current, next]);
    if (await services.vault.put(tx, owner, opened?.version ?? 0, { ...next })) return next;
  }
  throw new ControlError("overloaded");
}
