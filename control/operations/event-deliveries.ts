/** Deliveries: what became of each event at an endpoint, a test of it, and another try. */
import { type Static, Type } from "typebox";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  datedListQuery,
  Id,
  IdInput,
  List,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { toAttempt } from "../events/deliver.ts";
import { bodyFor, findEndpoint } from "../events/endpoints.ts";
import { addEvent } from "../events/publish.ts";
import type { EventData } from "../events/schemas.ts";
import { createWebhookSender } from "../events/send-webhook.ts";
import { signingKeys } from "../events/signing-secrets.ts";
import type { Db } from "../store/database.ts";
import { deliveryStatuses, eventTypes } from "../store/tables.ts";

const endpointParams = StrictObject({ webhook_endpoint_id: IdInput("The endpoint.") });

const Delivery = StrictObject(
  {
    delivery_id: Id("delivery"),
    webhook_endpoint_id: Id("webhookEndpoint"),
    event_id: Id("event"),
    event_type: OneOf(eventTypes),
    status: OneOf(deliveryStatuses, {
      description: "cancelled: the endpoint was disabled before it was taken.",
    }),
    attempts: Type.Array(
      StrictObject({
        at: Time,
        duration_ms: Type.Integer({ minimum: 0 }),
        response_status: Nullable(
          Type.Integer({ description: "Of HTTP; null: there was no answer." }),
        ),
        error_code: Nullable(
          Type.String({ description: "Of the error table; null: it was taken." }),
        ),
      }),
      { description: "The latest twenty. Of an answer nothing is kept but its status." },
    ),
    next_attempt_at: Nullable(Time),
    created_at: Time,
    ended_at: Nullable(Time),
  },
  { title: "WebhookDelivery" },
);

/** Deliveries to endpoints, with the type of their events. */
const selectDeliveries = (db: Db, workspaceId: string, endpointId: string) =>
  db
    .selectFrom("event_deliveries")
    .innerJoin("events", "events.id", "event_deliveries.event_id")
    .selectAll("event_deliveries")
    .select("events.type")
    .where("event_deliveries.workspace_id", "=", workspaceId)
    .where("endpoint_id", "=", endpointId);

type Row = Awaited<ReturnType<ReturnType<typeof selectDeliveries>["executeTakeFirstOrThrow"]>>;

const toDelivery = (row: Row): Static<typeof Delivery> => ({
  delivery_id: row.id,
  webhook_endpoint_id: row.endpoint_id ?? "",
  event_id: row.event_id,
  event_type: row.type,
  status: row.status,
  attempts: [...row.attempts],
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
});

export const listDeliveries = defineRead({
  id: "webhook_delivery.list",
  area: "Events",
  path: "/webhook-endpoints/{webhook_endpoint_id}/deliveries",
  summary: "List deliveries to a webhook endpoint",
  permission: "write",
  params: endpointParams,
  query: StrictObject({
    ...datedListQuery,
    status: Type.Optional(OneOf(deliveryStatuses)),
    event_type: Type.Optional(OneOf(eventTypes)),
    event_id: Type.Optional(IdInput("Only deliveries of this event.")),
  }),
  data: List(Delivery),
  errors: ["not_found", "invalid_cursor"],
  async run({ db, workspaceId }, { params, query }) {
    const { limit = 50, cursor, sort, status, event_type: type, event_id: eventId } = query;
    const { id } = await findEndpoint(db, workspaceId, params.webhook_endpoint_id);
    const filters = { list: "deliveries", workspaceId, id, status, type, eventId };
    let rows = selectDeliveries(db, workspaceId, id);
    if (status) rows = rows.where("event_deliveries.status", "=", status);
    if (type) rows = rows.where("events.type", "=", type);
    if (eventId !== undefined) rows = rows.where("event_deliveries.event_id", "=", eventId);
    const page = await readPage(rows, { cursor, limit, filters, sort }, "event_deliveries");
    return { ...page, items: page.items.map(toDelivery) };
  },
});

/** @throws not_found */
async function findDelivery(db: Db, workspaceId: string, endpointId: string, id: string) {
  const row = await selectDeliveries(db, workspaceId, endpointId)
    .where("event_deliveries.id", "=", id)
    .executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "delivery" });
  return row;
}

export const redeliver = defineWrite({
  id: "webhook_delivery.redeliver",
  area: "Events",
  method: "POST",
  path: "/webhook-endpoints/{webhook_endpoint_id}/deliveries/{delivery_id}/redeliver",
  summary: "Deliver an event again",
  description:
    "Under the same webhook-id, within seconds, and with all attempts of a new one. One that is under way already stays so.",
  permission: "write",
  status: 202,
  resource: "webhook_delivery",
  isRepeatable: true,
  params: StrictObject({
    webhook_endpoint_id: IdInput("The endpoint."),
    delivery_id: IdInput("The delivery."),
  }),
  body: StrictObject(workspaceInput),
  data: Delivery,
  errors: ["not_found", "webhook_endpoint_disabled"],
  async guard({ db, workspaceId }, { params }) {
    const endpoint = await findEndpoint(db, workspaceId, params.webhook_endpoint_id);
    await findDelivery(db, workspaceId, endpoint.id, params.delivery_id);
    if (endpoint.status === "disabled") throw new ControlError("webhook_endpoint_disabled");
  },
  async commit(tx, { workspaceId, now }, { params }) {
    const { webhook_endpoint_id: endpointId, delivery_id: id } = params;
    const endpoint = await findEndpoint(tx, workspaceId, endpointId);
    if (endpoint.status === "disabled") throw new ControlError("webhook_endpoint_disabled");
    await tx
      .updateTable("event_deliveries")
      .set({ status: "pending", attempt: 0, next_attempt_at: now, ended_at: null })
      .where("workspace_id", "=", workspaceId)
      .where("endpoint_id", "=", endpointId)
      .where("id", "=", id)
      .where("status", "!=", "pending")
      .execute();
    const row = await findDelivery(tx, workspaceId, endpointId, id);
    return { data: toDelivery(row), resourceId: id };
  },
});

/** The event of a test, before it is kept. */
async function testEvent(ctx: OperationContext, endpointId: string) {
  const { db, workspaceId, now } = ctx;
  const endpoint = await findEndpoint(db, workspaceId, endpointId);
  const data: EventData = {
    webhook_endpoint: {
      webhook_endpoint_id: endpoint.id,
      name: endpoint.name,
      disabled_reason: endpoint.disabled_reason,
    },
  };
  return { endpoint, data, id: createId("event"), now };
}

export const testWebhookEndpoint = defineWrite({
  id: "webhook_endpoint.test",
  area: "Events",
  method: "POST",
  path: "/webhook-endpoints/{webhook_endpoint_id}/test",
  summary: "Test a webhook endpoint",
  description:
    "Sends an event of the type webhook_endpoint.test at once, also to one that is disabled, and says what became of it. It is not tried again.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "webhook_endpoint",
  isRepeatable: true,
  params: endpointParams,
  body: StrictObject(workspaceInput),
  data: Delivery,
  errors: ["not_found"],
  guard: (ctx, { params }) => testEvent(ctx, params.webhook_endpoint_id),
  async prepare(ctx, _input, test) {
    const { services, workspaceId, signal, db } = ctx;
    const { endpoint, data, id, now } = test;
    const keys = await signingKeys(db, services, endpoint, now);
    const body = await bodyFor(services, endpoint, {
      id,
      workspace_id: workspaceId,
      type: "webhook_endpoint.test",
      data,
      for_administrators: false,
      occurred_at: now,
      created_at: now,
      position: "0",
    });
    await using sender = createWebhookSender(services);
    const startedMs = services.clock.now();
    const result = await sender.send({ url: endpoint.url, id, body, keys }, signal);
    return { ...test, result, attempt: toAttempt(result, startedMs, services.clock.now()) };
  },
  async commit(
    tx,
    { services, workspaceId },
    _input,
    { endpoint, data, id, now, result, attempt },
  ) {
    const fact = { workspace_id: workspaceId, occurred_at: now };
    await addEvent(tx, fact, { type: "webhook_endpoint.test", data }, { id, now });
    const deliveryId = createId("delivery");
    await tx
      .insertInto("event_deliveries")
      .values({
        id: deliveryId,
        workspace_id: workspaceId,
        event_id: id,
        endpoint_id: endpoint.id,
        member_id: null,
        status: result.isTaken ? "succeeded" : "failed",
        attempt: 1,
        attempts: JSON.stringify([attempt]),
        next_attempt_at: null,
        created_at: now,
        ended_at: new Date(services.clock.now()),
      })
      .execute();
    const row = await findDelivery(tx, workspaceId, endpoint.id, deliveryId);
    return { data: toDelivery(row), resourceId: endpoint.id };
  },
});

export const webhookDeliveryOperations = [testWebhookEndpoint, listDeliveries, redeliver];
