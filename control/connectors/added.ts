/** Connectors that do not come with svc, as they are kept: added, added again, removed. */
import type { Selectable } from "kysely";
import {
  type CatalogStream,
  type ContainedImage,
  type Manifest,
  manifestDigest,
} from "svc-connectors/host";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import type { InspectedConnector } from "./inspect.ts";
import { moduleOrNone } from "./places.ts";
import { refused } from "./refused.ts";
import type { ConnectorDefinition } from "./registry.ts";

export type AddedConnector = Selectable<Tables["added_connectors"]>;

/** All but the text of manifests and images, which may be long. */
export type ListedConnector = Omit<AddedConnector, "document">;

export const listAdded = (db: Db): Promise<ListedConnector[]> =>
  db
    .selectFrom("added_connectors")
    .select(["id", "kind", "place", "code_digest", "manifest", "streams", "sandbox", "origin"])
    .select(["image", "version", "created_at", "updated_at", "removed_at"])
    .orderBy("id")
    .execute();

/** Reads the texts of manifests and images, and each once: lists are made again and again. */
export function createDocuments(db: Db) {
  let kept = new Map<string, string>();
  return async (rows: readonly ListedConnector[]): Promise<ReadonlyMap<string, string>> => {
    const documented = rows.filter(isDocumented);
    const unknown = documented.filter(({ code_digest }) => !kept.has(code_digest));
    const read = await Promise.all(
      unknown.map(({ id }) =>
        db
          .selectFrom("added_connectors")
          .select(["code_digest", "document"])
          .where("id", "=", id)
          .executeTakeFirst(),
      ),
    );
    const texts = read.flatMap((row) =>
      row?.document ? [[row.code_digest, row.document] as const] : [],
    );
    const digests = new Set(documented.map(({ code_digest }) => code_digest));
    kept = new Map([...kept, ...texts].filter(([digest]) => digests.has(digest)));
    return kept;
  };
}

const isDocumented = ({ kind }: ListedConnector) => kind === "manifest" || kind === "image";

/** Which image it is, and what it may; null: it is none. */
export const imageOf = ({ image }: Pick<AddedConnector, "image">) =>
  image === null ? null : (JSON.parse(image) as ContainedImage);

/**
 * The registry's entry for an added connector.
 * @param folder packages are looked up from it
 * @param document the text of a manifest or an image
 */
export async function toAddedDefinition(
  row: ListedConnector,
  folder: string,
  document: string | undefined,
): Promise<ConnectorDefinition> {
  const manifest = JSON.parse(row.manifest) as Manifest;
  const streams = JSON.parse(row.streams) as readonly CatalogStream[];
  const image = imageOf(row);
  const { name: _, ...module } = await moduleOrNone(
    // One that was replaced at this very moment is there at the next look: nothing else is loaded.
    { ...row, image, document: isDocumented(row) ? (document ?? "") : null },
    folder,
  );
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
    reference: { name: row.id, ...module, pin },
    namedSettings: [],
    credentialPath: "/credentials",
    oauthPath: "/credentials/source/oauth/start",
    added: {
      manifest,
      streams,
      isRemoved: pin.isRemoved,
      version: row.version,
      updatedAt: row.updated_at,
      ...(row.kind === "manifest"
        ? { manifestText: { digest: row.code_digest, text: document ?? "" } }
        : {}),
      ...(image === null ? {} : { image }),
    },
  };
}

/**
 * Keeps a connector as it was looked at; one that was removed is back, and enabled. Gives what was
 * kept before.
 * @throws connector_refused when its id or its place belongs to another one
 */
export async function keepConnector(
  tx: Db,
  { kind, place, document, image, code, sandbox, manifest, streams }: InspectedConnector,
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
    document,
    image: image === null ? null : JSON.stringify(image),
    code_digest: code,
    manifest: JSON.stringify(manifest),
    streams: JSON.stringify(streams),
    sandbox,
    origin,
    version: versionAfter(before),
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

/** The version of what takes the place of this row. */
export const versionAfter = (before: AddedConnector | undefined): number =>
  (before?.version ?? 0) + 1;

const enable = (tx: Db, id: string) =>
  tx.deleteFrom("connector_settings").where("connector_id", "=", id).execute();

/**
 * Removes a connector. What was made with it is kept; nothing of it runs. Gives the version that it
 * has then.
 * @throws not_found
 */
export async function removeConnector(
  tx: Db,
  id: string,
  now: Date,
): Promise<Pick<AddedConnector, "version">> {
  const removed = await tx
    .updateTable("added_connectors")
    .set((eb) => ({ version: eb("version", "+", 1), removed_at: now, updated_at: now }))
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .returning("version")
    .executeTakeFirst();
  if (!removed) throw new ControlError("not_found", { resource: "added_connector" });
  const setting = { enabled: false, updated_at: now };
  await tx
    .insertInto("connector_settings")
    .values({ connector_id: id, ...setting })
    .onConflict((conflict) => conflict.column("connector_id").doUpdateSet(setting))
    .execute();
  return removed;
}
