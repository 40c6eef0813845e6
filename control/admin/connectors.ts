import { suggestion } from "svc-connectors/host";
import type { AdminContext } from "./actions.ts";
import { AdminError } from "./admin-error.ts";

/** Whether new sources may use a connector. What exists of it stays as it is. */
export async function setConnector(
  { services: { database, connectors, clock } }: AdminContext,
  { connector, enabled }: { readonly connector: string; readonly enabled: boolean },
): Promise<{ readonly connector_id: string; readonly enabled: boolean }> {
  const all = connectors.list();
  const found = all.find(({ id, name, aliases }) => [id, name, ...aliases].includes(connector));
  if (!found) {
    const names = all.flatMap(({ id, name }) => [name, id]);
    throw new AdminError(
      `there is no such connector${suggestion(connector, names) || "; svc connectors lists them"}`,
    );
  }
  const updated_at = new Date(clock.now());
  await database.db
    .insertInto("connector_settings")
    .values({ connector_id: found.id, enabled, updated_at })
    .onConflict((conflict) => conflict.column("connector_id").doUpdateSet({ enabled, updated_at }))
    .execute();
  return { connector_id: found.id, enabled };
}
