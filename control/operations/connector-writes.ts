/**
 * Declarative manifests and images as connectors of the instance. A manifest is data, and an image
 * has walls of its own; neither has the secrets: so its administrators may add them, where code is
 * the operator's, who says which images that holds for.
 */
import { type Static, Type } from "typebox";
import {
  type AddedConnector,
  keepConnector,
  removeConnector,
  versionAfter,
} from "../connectors/added.ts";
import { notifyAdded } from "../connectors/follow.ts";
import type { GivenImage } from "../connectors/images.ts";
import type { InspectedConnector } from "../connectors/inspect.ts";
import type { Place } from "../connectors/places.ts";
import { hasCredentials, requireSameReach } from "../connectors/reach.ts";
import { refused } from "../connectors/refused.ts";
import { type ConnectorDefinition, namedConnector } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Nullable, StrictObject, Version } from "../contract/schemas.ts";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import type { Db } from "../store/database.ts";
import { givenFields, toGiven, toNewer } from "./connector-given.ts";
import {
  ImageMetadata,
  ManifestMetadata,
  toImageMetadata,
  toManifestMetadata,
} from "./connector-metadata.ts";
import { connectorParams } from "./connectors.ts";
import { manifestFields, workspacesWith } from "./instance-connectors.ts";

const Kept = StrictObject(
  {
    connector_id: Type.String(),
    name: Type.String(),
    spec_version: Type.String(),
    secret_fields: Type.Array(Type.String()),
    manifest_metadata: Nullable(ManifestMetadata),
    source_image: Nullable(Type.String()),
    image_metadata: Nullable(ImageMetadata),
    version: Version,
  },
  { title: "KeptConnector" },
);

function toKept(
  { manifest, code, image }: InspectedConnector,
  before: AddedConnector | undefined,
  updatedAt: Date,
): Static<typeof Kept> {
  return {
    connector_id: manifest.id,
    name: manifest.title,
    spec_version: manifest.version,
    secret_fields: secretFieldsOf(manifest),
    manifest_metadata: image === null ? toManifestMetadata(code, manifest, updatedAt) : null,
    source_image: image?.id ?? null,
    image_metadata: image && toImageMetadata(image, manifest, updatedAt),
    version: versionAfter(before),
  };
}

const forAdministrators =
  "For administrators of the instance: those of its first workspace. No agent does it.";

export const createConnector = defineWrite({
  id: "connector.create",
  area: "Connectors",
  method: "POST",
  path: "/connectors",
  summary: "Add a declarative manifest or an image as a connector",
  description: `${forAdministrators} Every workspace may use it then. It runs without secrets. A manifest reaches the hosts that it names and no others; what is wrong with it is told with the place, and streams that need what svc lacks are named in missing_streams. An image, by its digest, reaches its allowed_hosts; it is pulled where it is missing, and asked for its spec.`,
  permission: "admin",
  workspace: "instance",
  limit: "provider",
  status: 201,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  body: StrictObject({ name: manifestFields.name, ...givenFields }),
  data: Kept,
  errors: ["agent_cannot_approve", "connector_refused", "name_taken"],
  guard: async ({ services }, { body: { name, ...body } }) =>
    toGiven(services.settings, name, body),
  // A manifest is read here, an image is pulled and asked.
  asks: (given) => "reference" in given,
  prepare: ({ services, signal }, _input, given: Place | GivenImage) =>
    services.connectors.inspect(given, { sandbox: "process", signal }),
  async commit(tx, { now }, _input, inspected) {
    const before = await keepConnector(tx, inspected, "api", now);
    if (before && before.removed_at === null) throw new ControlError("name_taken");
    // A connector that is back after it was removed may still have credentials.
    if (before) await requireSameReach(tx, before, inspected.manifest);
    const { id } = inspected.manifest;
    return {
      data: toKept(inspected, before, now),
      resourceId: id,
      location: `/connectors/${id}`,
      workspaceIds: await workspacesWith(tx, id),
    };
  },
  announce: announceAdded,
});

export const updateConnector = defineWrite({
  id: "connector.update",
  area: "Connectors",
  method: "PATCH",
  path: "/connectors/{connector_id}",
  summary: "Replace the manifest or the image of a connector",
  description: `${forAdministrators} Its sources and pipelines stay, and use it from their next run on; settings and streams that it no longer has make that run fail, with their names. While there are credentials for it, it may not reach another host than before, nor open a secret.`,
  permission: "admin",
  workspace: "instance",
  limit: "provider",
  status: 200,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  params: connectorParams,
  body: StrictObject(givenFields, { minProperties: 1 }),
  data: Kept,
  errors: ["agent_cannot_approve", "not_found", "connector_refused"],
  async guard(ctx, { params, body }) {
    const { id } = requireGiven(namedConnector(ctx, params.connector_id));
    const kept = await findKept(ctx.db, id);
    ctx.expectVersion(kept.version);
    return toNewer(ctx.services.settings, id, kept, body);
  },
  asks: (given) => "reference" in given,
  prepare: ({ services, signal }, _input, given: Place | GivenImage) =>
    services.connectors.inspect(given, { sandbox: "process", signal }),
  async commit(tx, { now, expectVersion }, _input, inspected) {
    const before = await keepConnector(tx, inspected, "api", now);
    if (!before || before.removed_at !== null) throw new ControlError("not_found");
    expectVersion(before.version);
    await requireSameReach(tx, before, inspected.manifest);
    const { id } = inspected.manifest;
    return {
      data: toKept(inspected, before, now),
      resourceId: id,
      workspaceIds: await workspacesWith(tx, id),
    };
  },
  announce: announceAdded,
});

export const deleteConnector = defineWrite({
  id: "connector.delete",
  area: "Connectors",
  method: "DELETE",
  path: "/connectors/{connector_id}",
  summary: "Remove a manifest or an image that was added",
  description: `${forAdministrators} Only once no workspace has a credential or a source of it.`,
  permission: "admin",
  workspace: "instance",
  status: 200,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  params: connectorParams,
  data: StrictObject({ connector_id: Type.String(), deleted: Type.Boolean() }),
  errors: ["agent_cannot_approve", "not_found", "connector_refused", "connector_in_use"],
  async guard(ctx, { params }) {
    const definition = requireGiven(namedConnector(ctx, params.connector_id));
    ctx.expectVersion((await findKept(ctx.db, definition.id)).version);
    await requireUnused(ctx.db, definition.id);
    return definition;
  },
  async commit(tx, { now, expectVersion }, _input, { id }) {
    await requireUnused(tx, id);
    const { version } = await removeConnector(tx, id, now);
    expectVersion(version - 1);
    return { data: { connector_id: id, deleted: true }, resourceId: id };
  },
  announce: announceAdded,
});

/** Those that come with svc, and code, are not for the API to change. @throws connector_refused */
function requireGiven(definition: ConnectorDefinition): ConnectorDefinition {
  if (definition.added?.isRemoved) throw new ControlError("not_found", { resource: "connector" });
  if (definition.added?.manifestText || definition.added?.image) return definition;
  throw refused("it is no declarative manifest or image that was added");
}

type KeptRow = Pick<AddedConnector, "place" | "image" | "version">;

const findKept = (db: Db, id: string): Promise<KeptRow> =>
  db
    .selectFrom("added_connectors")
    .select(["place", "image", "version"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow(() => new ControlError("not_found", { resource: "connector" }));

/** @throws connector_in_use */
async function requireUnused(db: Db, id: string): Promise<void> {
  const source = await db
    .selectFrom("sources")
    .select("id")
    .where("connector_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  if (source) throw new ControlError("connector_in_use", { connector_id: id, by: "sources" });
  if (await hasCredentials(db, id))
    throw new ControlError("connector_in_use", { connector_id: id, by: "credentials" });
}

async function announceAdded<Data>({ services }: OperationContext, _input: unknown, data: Data) {
  await notifyAdded(services);
  return data;
}

export const connectorWriteOperations = [createConnector, updateConnector, deleteConnector];
