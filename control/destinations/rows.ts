import type { Selectable } from "kysely";
import { ControlError, notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** A destination with the handle of its credential; null: its connector has no secrets. */
export type DestinationRow = Selectable<Tables["destinations"]> & {
  readonly handle: string | null;
};

export const selectDestinations = (db: Db, workspaceId: string) =>
  db
    .selectFrom("destinations")
    .leftJoin("credentials", "credentials.id", "destinations.credential_id")
    .selectAll("destinations")
    .select("credentials.handle")
    .where("destinations.workspace_id", "=", workspaceId);

/** @throws not_found */
export async function findDestination(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DestinationRow> {
  const row = await selectDestinations(db, workspaceId)
    .where("destinations.id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("destination", id);
  return row;
}

/** As {@link findDestination}, locked until the transaction ends. */
export async function lockDestination(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DestinationRow> {
  await db
    .selectFrom("destinations")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forUpdate()
    .execute();
  return findDestination(db, workspaceId, id);
}

/** Most users that a refusal names. */
const maxNamed = 100;

/** @throws destination_in_use naming what writes to it or reads from it */
export async function requireUnused(db: Db, { id, workspace_id }: DestinationRow): Promise<void> {
  const [connections, models] = [await usersOf("connections"), await usersOf("reverse_etl_models")];
  if (connections.length + models.length === 0) return;
  throw new ControlError("destination_in_use", {
    connection_ids: connections.slice(0, maxNamed),
    connection_count: connections.length,
    model_ids: models.slice(0, maxNamed),
    model_count: models.length,
  });

  async function usersOf(table: "connections" | "reverse_etl_models"): Promise<string[]> {
    const rows = await db
      .selectFrom(table)
      .select("id")
      .where("workspace_id", "=", workspace_id)
      .where("destination_id", "=", id)
      .orderBy("created_at", "desc")
      .execute();
    return rows.map((row) => row.id);
  }
}
