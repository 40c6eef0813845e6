import type { Selectable } from "kysely";
import { isHandle } from "../contract/ids.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

export type CredentialRow = Selectable<Tables["credentials"]>;

/**
 * The credential that a request names by its handle, in its own workspace. Handles are names: one
 * of another workspace does not exist.
 * @throws not_found
 */
export async function findByHandle(
  db: Db,
  workspaceId: string,
  handle: string,
): Promise<CredentialRow> {
  const row = isHandle(handle)
    ? await db
        .selectFrom("credentials")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .where("handle", "=", handle)
        .executeTakeFirst()
    : undefined;
  if (!row) throw notFound("credential", handle);
  return row;
}

/** @throws not_found */
export async function findCredential(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<CredentialRow> {
  const row = await db
    .selectFrom("credentials")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("credential", id);
  return row;
}

/**
 * @throws credential_not_usable when it must be connected again, or is not active (yet, or any
 * more)
 */
export function requireUsable({ status }: CredentialRow): void {
  if (status !== "active") throw notUsable(status);
}

/** A lost authorisation is told by the code that jobs have for it. */
export const notUsable = (status: CredentialRow["status"]) =>
  new ControlError("credential_not_usable", {
    status,
    ...(status === "needs_reauth" ? { error: "REAUTHORIZATION_NEEDED" } : {}),
  });

/** @throws credential_mismatch */
export function requireConnector(credential: CredentialRow, connectorId: string): void {
  if (credential.connector_id !== connectorId)
    throw new ControlError("credential_mismatch", { connector_id: connectorId });
}

/**
 * As {@link findCredential}, for changing it: one that was deleted does not exist any more.
 * @throws not_found
 */
export const findLiving = async (db: Db, workspaceId: string, id: string): Promise<CredentialRow> =>
  requireLiving(await findCredential(db, workspaceId, id));

/** @throws not_found when it was deleted */
export function requireLiving(row: CredentialRow): CredentialRow {
  if (row.status === "revoked") throw notFound("credential", row.id);
  return row;
}

/** As {@link findLiving}, locked until the transaction ends. */
export async function lockLiving(db: Db, workspaceId: string, id: string): Promise<CredentialRow> {
  await db
    .selectFrom("credentials")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forUpdate()
    .execute();
  return findLiving(db, workspaceId, id);
}
