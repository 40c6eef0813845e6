import type { Selectable } from "kysely";
import { ControlError, notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

export type ModelTableRow = Selectable<Tables["reverse_etl_models"]>;
export type ActivationRow = Selectable<Tables["reverse_etl_activations"]>;
export type RunRow = Selectable<Tables["reverse_etl_runs"]>;
/** A receiver with the handle of its credential. */
export type ReverseDestinationRow = Selectable<Tables["reverse_etl_destinations"]> & {
  readonly handle: string | null;
};

/** @throws not_found */
export async function findModel(db: Db, workspaceId: string, id: string): Promise<ModelTableRow> {
  const row = await db
    .selectFrom("reverse_etl_models")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("reverse_etl_model", id);
  return row;
}

export const selectReverseDestinations = (db: Db, workspaceId: string) =>
  db
    .selectFrom("reverse_etl_destinations")
    .leftJoin("credentials", "credentials.id", "reverse_etl_destinations.credential_id")
    .selectAll("reverse_etl_destinations")
    .select("credentials.handle")
    .where("reverse_etl_destinations.workspace_id", "=", workspaceId);

/** @throws not_found */
export async function findReverseDestination(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ReverseDestinationRow> {
  const row = await selectReverseDestinations(db, workspaceId)
    .where("reverse_etl_destinations.id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("reverse_etl_destination", id);
  return row;
}

/** @throws not_found */
export async function findActivation(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ActivationRow> {
  const row = await db
    .selectFrom("reverse_etl_activations")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("reverse_etl_activation", id);
  return row;
}

/** @throws not_found */
export async function findRun(db: Db, workspaceId: string, id: string): Promise<RunRow> {
  const row = await db
    .selectFrom("reverse_etl_runs")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("reverse_etl_run", id);
  return row;
}

type Locked =
  | "reverse_etl_models"
  | "reverse_etl_destinations"
  | "reverse_etl_activations"
  | "reverse_etl_runs";

/**
 * Keeps a row as it is until the transaction ends; looking it up anew tells whether it is still
 * there.
 */
export async function lockRow(
  tx: Db,
  table: Locked,
  workspaceId: string,
  id: string,
): Promise<void> {
  await tx
    .selectFrom(table)
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forUpdate()
    .execute();
}

/** Ids of activations by what they use, oldest first. */
export async function activationIds(
  db: Db,
  workspaceId: string,
  by: "model_id" | "destination_id",
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return found;
  const rows = await db
    .selectFrom("reverse_etl_activations")
    .select(["id", by])
    .where("workspace_id", "=", workspaceId)
    .where(by, "in", ids)
    .orderBy("created_at")
    .execute();
  for (const row of rows) found.get(row[by])?.push(row.id);
  return found;
}

/** Most activations that a refusal names. */
const maxNamed = 100;

/** @throws model_has_activations, destination_has_activations naming them */
export async function requireUnactivated(
  db: Db,
  workspaceId: string,
  by: "model_id" | "destination_id",
  id: string,
): Promise<void> {
  const ids = (await activationIds(db, workspaceId, by, [id])).get(id) ?? [];
  if (ids.length === 0) return;
  throw new ControlError(
    by === "model_id" ? "model_has_activations" : "destination_has_activations",
    {
      activationIds: ids.slice(0, maxNamed),
      activationCount: ids.length,
    },
  );
}
