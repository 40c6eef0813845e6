/**
 * The form of a workspace in a file: what `svc apply` reads, `svc export` writes, and editors
 * check. What a section leaves out stays as it is.
 */
import { rowOperations } from "svc-connectors/host";
import { type Static, type TObject, type TProperties, Type } from "typebox";
import { Name, Nullable, OneOf } from "../contract/schemas.ts";
import { chosenTypes, webhookFormats } from "../events/types.ts";
import { ParallelStreams } from "../pipelines/parts.ts";
import { ScheduleBody } from "../pipelines/schedule.ts";
import { schemaChangePolicies } from "../pipelines/schema-changes.ts";
import { StreamBody } from "../pipelines/selecting.ts";
import { namespaceDefinitions } from "../pipelines/table-names.ts";
import { activationStatuses, queryTypes } from "../reverse-etl/schemas.ts";

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, description });

/** Where a secret is: the file never holds one. */
export const SecretReference = Type.Unsafe<{ readonly $file: string } | { readonly $env: string }>({
  type: "object",
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: {
    $file: { ...text("A file that holds it; the path is relative to this file.") },
    $env: { ...text("A variable in the environment of svc apply."), pattern: "^[A-Za-z_]\\w*$" },
  },
  description: "A secret by reference: { $file: ./secret.txt } or { $env: NAME }.",
});
export type SecretReference = Static<typeof SecretReference>;

const Entry = <P extends TProperties>(properties: P, description: string) =>
  Type.Object(
    {
      ...properties,
      renamed_from: Type.Optional(
        Type.String({
          ...Name,
          description: "Its name before; it counts while that is still there.",
        }),
      ),
    },
    { additionalProperties: false, description },
  );

/** Things by their names. */
const Section = <T extends TObject>(entry: T & { readonly description?: string }) =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<T>>>>({
      type: "object",
      propertyNames: Name,
      additionalProperties: entry,
      description: entry.description,
    }),
  );

const Settings = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, description }));
const configuration = Settings(
  "Settings of the connector, without secrets. What is left out stays as it is; null takes a setting away.",
);

const Credential = Entry(
  {
    connector: text("Id of the connector, conn_…."),
    secrets: Type.Optional(
      Type.Unsafe<Readonly<Record<string, SecretReference>>>({
        type: "object",
        minProperties: 1,
        additionalProperties: SecretReference,
        description:
          "The connector's secrets, by reference. They are sent when the credential is made, and with --secrets.",
      }),
    ),
    metadata: Settings("Settings that go with the secrets. They stay as they were made."),
    secrets_expire_at: Type.Optional(
      Nullable(Type.String({ description: "When the provider ends the secrets, RFC 3339." })),
    ),
  },
  "Secrets of connectors. An account that is connected in the browser stands here without secrets.",
);

const Source = Entry(
  {
    connector: text("Id of the connector, conn_…."),
    credential: text("Name of the credential."),
    configuration,
  },
  "Where rows are read.",
);

const Destination = Entry(
  {
    connector: text("Id of the connector, conn_…."),
    credential: Type.Optional(text("Name of the credential, where the connector has secrets.")),
    configuration,
  },
  "Where rows go.",
);

const Pipeline = Entry(
  {
    source: text("Name of the source."),
    destination: text("Name of the destination."),
    streams: Type.Optional(
      Type.Array(StreamBody, {
        description:
          "All that it syncs. What an entry leaves out is as suggested, or stays as it is.",
      }),
    ),
    select_all: Type.Optional(
      Type.Boolean({
        description:
          "Everything that the source has when the pipeline is made; streams say what is otherwise. schema_change_policy propagate_fully follows what comes later.",
      }),
    ),
    schedule: Type.Optional(ScheduleBody),
    prefix: Type.Optional(Type.String({ description: "Between _svc_ and the stream." })),
    namespace_definition: Type.Optional(OneOf(namespaceDefinitions)),
    namespace_format: Type.Optional(Nullable(Type.String())),
    schema_change_policy: Type.Optional(OneOf(schemaChangePolicies)),
    parallel_streams: Type.Optional(ParallelStreams),
    paused: Type.Optional(Type.Boolean()),
  },
  "What goes from a source to a destination, and when.",
);

const Webhook = Entry(
  {
    url: text("Where events are sent: https, without a query."),
    event_types: Type.Optional(
      Nullable(Type.Array(OneOf(chosenTypes), { minItems: 1, description: "Null: all." })),
    ),
    format: Type.Optional(
      OneOf(webhookFormats, { description: "slack: messages for an incoming webhook of Slack." }),
    ),
    enabled: Type.Optional(Type.Boolean()),
    signing_secret_file: Type.Optional(
      text(
        "Where the signing secret is written when the endpoint is made: a file that is not there yet.",
      ),
    ),
  },
  "Where events are sent.",
);

const Model = Entry(
  {
    warehouse: text("Name of the destination that is queried."),
    query_type: Type.Optional(OneOf(queryTypes)),
    sql: Type.Optional(Type.String({ minLength: 1, description: "One SELECT." })),
    table: Type.Optional(text("A table in the place of sql.")),
    primary_key: text("Column that tells the rows apart."),
  },
  "Queries whose rows are sent elsewhere.",
);

const Target = Entry(
  {
    type: text("webhook, postgres or mailer."),
    credential: text("Name of the credential."),
    configuration,
  },
  "Where rows of models are sent.",
);

const Activation = Entry(
  {
    model: text("Name of the model."),
    destination: text("Name of the reverse ETL destination."),
    object: text('webhook: rows · postgres: "schema.table" · mailer: a list.'),
    operation: OneOf(rowOperations),
    mappings: Type.Array(
      Type.Object(
        {
          from: text("A column of the model."),
          to: text("A field of the destination."),
          is_primary_identifier: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    schedule: Type.Optional(Nullable(ScheduleBody)),
    status: Type.Optional(OneOf(activationStatuses)),
  },
  "Which rows of a model go where, how, and when.",
);

/** In the order in which things are made: what others name comes first. */
const sections = {
  credentials: Section(Credential),
  sources: Section(Source),
  destinations: Section(Destination),
  pipelines: Section(Pipeline),
  reverse_etl_models: Section(Model),
  reverse_etl_destinations: Section(Target),
  reverse_etl_activations: Section(Activation),
  webhooks: Section(Webhook),
};

export const WorkspaceFile = Type.Object(
  {
    version: Type.Literal(1, { description: "Of this form." }),
    workspace: Type.Optional(
      text("The workspace, by id or slug; needed when the token belongs to several."),
    ),
    ...sections,
  },
  {
    additionalProperties: false,
    title: "A workspace of svc",
    description: "Applied by svc apply. What the file does not say stays as it is.",
  },
);
export type WorkspaceFile = Static<typeof WorkspaceFile>;

export type SectionName = keyof typeof sections;

/** Entries as the file has them. */
export interface Entries {
  credentials: Static<typeof Credential>;
  sources: Static<typeof Source>;
  destinations: Static<typeof Destination>;
  pipelines: Static<typeof Pipeline>;
  reverse_etl_models: Static<typeof Model>;
  reverse_etl_destinations: Static<typeof Target>;
  reverse_etl_activations: Static<typeof Activation>;
  webhooks: Static<typeof Webhook>;
}
