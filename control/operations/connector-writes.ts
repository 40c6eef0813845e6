/**
 * Declarative manifests and images as connectors of the instance. A manifest is data, and an image
 * has walls of its own; neither has the secrets: so its administrators may add them, where code is
 * the operator's, who says which images that holds for.
 */
import { hostNamePattern, parseImageName } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import {
  type AddedConnector,
  imageOf,
  keepConnector,
  removeConnector,
} from "../connectors/added.ts";
import { secretFieldsOf } from "../connectors/configuration.ts";
import { tellAdded } from "../connectors/follow.ts";
import { type GivenImage, requireAllowed } from "../connectors/images.ts";
import type { InspectedConnector } from "../connectors/inspect.ts";
import { manifestPlace, type Place } from "../connectors/places.ts";
import { hasCredentials, reachesOf, requireSameReach } from "../connectors/reach.ts";
import { refused } from "../connectors/refused.ts";
import { type ConnectorDefinition, namedConnector } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { Nullable, StrictObject } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import { connectorParams, ImageFacts, ManifestFacts, toImageFacts } from "./connectors.ts";
import { manifestFields, workspacesWith } from "./instance-connectors.ts";

const Kept = StrictObject(
  {
    connector_id: Type.String(),
    name: Type.String(),
    spec_version: Type.String(),
    secret_fields: Type.Array(Type.String()),
    manifest_facts: Nullable(ManifestFacts),
    image_facts: Nullable(ImageFacts),
  },
  { title: "KeptConnector" },
);

function toKept(
  { manifest, code, image }: InspectedConnector,
  updatedAt: Date,
): Static<typeof Kept> {
  return {
    connector_id: manifest.id,
    name: manifest.title,
    spec_version: manifest.version,
    secret_fields: secretFieldsOf(manifest),
    manifest_facts:
      image === null
        ? {
            digest: code,
            updated_at: updatedAt.toISOString(),
            reaches: reachesOf(manifest),
            missing_streams: [...(manifest.missingStreams ?? [])],
          }
        : null,
    image_facts: image && toImageFacts(image, manifest, updatedAt),
  };
}

const imageFields = {
  image: Type.String({
    minLength: 1,
    maxLength: 400,
    description:
      "An image of the Airbyte Protocol, with its digest: acme/source-shop@sha256:… The operator says which may be added.",
  }),
  allowed_hosts: Type.Array(Type.String({ maxLength: 253, pattern: hostNamePattern }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: "Hosts that requests of the image may go to, by HTTPS. It reaches no others.",
  }),
};

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
  status: 201,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  body: StrictObject({
    name: manifestFields.name,
    manifest: Type.Optional(manifestFields.text),
    image: Type.Optional(imageFields.image),
    allowed_hosts: Type.Optional(imageFields.allowed_hosts),
  }),
  data: Kept,
  errors: ["agent_cannot_approve", "connector_refused", "name_taken"],
  guard: async ({ services }, { body: { name, ...body } }) => {
    requireOneKind(body);
    if (body.manifest !== undefined) return manifestPlace({ name, text: body.manifest });
    if (body.allowed_hosts === undefined)
      throw refuseField(
        "validation_failed",
        "allowed_hosts",
        "is missing: an image reaches the hosts that it names, and no others",
      );
    const { image: reference = "", allowed_hosts: hosts } = body;
    return toGivenImage(services, { name, reference, hosts });
  },
  prepare: ({ services, signal }, _input, given: Place | GivenImage) =>
    services.connectors.inspect(given, { sandbox: "process", signal }),
  async commit(tx, { now }, _input, inspected) {
    const before = await keepConnector(tx, inspected, "api", now);
    if (before && before.removed_at === null) throw new ControlError("name_taken");
    // What is back after it was removed may still have credentials.
    if (before) await requireSameReach(tx, before, inspected.manifest);
    const { id } = inspected.manifest;
    return {
      data: toKept(inspected, now),
      resourceId: id,
      location: `/connectors/${id}`,
      workspaceIds: await workspacesWith(tx, id),
    };
  },
  announce: told,
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
  status: 200,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  params: connectorParams,
  body: StrictObject(
    {
      manifest: Type.Optional(manifestFields.text),
      image: Type.Optional(imageFields.image),
      allowed_hosts: Type.Optional(imageFields.allowed_hosts),
    },
    { minProperties: 1 },
  ),
  data: Kept,
  errors: ["agent_cannot_approve", "not_found", "connector_refused"],
  async guard(ctx, { params, body }) {
    const { id } = requireGiven(namedConnector(ctx, params.connector_id));
    const kept = await findKept(ctx.db, id);
    const image = imageOf(kept);
    if (image === null) {
      if (body.manifest === undefined || isOfImage(body))
        throw refuseField("validation_failed", "manifest", "is what this connector is made of");
      return manifestPlace({ name: kept.place, text: body.manifest });
    }
    if (body.manifest !== undefined)
      throw refuseField("validation_failed", "manifest", "is for manifests; this is an image");
    if (image.exposed.length > 0)
      throw refused("it gets secrets as they are: only svc connectors add may replace it");
    const { image: reference = image.id, allowed_hosts: hosts = image.hosts } = body;
    if (parseImageName(reference)?.repository !== kept.place)
      throw refused(`it is of ${kept.place}: an image of another repository is another connector`);
    return toGivenImage(ctx.services, { name: id.replace(/^conn_/, ""), reference, hosts });
  },
  prepare: ({ services, signal }, _input, given: Place | GivenImage) =>
    services.connectors.inspect(given, { sandbox: "process", signal }),
  async commit(tx, { now }, _input, inspected) {
    const before = await keepConnector(tx, inspected, "api", now);
    if (!before || before.removed_at !== null) throw new ControlError("not_found");
    await requireSameReach(tx, before, inspected.manifest);
    const { id } = inspected.manifest;
    return {
      data: toKept(inspected, now),
      resourceId: id,
      workspaceIds: await workspacesWith(tx, id),
    };
  },
  announce: told,
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
    await requireUnused(ctx.db, definition.id);
    return definition;
  },
  async commit(tx, { now }, _input, { id }) {
    await requireUnused(tx, id);
    await removeConnector(tx, id, now);
    return { data: { connector_id: id, deleted: true }, resourceId: id };
  },
  announce: told,
});

/** Those that come with svc, and code, are not for the API to change. @throws connector_refused */
function requireGiven(definition: ConnectorDefinition): ConnectorDefinition {
  if (definition.added?.isRemoved) throw new ControlError("not_found", { resource: "connector" });
  if (definition.added?.manifestText || definition.added?.image) return definition;
  throw refused("it is no declarative manifest or image that was added");
}

const findKept = (db: Db, id: string): Promise<Pick<AddedConnector, "place" | "image">> =>
  db
    .selectFrom("added_connectors")
    .select(["place", "image"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow(() => new ControlError("not_found", { resource: "connector" }));

interface Kinds {
  readonly manifest?: string | undefined;
  readonly image?: string | undefined;
  readonly allowed_hosts?: readonly string[] | undefined;
}

const isOfImage = ({ image, allowed_hosts }: Kinds) => (image ?? allowed_hosts) !== undefined;

/** @throws validation_failed */
function requireOneKind(body: Kinds): void {
  if (body.manifest !== undefined && isOfImage(body))
    throw refuseField("validation_failed", "image", "and manifest are two connectors: give one");
  if (body.manifest === undefined && body.image === undefined)
    throw refuseField("validation_failed", "manifest", "is missing, and so is image: give one");
}

/** @throws validation_failed without a digest, connector_refused when it is not allowed */
function toGivenImage(
  { settings }: OperationContext["services"],
  given: Omit<GivenImage, "exposed">,
): GivenImage {
  const { reference } = given;
  if (parseImageName(reference)?.digest === undefined)
    throw refuseField(
      "validation_failed",
      "image",
      "must name the image by its digest, so that it stays the same: acme/source-shop@sha256:…",
    );
  requireAllowed(reference, settings.images);
  return { ...given, exposed: [] };
}

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

async function told<Data>({ services }: OperationContext, _input: unknown, data: Data) {
  await tellAdded(services);
  return data;
}

export const connectorWriteOperations = [createConnector, updateConnector, deleteConnector];
