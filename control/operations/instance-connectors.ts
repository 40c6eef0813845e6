/** Connectors that do not come with svc. Only the operator of the instance asks for these. */
import { hostNamePattern, type Manifest, pinnedSandboxes } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import {
  imageOf,
  keepConnector,
  type ListedConnector,
  listAdded,
  removeConnector,
} from "../connectors/added.ts";
import { GivenReport, keepReport } from "../connectors/conformance.ts";
import { notifyAdded, problemOf } from "../connectors/follow.ts";
import { digestOf, type GivenImage } from "../connectors/images.ts";
import type { InspectedConnector } from "../connectors/inspect.ts";
import { manifestPlace, maxManifestLength, type Place } from "../connectors/places.ts";
import { MissingStreams, reachesOf } from "../connectors/reach.ts";
import { refused } from "../connectors/refused.ts";
import { defineOperatorRead, defineOperatorWrite } from "../contract/operation.ts";
import { Nullable, OneOf, StrictObject } from "../contract/schemas.ts";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import type { Db } from "../store/database.ts";

/** A declarative manifest in a request. Its name becomes part of an id. */
export const manifestFields = {
  name: Type.String({
    pattern: "^[a-z0-9]([a-z0-9_-]{0,58}[a-z0-9])?$",
    description: "What it is called: letters, digits, hyphens. shop becomes conn_shop.",
  }),
  text: Type.String({
    minLength: 1,
    maxLength: maxManifestLength,
    description: "The declarative manifest, as YAML or JSON.",
  }),
};

export const AddConnectorBody = StrictObject({
  path: Type.Optional(
    Type.String({ description: "Absolute, of a module, its folder or a manifest." }),
  ),
  package: Type.Optional(Type.String({ description: "Name of an installed package." })),
  manifest: Type.Optional(StrictObject(manifestFields)),
  image: Type.Optional(
    StrictObject({
      name: manifestFields.name,
      reference: Type.String({ description: "As Docker knows it; its tag is looked up now." }),
      hosts: Type.Array(Type.String({ maxLength: 253, pattern: hostNamePattern })),
      exposed: Type.Array(Type.String()),
    }),
  ),
  sandbox: Type.Optional(OneOf(pinnedSandboxes)),
  digest: Type.Optional(
    Type.String({ description: "Of the code or the image that was looked at." }),
  ),
  report: Type.Optional(GivenReport),
});

const facts = {
  connector_id: Type.String(),
  title: Type.String(),
  version: Type.String(),
  digest: Type.String(),
  sandbox: OneOf(pinnedSandboxes),
};

export const MadeConnector = StrictObject({
  ...facts,
  reaches: Type.Array(Type.String(), { description: "Where its requests go." }),
  secret_fields: Type.Array(Type.String()),
  changed: Type.Boolean({ description: "It was there already, with other code." }),
  missing_streams: MissingStreams,
  exposed_secrets: Type.Array(Type.String(), { description: "That an image gets as they are." }),
});

function placeOf({
  path,
  package: name,
  manifest,
  image,
}: Static<typeof AddConnectorBody>): Place | GivenImage {
  if (image) return image;
  if (manifest) return manifestPlace(manifest);
  const kind = path === undefined ? "package" : "path";
  return { kind, place: path ?? name ?? "", document: null, image: null };
}

/** The default: nobody has said that the code is trusted. */
const untrusted = "bubblewrap";

export const addConnector = defineOperatorWrite({
  id: "connector.add",
  area: "Connectors",
  summary: "Add a connector that does not come with svc",
  description:
    "It is loaded in a sandbox, and bound to its code: what it may do later is what it said now.",
  resource: "connector",
  isRepeatable: true,
  body: AddConnectorBody,
  data: MadeConnector,
  errors: ["connector_refused", "report_refused"],
  async prepare({ services, signal }, { body }) {
    const { path, package: name, manifest, image, sandbox, digest } = body;
    const given = [path, name, manifest, image].filter((one) => one !== undefined);
    if (given.length !== 1) throw refused("name a path, a package, a manifest or an image");
    // A manifest is data, which the runtime's own code reads, and what an image says is no other.
    const wall = sandbox ?? (manifest || image ? "process" : untrusted);
    return await services.connectors.inspect(placeOf(body), { sandbox: wall, digest, signal });
  },
  async commit(tx, { now }, { body: { report } }, inspected: InspectedConnector) {
    const before = await keepConnector(tx, inspected, "command", now);
    const { manifest, code, image, sandbox } = inspected;
    if (report) {
      const image = inspected.image && JSON.stringify(inspected.image);
      await keepReport(tx, { id: manifest.id, code_digest: code, image }, report, now);
    }
    return {
      data: {
        connector_id: manifest.id,
        title: manifest.title,
        version: manifest.version,
        digest: image === null ? code : digestOf(image),
        sandbox,
        reaches: reachesOf(manifest),
        secret_fields: secretFieldsOf(manifest),
        changed: before !== undefined && before.code_digest !== code,
        missing_streams: [...(manifest.missingStreams ?? [])],
        exposed_secrets: [...(image?.exposed ?? [])],
      },
      resourceId: manifest.id,
      workspaceIds: await workspacesWith(tx, manifest.id),
    };
  },
  async announce({ services }, _input, data) {
    await notifyAdded(services);
    return data;
  },
});

/** The workspaces whose audit logs it belongs to: they have credentials for it. */
export async function workspacesWith(db: Db, connectorId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("credentials")
    .select("workspace_id")
    .distinct()
    .where("connector_id", "=", connectorId)
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
}

export const RemovedConnector = StrictObject({ connector_id: Type.String() });

export const removeAddedConnector = defineOperatorWrite({
  id: "connector.remove",
  area: "Connectors",
  summary: "Remove a connector that was added",
  description: "What was made with it is kept, and does not run until it is added again.",
  resource: "connector",
  isRepeatable: true,
  body: StrictObject({ connector: Type.String({ description: "Id." }) }),
  data: RemovedConnector,
  errors: ["not_found"],
  async commit(tx, { now }, { body: { connector } }) {
    await removeConnector(tx, connector, now);
    return {
      data: { connector_id: connector },
      resourceId: connector,
      workspaceIds: await workspacesWith(tx, connector),
    };
  },
  async announce({ services }, _input, data) {
    await notifyAdded(services);
    return data;
  },
});

const Added = StrictObject({
  ...facts,
  kind: OneOf(["path", "package", "manifest", "image"]),
  place: Type.String(),
  origin: OneOf(["command", "settings", "api"]),
  removed: Type.Boolean(),
  problem: Nullable(Type.String({ description: "Why it cannot run on the host that answers." })),
});
export const AddedConnectors = StrictObject({ connectors: Type.Array(Added) });

export const listAddedConnectors = defineOperatorRead({
  id: "connector.list_added",
  area: "Connectors",
  summary: "List the connectors that were added",
  query: StrictObject({}),
  data: AddedConnectors,
  errors: [],
  async run({ db, services: { connectors } }) {
    await connectors.reload();
    const toAdded = async (row: ListedConnector): Promise<Static<typeof Added>> => {
      const { title, version } = JSON.parse(row.manifest) as Manifest;
      const image = imageOf(row);
      const isRemoved = row.removed_at !== null;
      const problem = isRemoved ? undefined : await problemOf(connectors.get(row.id).reference);
      return {
        connector_id: row.id,
        title,
        version,
        digest: image === null ? row.code_digest : digestOf(image),
        sandbox: row.sandbox,
        kind: row.kind,
        place: row.place,
        origin: row.origin,
        removed: isRemoved,
        problem: problem ?? null,
      };
    };
    return { connectors: await Promise.all((await listAdded(db)).map(toAdded)) };
  },
});

export const instanceConnectorOperations = [
  addConnector,
  removeAddedConnector,
  listAddedConnectors,
];
