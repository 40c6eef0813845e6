/**
 * The account that an authorisation has given, as a credential: a new one, or the one that was to
 * be connected again.
 */
import type { JsonObject, Tokens } from "svc-connectors/host";
import type { HeldData, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { type CredentialRow, lockLiving } from "../credentials/rows.ts";
import { fingerprintOf, replaceSecret, storeCredential } from "../credentials/store.ts";
import { type StoredSecret, secretOwner } from "../credentials/stored-secret.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";

export interface ConnectedAccount {
  readonly connectorId: string;
  readonly name: string;
  readonly tokens: Tokens;
  readonly grantedScopes: readonly string[];
  /** Settings that decide where the account lives. */
  readonly metadata: JsonObject;
  /** The credential that is connected again; null: a new one. */
  readonly credentialId: string | null;
}

type StoreContext = Pick<OperationContext, "services" | "workspaceId" | "now" | "secrets">;

/**
 * @throws not_found, credential_not_usable when the credential was deleted meanwhile, or waits for
 * approval
 */
export async function storeAccount(
  tx: Db,
  ctx: StoreContext,
  account: ConnectedAccount,
): Promise<CredentialRow> {
  if (account.credentialId === null) return await storeNew(tx, ctx, account, "active");
  const row = await lockLiving(tx, ctx.workspaceId, account.credentialId);
  requireReconnectable(row);
  return await reconnect(tx, ctx, row, account);
}

/**
 * Only what is connected, or was, is connected again: what waits for an approval does not become
 * active by another way.
 */
export function requireReconnectable({ status }: CredentialRow): void {
  if (status !== "active" && status !== "needs_reauth")
    throw new ControlError("credential_not_usable", { status });
}

/**
 * Keeps it where nobody can use it, until somebody has decided. What this gives holds no secret.
 */
export async function stageAccount(
  tx: Db,
  ctx: StoreContext,
  account: ConnectedAccount,
): Promise<HeldData> {
  if (account.credentialId !== null)
    requireReconnectable(await lockLiving(tx, ctx.workspaceId, account.credentialId));
  const row = await storeNew(tx, ctx, account, "pending_approval");
  return {
    credential_id: row.id,
    reconnects: account.credentialId,
    connector_id: row.connector_id,
    name: row.name,
    granted_scopes: account.grantedScopes.join(" "),
  };
}

/**
 * Approved: it becomes active, or takes the place of what was connected before.
 * @throws as {@link storeAccount}
 */
export async function applyAccount(
  tx: Db,
  ctx: StoreContext,
  held: HeldData,
): Promise<CredentialRow> {
  const { services, workspaceId, now } = ctx;
  const waiting = await lockLiving(tx, workspaceId, String(held.credential_id));
  if (waiting.status !== "pending_approval")
    throw new ControlError("credential_not_usable", { status: waiting.status });
  if (held.reconnects === null) {
    return await tx
      .updateTable("credentials")
      .set((eb) => ({ status: "active" as const, version: eb("version", "+", 1), updated_at: now }))
      .where("id", "=", waiting.id)
      .where("workspace_id", "=", workspaceId)
      .returningAll()
      .executeTakeFirstOrThrow();
  }
  const opened = await services.vault.open(tx, secretOwner(waiting));
  const { tokens } = (opened?.value ?? {}) as Partial<StoredSecret>;
  const row = await storeAccount(tx, ctx, {
    connectorId: waiting.connector_id,
    name: waiting.name,
    tokens: tokens ?? {},
    grantedScopes: waiting.granted_scopes,
    metadata: waiting.metadata as JsonObject,
    credentialId: String(held.reconnects),
  });
  await services.vault.shred(tx, waiting.id);
  await tx
    .deleteFrom("credentials")
    .where("id", "=", waiting.id)
    .where("workspace_id", "=", workspaceId)
    .execute();
  return row;
}

/** Not approved: its tokens are destroyed. */
export async function discardAccount(
  tx: Db,
  { vault }: Pick<Services, "vault">,
  held: HeldData,
  now: Date,
): Promise<void> {
  const id = String(held.credential_id);
  await vault.shred(tx, id);
  await tx
    .updateTable("credentials")
    .set({ status: "revoked", updated_at: now, expires_at: null })
    .where("id", "=", id)
    .where("status", "=", "pending_approval")
    .execute();
}

async function storeNew(
  tx: Db,
  ctx: StoreContext,
  { connectorId, name, tokens, grantedScopes, metadata }: ConnectedAccount,
  status: "active" | "pending_approval",
): Promise<CredentialRow> {
  return await storeCredential(tx, ctx, {
    connectorId,
    name,
    authType: "oauth2",
    status,
    secret: { fields: {}, tokens },
    metadata,
    grantedScopes,
    expiresAt: toDate(tokens.expiresAtMs),
  });
}

/** Id, handle and name stay; everything that the old account brought goes. */
async function reconnect(
  tx: Db,
  ctx: StoreContext,
  row: CredentialRow,
  { tokens, grantedScopes, metadata }: ConnectedAccount,
): Promise<CredentialRow> {
  const { services, workspaceId, now } = ctx;
  const secret = await replaceSecret(tx, ctx, row, () => ({ fields: {}, tokens }));
  return await tx
    .updateTable("credentials")
    .set((eb) => ({
      auth_type: "oauth2" as const,
      status: "active" as const,
      metadata: JSON.stringify({ ...row.metadata, ...metadata }),
      secret_fields: "[]",
      fingerprint: fingerprintOf(services, workspaceId, secret),
      granted_scopes: JSON.stringify(grantedScopes),
      expires_at: toDate(tokens.expiresAtMs),
      last_verified_at: null,
      last_error: null,
      updated_at: now,
      version: eb("version", "+", 1),
    }))
    .where("id", "=", row.id)
    .where("workspace_id", "=", workspaceId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

const toDate = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
