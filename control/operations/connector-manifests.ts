/**
 * Declarative manifests as connectors of the instance. They are data, which the runtime's own code
 * interprets without the secrets: so its administrators may add them, where code is the operator's.
 */
import { type Static, Type } from "typebox";
import { keepConnector, removeConnector } from "../connectors/added.ts";
import { secretFieldsOf } from "../connectors/configuration.ts";
import { tellAdded } from "../connectors/follow.ts";
import { type InspectedConnector, refused } from "../connectors/inspect.ts";
import { manifestPlace } from "../connectors/places.ts";
import { hasCredentials, reachesOf, requireSameReach } from "../connectors/reach.ts";
import { type ConnectorDefinition, namedConnector } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { StrictObject } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import { connectorParams, ManifestFacts } from "./connectors.ts";
import { manifestFields, workspacesWith } from "./instance-connectors.ts";

const Kept = StrictObject(
  {
    connector_id: Type.String(),
    name: Type.String(),
    spec_version: Type.String(),
    secret_fields: Type.Array(Type.String()),
    manifest_facts: ManifestFacts,
  },
  { title: "KeptManifest" },
);

const toKept = ({ manifest, code }: InspectedConnector, now: Date): Static<typeof Kept> => ({
  connector_id: manifest.id,
  name: manifest.title,
  spec_version: manifest.version,
  secret_fields: secretFieldsOf(manifest),
  manifest_facts: {
    digest: code,
    updated_at: now.toISOString(),
    reaches: reachesOf(manifest),
    missing_streams: [...(manifest.missingStreams ?? [])],
  },
});

const forAdministrators =
  "For administrators of the instance: those of its first workspace. No agent does it.";

export const createManifestConnector = defineWrite({
  id: "connector.create",
  area: "Connectors",
  method: "POST",
  path: "/connectors",
  summary: "Add a declarative manifest as a connector",
  description: `${forAdministrators} Every workspace may use it then. It runs without secrets, and reaches the hosts that it names and no others. What is wrong with it is told with the place; streams that need what svc lacks are named in missing_streams.`,
  permission: "admin",
  workspace: "instance",
  status: 201,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  body: StrictObject({ name: manifestFields.name, manifest: manifestFields.text }),
  data: Kept,
  errors: ["agent_cannot_approve", "connector_refused", "name_taken"],
  prepare: ({ services }, { body: { name, manifest: text } }) =>
    services.connectors.inspect(manifestPlace({ name, text }), { sandbox: "process" }),
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

export const updateManifestConnector = defineWrite({
  id: "connector.update",
  area: "Connectors",
  method: "PATCH",
  path: "/connectors/{connector_id}",
  summary: "Replace the manifest of a connector",
  description: `${forAdministrators} Its sources and pipelines stay, and use it from their next run on; settings and streams that it no longer has make that run fail, with their names. While there are credentials for it, it may not reach another host than before, nor open a secret.`,
  permission: "admin",
  workspace: "instance",
  status: 200,
  resource: "connector",
  isForPeople: true,
  isRepeatable: true,
  params: connectorParams,
  body: StrictObject({ manifest: manifestFields.text }),
  data: Kept,
  errors: ["agent_cannot_approve", "not_found", "connector_refused"],
  guard: async (ctx, { params }) => requireManifest(namedConnector(ctx, params.connector_id)),
  async prepare({ services, db }, { body: { manifest: text } }, { id }) {
    const { place: name } = await findKept(db, id);
    return await services.connectors.inspect(manifestPlace({ name, text }), { sandbox: "process" });
  },
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

export const deleteManifestConnector = defineWrite({
  id: "connector.delete",
  area: "Connectors",
  method: "DELETE",
  path: "/connectors/{connector_id}",
  summary: "Remove a manifest that was added",
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
    const definition = requireManifest(namedConnector(ctx, params.connector_id));
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
function requireManifest(definition: ConnectorDefinition): ConnectorDefinition {
  if (definition.added?.isRemoved) throw new ControlError("not_found", { resource: "connector" });
  if (definition.added?.document) return definition;
  throw refused("it is no declarative manifest that was added");
}

const findKept = (db: Db, id: string) =>
  db
    .selectFrom("added_connectors")
    .select("place")
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

async function told<Data>({ services }: OperationContext, _input: unknown, data: Data) {
  await tellAdded(services);
  return data;
}

export const connectorManifestOperations = [
  createManifestConnector,
  updateManifestConnector,
  deleteManifestConnector,
];
