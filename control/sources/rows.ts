import type { Selectable } from "kysely";
import { ControlError } from "../contract/reasons.ts";
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
  if (!row) throw new ControlError("not_found", { resource: "source" });
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
