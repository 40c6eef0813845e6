import type { Selectable } from "kysely";
import type { JsonValue } from "svc-connectors/host";
import { requireBoundTo } from "../connectors/configuration.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import { type CredentialRow, requireUsable } from "../credentials/rows.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** A source with the handle of its credential. */
export type SourceRow = Selectable<Tables["sources"]> & { readonly handle: string };

export const selectSources = (db: Db, workspaceId: string) =>
  db
    .selectFrom("sources")
    .innerJoin("credentials", "credentials.id", "sources.credential_id")
    .selectAll("sources")
    .select("credentials.handle")
    .where("sources.workspace_id", "=", workspaceId);

/** @throws not_found */
export async function findSource(db: Db, workspaceId: string, id: string): Promise<SourceRow> {
  const row = await selectSources(db, workspaceId).where("sources.id", "=", id).executeTakeFirst();
  if (!row) throw notFound("source", id);
  return row;
}

/** As {@link findSource}, locked until the transaction ends. */
export async function lockSource(db: Db, workspaceId: string, id: string): Promise<SourceRow> {
  await db
    .selectFrom("sources")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forUpdate()
    .execute();
  return findSource(db, workspaceId, id);
}

/** Most connections that a refusal names. */
const maxNamedConnections = 100;

/** @throws source_has_connections */
export async function requireUnconnected(db: Db, { id, workspace_id }: SourceRow): Promise<void> {
  const connections = await db
    .selectFrom("connections")
    .select("id")
    .where("workspace_id", "=", workspace_id)
    .where("source_id", "=", id)
    .orderBy("created_at", "desc")
    .execute();
  if (connections.length === 0) return;
  throw new ControlError("source_has_connections", {
    connection_ids: connections.slice(0, maxNamedConnections).map((connection) => connection.id),
    connection_count: connections.length,
  });
}

/**
 * Keeps the credential as it is until the transaction ends.
 * @param baseUrl where its secrets have just been tried, if a base URL is entered
 * @throws not_found, credential_not_usable when it has changed since it was tried ·
 * credential_mismatch when it was bound to another base URL meanwhile
 */
export async function holdCredential(
  db: Db,
  { id, workspace_id }: CredentialRow,
  baseUrl?: JsonValue,
): Promise<void> {
  const row = await db
    .selectFrom("credentials")
    .selectAll()
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
  if (!row) throw notFound("credential", id);
  requireUsable(row);
  if (baseUrl !== undefined) requireBoundTo(row, baseUrl);
}
