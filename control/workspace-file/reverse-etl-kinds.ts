import type { Resource } from "./api.ts";
import { type Kind, notEmpty, only, patch, said, withoutNulls } from "./kind.ts";
import type { Entries } from "./schema.ts";

export const models: Kind<"reverse_etl_models"> = {
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

export const targets: Kind<"reverse_etl_destinations"> = {
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

export const activations: Kind<"reverse_etl_activations"> = {
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
