/** Events as receivers and readers get them. Whatever is not declared here does not leave. */
import fastJson from "fast-json-stringify";
import type { Selectable } from "kysely";
import { type Static, type TProperties, Type } from "typebox";
import { categories } from "../contract/operation.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import {
  approvalStatuses,
  credentialStatuses,
  disabledReasons,
  eventTypes,
  jobStatuses,
  pipelineStatuses,
  type Tables,
  triggers,
} from "../store/tables.ts";

/** Rises when a receiver would have to change. */
export const payloadVersion = 1;

const Count = Type.Integer({ minimum: 0 });

const JobData = StrictObject(
  {
    job_id: Id("job"),
    kind: OneOf(["sync", "reverse_etl"]),
    job_type: Type.String(),
    status: OneOf(jobStatuses),
    trigger: OneOf(triggers),
    attempts: Count,
    records_committed: Count,
    bytes: Count,
    failure: Nullable(
      StrictObject({
        origin: OneOf(["source", "destination", "platform"]),
        type: Type.String(),
        code: Type.String({ description: "A code of the error table." }),
        message: Type.String(),
        retryable: Type.Boolean(),
        stream: Type.Optional(Type.String()),
        at: Time,
      }),
    ),
    created_at: Time,
    started_at: Nullable(Time),
    ended_at: Nullable(Time),
  },
  { title: "EventJob" },
);

const PipelineData = StrictObject(
  {
    pipeline_id: Id("pipeline"),
    connection_id: Id("connection"),
    name: Type.String(),
    status: OneOf(pipelineStatuses),
    pause_reason: Nullable(
      Type.String({ description: "Why svc has paused it; null: a person has." }),
    ),
  },
  { title: "EventPipeline" },
);

const LeftOut = StrictObject(
  {
    stream: Type.String(),
    values: Type.Integer({
      minimum: 0,
      description: "Values that did not fit their column and were left empty.",
    }),
    columns: Type.Array(Type.String(), { description: "Columns that were left out." }),
    rows: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "At least so many rows are not read: they came after the first sync, without a value in the cursor field.",
      }),
    ),
  },
  { title: "LeftOut" },
);

const Change = StrictObject(
  {
    stream: Type.String(),
    type: Type.String({
      description: "stream_added, column_removed, key_changed, destination_type_changed and so on.",
    }),
    column: Type.Optional(Type.String()),
    from: Type.Optional(
      Type.String({ description: "Of destination_type_changed: the type that it had." }),
    ),
    to: Type.Optional(
      Type.String({ description: "Of destination_type_changed: the type that it has now." }),
    ),
  },
  { title: "SchemaChange" },
);

/** The parts that an event may have; its type decides which of them are there. */
const parts = {
  job: JobData,
  pipeline: PipelineData,
  activation: StrictObject(
    { activation_id: Id("activation"), name: Type.String() },
    { title: "EventActivation" },
  ),
  left_out: Type.Array(LeftOut),
  rows_refused: Count,
  changes: Type.Array(Change),
  change_count: Count,
  approval: StrictObject(
    {
      approval_id: Id("approval"),
      operation: Type.String(),
      category: Nullable(OneOf(Object.keys(categories) as (keyof typeof categories)[])),
      status: OneOf(approvalStatuses),
      summary: Type.String(),
      resource_type: Type.String(),
      resource_id: Nullable(Type.String()),
      requested_by: Id("user"),
      decided_by: Nullable(Id("user")),
      expires_at: Time,
    },
    { title: "EventApproval" },
  ),
  credential: StrictObject(
    {
      credential_id: Id("credential"),
      name: Type.String(),
      connector_id: Type.String(),
      status: OneOf(credentialStatuses),
      secrets_expire_at: Nullable(Time),
    },
    { title: "EventCredential" },
  ),
  webhook_endpoint: StrictObject(
    {
      webhook_endpoint_id: Id("webhookEndpoint"),
      name: Type.String(),
      disabled_reason: Nullable(OneOf(disabledReasons)),
    },
    { title: "EventWebhookEndpoint" },
  ),
} satisfies TProperties;

export const EventData = StrictObject(
  {
    job: Type.Optional(parts.job),
    pipeline: Type.Optional(parts.pipeline),
    activation: Type.Optional(parts.activation),
    left_out: Type.Optional(parts.left_out),
    rows_refused: Type.Optional(parts.rows_refused),
    changes: Type.Optional(parts.changes),
    change_count: Type.Optional(parts.change_count),
    approval: Type.Optional(parts.approval),
    credential: Type.Optional(parts.credential),
    webhook_endpoint: Type.Optional(parts.webhook_endpoint),
  },
  { title: "EventData" },
);
export type EventData = Static<typeof EventData>;

export const Event = StrictObject(
  {
    event_id: Id("event", "The webhook-id of its deliveries."),
    workspace_id: Id("workspace"),
    type: OneOf(eventTypes),
    version: Type.Literal(payloadVersion, { description: "Of the form of data." }),
    timestamp: Type.String({ format: "date-time", description: "When it happened." }),
    data: EventData,
  },
  { title: "Event" },
);

export type EventRow = Selectable<Tables["events"]>;

export const toEvent = (row: EventRow): Static<typeof Event> => ({
  event_id: row.id,
  workspace_id: row.workspace_id,
  type: row.type,
  version: payloadVersion,
  timestamp: row.occurred_at.toISOString(),
  data: row.data as EventData,
});

const stringifyData = fastJson(EventData as never) as (data: EventData) => string;
const stringifyEvent = fastJson(Event as never) as (event: Static<typeof Event>) => string;

/** The data as it is kept: only what is declared. */
export const dataText = (data: EventData): string => stringifyData(data);

/** The body of a delivery. */
export const payloadOf = (row: EventRow): Buffer => Buffer.from(stringifyEvent(toEvent(row)));
