/**
 * The kinds of things in a workspace file: how each is asked for in the API, and how what the API
 * has reads in the file. Comparing, making and exporting follow this table.
 */
import type { JsonObject, JsonValue } from "svc-connectors/host";
import type { Api, Resource } from "./api.ts";
import type { Entries, SectionName } from "./schema.ts";
import { type StreamEntry, streamChanges } from "./streams.ts";

/** How things are called: names for what the API has ids for. */
export type NameOf = (section: SectionName, id: string) => string;

/** What making and changing needs besides the API. */
export interface Hands {
  readonly api: Api;
  /** What requests name a thing by. */
  readonly idOf: (section: SectionName, name: string) => string;
  /** Where the API takes the secrets of a connector. */
  readonly secretsPath: (connector: string) => Promise<string>;
  /** The secrets of a credential, fetched from where the file says. */
  readonly secretsOf: (entry: Entries["credentials"]) => Promise<Readonly<Record<string, string>>>;
  /** Writes what the API shows once. */
  readonly keepSecret: (path: string, secret: string) => Promise<void>;
}

/** What is to become of something that is there. */
export interface Change<E> {
  readonly there: Resource;
  /** As the file would say what is there. */
  readonly before: E;
  readonly entry: E;
  /** Undefined: it keeps its name. */
  readonly name: string | undefined;
  /** First parts of the places that differ. */
  readonly fields: ReadonlySet<string>;
  /** A JSON merge patch of the configuration. */
  readonly configuration: JsonObject | undefined;
}

export interface Kind<S extends SectionName = SectionName> {
  readonly section: S;
  readonly noun: string;
  readonly path: string;
  /** Its id in answers. */
  readonly idField: string;
  /** What requests name it by, where that is not its id. */
  readonly handleField?: string;
  /** Fields of an entry that name others. */
  readonly names: Readonly<Record<string, SectionName>>;
  /** Fields that stay as they were made. */
  readonly fixed: readonly string[];
  /** Fields that only say how it is made, or where something is kept. */
  readonly unseen?: readonly string[];
  readonly entryOf: (resource: Resource, nameOf: NameOf) => Entries[S];
  readonly create: (name: string, entry: Entries[S], hands: Hands) => Promise<Resource>;
  readonly change: (change: Change<Entries[S]>, hands: Hands) => Promise<void>;
  /** The address that deletes it. Default: its own. */
  readonly deletePath?: (resource: Resource) => string;
}

/** Without what is undefined. */
const said = (object: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const only = (object: object, fields: ReadonlySet<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(object).filter(([name]) => fields.has(name)));

const notEmpty = (object: JsonObject): JsonObject | undefined =>
  Object.keys(object).length > 0 ? object : undefined;

/** Changes whatever one PATCH can: the name, and the fields that a body makes of an entry. */
async function patch<E>(
  { path, idField }: { readonly path: string; readonly idField: string },
  { there, name }: Pick<Change<E>, "there" | "name">,
  body: Readonly<Record<string, unknown>>,
  { api }: Hands,
): Promise<Resource> {
  const changes = said({ name, ...body });
  if (Object.keys(changes).length === 0) return there;
  return api.write("PATCH", `${path}/${there[idField]}`, changes, { version: there.version });
}

const credentials: Kind<"credentials"> = {
  section: "credentials",
  noun: "credential",
  path: "/credentials",
  idField: "credential_id",
  handleField: "credential_handle",
  names: {},
  fixed: ["connector", "metadata"],
  entryOf: (there) =>
    said({
      connector: there.connector_id,
      metadata: notEmpty(there.metadata),
      secrets_expire_at: there.secrets_expire_at ?? undefined,
    }) as Entries["credentials"],
  async create(name, entry, hands) {
    const path = await hands.secretsPath(entry.connector);
    const body = { name, ...said({ secrets_expire_at: entry.secrets_expire_at }) };
    const { metadata, connector: connector_id } = entry;
    const secrets = await hands.secretsOf(entry);
    return hands.api.write(
      "POST",
      path,
      isOwn(path)
        ? { ...body, connector_id, ...metadata, ...secrets }
        : { ...body, connector_id, secrets, ...said({ metadata }) },
    );
  },
  async change(change, hands) {
    const { there, entry, name, fields } = change;
    const body = only(entry, new Set([...fields].filter((field) => field !== "secrets")));
    if (!fields.has("secrets")) return void (await patch(credentials, change, body, hands));
    const path = await hands.secretsPath(entry.connector);
    const secrets = await hands.secretsOf(entry);
    if (!isOwn(path)) return void (await patch(credentials, change, { ...body, secrets }, hands));
    const { credential_handle, version } = there;
    const request = { credential_handle, ...said({ name }), ...body, ...secrets };
    await hands.api.write("POST", path, request, { version });
  },
};

/** Whether the secrets of a connector have a place of their own, with its settings beside them. */
const isOwn = (path: string) => path !== credentials.path;

const connected = {
  source: {
    names: { credential: "credentials" },
    entryOf: (there: Resource, nameOf: NameOf) =>
      said({
        connector: there.connector_id,
        credential:
          there.credential_handle === null
            ? undefined
            : nameOf("credentials", there.credential_handle),
        configuration: notEmpty(there.configuration),
      }),
    bodyOf: (
      { connector, credential }: { connector?: unknown; credential?: unknown },
      { idOf }: Hands,
    ) =>
      said({
        connector_id: connector,
        credential_handle:
          credential === undefined ? undefined : idOf("credentials", String(credential)),
      }),
  },
} as const;

const withConfiguration = <S extends "sources" | "destinations">(
  section: S,
  noun: string,
  path: string,
  idField: string,
): Kind<S> => {
  const { names, entryOf, bodyOf } = connected.source;
  const kind: Kind<S> = {
    section,
    noun,
    path,
    idField,
    names,
    fixed: ["connector"],
    entryOf: (there, nameOf) => entryOf(there, nameOf) as Entries[S],
    create: (name, entry, hands) =>
      hands.api.write("POST", path, {
        name,
        ...bodyOf(entry, hands),
        ...said({ configuration: withoutNulls(entry.configuration) }),
      }),
    async change(change, hands) {
      const { fields, entry, configuration } = change;
      const body = { ...bodyOf(only(entry, fields), hands), ...said({ configuration }) };
      await patch(kind, change, body, hands);
    },
  };
  return kind;
};

/** Of something new there is nothing to take away. */
const withoutNulls = (configuration: object | undefined) =>
  configuration &&
  Object.fromEntries(Object.entries(configuration).filter(([, value]) => value !== null));

const pipelines: Kind<"pipelines"> = {
  section: "pipelines",
  noun: "pipeline",
  path: "/pipelines",
  idField: "pipeline_id",
  names: { source: "sources", destination: "destinations" },
  fixed: ["source", "destination"],
  unseen: ["select_all"],
  entryOf: (there, nameOf) =>
    said({
      source: nameOf("sources", there.source_id),
      destination: nameOf("destinations", there.destination_id),
      streams: there.streams as StreamEntry[],
      schedule: there.schedule,
      prefix: there.prefix,
      namespace_definition: there.namespace_definition,
      namespace_format: there.namespace_format ?? undefined,
      schema_change_policy: there.schema_change_policy,
      paused: there.status === "paused",
    }) as Entries["pipelines"],
  async create(name, entry, { api, idOf }) {
    const { source, destination, paused, renamed_from: _, ...rest } = entry;
    const made = await api.write("POST", "/pipelines", {
      name,
      source_id: idOf("sources", source),
      destination_id: idOf("destinations", destination),
      ...rest,
    });
    if (paused) await api.write("POST", `/pipelines/${made.pipeline_id}/pause`, {});
    return made;
  },
  async change(change, hands) {
    const { there, before, entry, fields } = change;
    const { streams, paused, ...plain } = only(entry, fields);
    let now = await patch(pipelines, change, plain, hands);
    const at = `/pipelines/${there.pipeline_id}`;
    if (streams !== undefined)
      now = await hands.api.write("PATCH", `${at}/streams`, streamChanges(entry, before), {
        version: now.version,
      });
    if (paused !== undefined)
      await hands.api.write(
        "POST",
        `${at}/${paused ? "pause" : "resume"}`,
        {},
        {
          version: now.version,
        },
      );
  },
  deletePath: ({ connection_id }) => `/connections/${connection_id}`,
};

const models: Kind<"reverse_etl_models"> = {
  section: "reverse_etl_models",
  noun: "reverse ETL model",
  path: "/reverse-etl/models",
  idField: "modelId",
  names: { warehouse: "destinations" },
  fixed: ["warehouse"],
  entryOf: (there, nameOf) =>
    said({
      warehouse: nameOf("destinations", there.warehouseId),
      query_type: there.queryType,
      sql: there.raw?.sql,
      table: there.table?.name,
      primary_key: there.primaryKey,
    }) as Entries["reverse_etl_models"],
  create: (name, entry, { api, idOf }) =>
    api.write("POST", "/reverse-etl/models", {
      name,
      warehouseId: idOf("destinations", entry.warehouse),
      ...queryOf(entry),
    }),
  async change(change, hands) {
    const { before, entry, fields } = change;
    const changed = only(entry, fields);
    const isOther = (entry.table === undefined) !== (before.table === undefined);
    const kind = isOther && changed.query_type === undefined ? usualType(entry) : undefined;
    await patch(models, change, queryOf({ ...said({ query_type: kind }), ...changed }), hands);
  },
};

const usualType = ({ table }: { readonly table?: unknown }) =>
  table === undefined ? "raw_sql" : "table";

const queryOf = (entry: {
  readonly query_type?: unknown;
  readonly sql?: unknown;
  readonly table?: unknown;
  readonly primary_key?: unknown;
}) =>
  said({
    queryType: entry.query_type,
    raw: entry.sql === undefined ? undefined : { sql: entry.sql },
    table: entry.table === undefined ? undefined : { name: entry.table },
    primaryKey: entry.primary_key,
  });

const targets: Kind<"reverse_etl_destinations"> = {
  section: "reverse_etl_destinations",
  noun: "reverse ETL destination",
  path: "/reverse-etl/destinations",
  idField: "destinationId",
  names: { credential: "credentials" },
  fixed: ["type"],
  entryOf: (there, nameOf) =>
    said({
      type: there.type,
      credential:
        there.credentialHandle === null ? undefined : nameOf("credentials", there.credentialHandle),
      configuration: notEmpty(there.configuration),
    }) as Entries["reverse_etl_destinations"],
  create: (name, { type, credential, configuration }, { api, idOf }) =>
    api.write("POST", "/reverse-etl/destinations", {
      name,
      type,
      credentialHandle: idOf("credentials", credential),
      ...said({ configuration: withoutNulls(configuration) }),
    }),
  async change(change, hands) {
    const { entry, fields, configuration } = change;
    const credentialHandle = fields.has("credential")
      ? hands.idOf("credentials", entry.credential)
      : undefined;
    await patch(targets, change, { credentialHandle, configuration }, hands);
  },
};

const activations: Kind<"reverse_etl_activations"> = {
  section: "reverse_etl_activations",
  noun: "reverse ETL activation",
  path: "/reverse-etl/activations",
  idField: "activationId",
  names: { model: "reverse_etl_models", destination: "reverse_etl_destinations" },
  fixed: ["model", "destination"],
  entryOf: (there, nameOf) => ({
    model: nameOf("reverse_etl_models", there.modelId),
    destination: nameOf("reverse_etl_destinations", there.destinationId),
    object: there.object,
    operation: there.operation,
    mappings: there.mappings.map(({ from, to, isPrimaryIdentifier }: Resource) => ({
      from,
      to,
      ...(isPrimaryIdentifier ? { is_primary_identifier: true } : {}),
    })),
    schedule: there.schedule,
    status: there.status,
  }),
  create: (name, entry, { api, idOf }) =>
    api.write("POST", "/reverse-etl/activations", {
      name,
      modelId: idOf("reverse_etl_models", entry.model),
      destinationId: idOf("reverse_etl_destinations", entry.destination),
      ...plainOf(entry),
    }),
  async change(change, hands) {
    await patch(activations, change, plainOf(only(change.entry, change.fields)), hands);
  },
};

const plainOf = ({
  object,
  operation,
  mappings,
  schedule,
  status,
}: Partial<Entries["reverse_etl_activations"]>) =>
  said({
    object,
    operation,
    schedule,
    status,
    mappings: mappings?.map(({ from, to, is_primary_identifier: isPrimaryIdentifier = false }) => ({
      from,
      to,
      isPrimaryIdentifier,
    })),
  });

const webhooks: Kind<"webhooks"> = {
  section: "webhooks",
  noun: "webhook",
  path: "/webhook-endpoints",
  idField: "webhook_endpoint_id",
  names: {},
  fixed: [],
  unseen: ["signing_secret_file"],
  entryOf: ({ url, event_types, status }) => ({ url, event_types, enabled: status === "enabled" }),
  async create(name, { url, event_types, enabled = true, signing_secret_file: file }, hands) {
    const body = { name, url, ...said({ event_types }) };
    const made = await hands.api.write("POST", webhooks.path, body);
    if (file !== undefined) await hands.keepSecret(file, made.signing_secret);
    if (!enabled)
      await patch(webhooks, { there: made, name: undefined }, { status: "disabled" }, hands);
    return made;
  },
  async change(change, hands) {
    const { url, event_types, enabled } = only(change.entry, change.fields);
    const status = enabled === undefined ? undefined : enabled ? "enabled" : "disabled";
    await patch(webhooks, change, { url, event_types, status }, hands);
  },
};

/** In the order in which things are made: what others name comes first. */
export const kinds: readonly Kind[] = [
  credentials,
  withConfiguration("sources", "source", "/sources", "source_id"),
  withConfiguration("destinations", "destination", "/destinations", "destination_id"),
  pipelines,
  models,
  targets,
  activations,
  webhooks,
] as unknown as readonly Kind[];

/** What requests name a thing by. */
export const handleOf = ({ idField, handleField = idField }: Kind, there: Resource): string =>
  there[handleField];

/** A merge patch for nested places. */
export function mergePatchOf(
  differences: readonly {
    readonly path: readonly (string | number)[];
    readonly after?: JsonValue | undefined;
  }[],
): JsonObject | undefined {
  const root: Record<string, unknown> = {};
  for (const { path, after } of differences) {
    let at = root;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[path.at(-1) ?? ""] = after ?? null;
  }
  return Object.keys(root).length > 0 ? (root as JsonObject) : undefined;
}
