/** Connectors that do not come with svc, as they are kept: added, added again, removed. */
import type { Selectable } from "kysely";
import { type CatalogStream, type Manifest, manifestDigest } from "svc-connectors/host";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import { type InspectedConnector, refused } from "./inspect.ts";
import { moduleOrNone } from "./places.ts";
import type { ConnectorDefinition } from "./registry.ts";

export type AddedConnector = Selectable<Tables["added_connectors"]>;

export const listAdded = (db: Db): Promise<AddedConnector[]> =>
  db.selectFrom("added_connectors").selectAll().orderBy("id").execute();

/** What the registry knows of one. @param folder packages are looked up from it */
export async function toAddedDefinition(
  row: AddedConnector,
  folder: string,
): Promise<ConnectorDefinition> {
  const manifest = JSON.parse(row.manifest) as Manifest;
  const streams = JSON.parse(row.streams) as readonly CatalogStream[];
  const { url } = await moduleOrNone(row, folder);
  const pin = {
    code: row.code_digest,
    manifest: manifestDigest(manifest),
    sandbox: row.sandbox,
    isRemoved: row.removed_at !== null,
  };
  return {
    id: row.id,
    name: row.id,
    title: manifest.title,
    type: "source",
    category: "other",
    releaseStage: /^0\.|-/.test(manifest.version) ? "alpha" : "ga",
    documentationUrl: manifest.documentationUrl ?? null,
    aliases: [],
    reference: { name: row.id, url, pin },
    namedSettings: [],
    credentialPath: "/credentials",
    oauthPath: "/credentials/source/oauth/start",
    added: { manifest, streams, isRemoved: pin.isRemoved },
  };
}

/**
 * Keeps a connector as it was looked at; one that was removed is back, and enabled. Gives what was
 * kept before.
 * @throws connector_refused when its id or its place belongs to another one
 */
export async function keepConnector(
  tx: Db,
  { kind, place, code, sandbox, manifest, streams }: InspectedConnector,
  origin: AddedConnector["origin"],
  now: Date,
): Promise<AddedConnector | undefined> {
  const rows = await tx.selectFrom("added_connectors").selectAll().forUpdate().execute();
  const there = rows.filter(({ removed_at }) => removed_at === null);
  const isSamePlace = (row: AddedConnector) => row.kind === kind && row.place === place;
  if (there.some((row) => row.id === manifest.id && !isSamePlace(row)))
    throw refused(`there is ${manifest.id} from another place: remove that first`);
  const other = there.find((row) => row.id !== manifest.id && isSamePlace(row));
  if (other)
    throw refused(`it was added as ${other.id}, and an id is permanent: remove that first`);
  const before = rows.find(({ id }) => id === manifest.id);
  if (before?.removed_at) await enable(tx, before.id);
  const changes = {
    kind,
    place,
    code_digest: code,
    manifest: JSON.stringify(manifest),
    streams: JSON.stringify(streams),
    sandbox,
    origin,
    updated_at: now,
    removed_at: null,
  };
  await tx
    .insertInto("added_connectors")
    .values({ id: manifest.id, created_at: now, ...changes })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changes))
    .execute();
  return before;
}

const enable = (tx: Db, id: string) =>
  tx.deleteFrom("connector_settings").where("connector_id", "=", id).execute();

/** What was made with it is kept; nothing of it runs. @throws not_found */
export async function removeConnector(tx: Db, id: string, now: Date): Promise<void> {
  const removed = await tx
    .updateTable("added_connectors")
    .set({ removed_at: now, updated_at: now })
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (!removed) throw new ControlError("not_found", { resource: "added_connector" });
  const setting = { enabled: false, updated_at: now };
  await tx
    .insertInto("connector_settings")
    .values({ connector_id: id, ...setting })
    .onConflict((conflict) => conflict.column("connector_id").doUpdateSet(setting))
    .execute();
}
