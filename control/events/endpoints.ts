/** Webhook endpoints: rows, and what is shown of them. */
import type { Selectable } from "kysely";
import { type Static, Type } from "typebox";
import { ControlError } from "../contract/reasons.ts";
import { Id, Name, Nullable, OneOf, StrictObject, Time, Version } from "../contract/schemas.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import { disabledReasons, type EventType, type Tables } from "../store/tables.ts";
import { type EventRow, payloadOf } from "./schemas.ts";
import { slackMessageOf } from "./slack-message.ts";
import { chosenTypes, webhookFormats } from "./types.ts";

export type EndpointRow = Selectable<Tables["webhook_endpoints"]>;

/** Endpoints of one workspace: each event is sent to all of them. */
export const maxEndpoints = 20;

export const EventTypes = Type.Array(OneOf(chosenTypes), { minItems: 1, uniqueItems: true });

export const urlOptions = {
  description:
    "Where events are sent, as POST: https, a host name, port 443, no query. Redirects are not followed.",
  examples: ["https://hooks.example.com/svc/events"],
};

export const Format = OneOf(webhookFormats, {
  description:
    'event: the event as the list has it. slack: a message for an incoming webhook of Slack, or of what takes the same ({"text": …}); its URL is a secret of Slack\'s.',
});

export const endpointFields = {
  webhook_endpoint_id: Id("webhookEndpoint"),
  workspace_id: Id("workspace"),
  name: Name,
  url: Type.String(urlOptions),
  event_types: Nullable(Type.Array(OneOf(chosenTypes), { description: "Null: all." })),
  format: Format,
  status: OneOf(["enabled", "disabled"]),
  disabled_reason: Nullable(OneOf(disabledReasons)),
  created_at: Time,
  updated_at: Time,
  version: Version,
};
export const WebhookEndpoint = StrictObject(endpointFields, { title: "WebhookEndpoint" });

export const toEndpoint = (row: EndpointRow): Static<typeof WebhookEndpoint> => ({
  webhook_endpoint_id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  url: row.url,
  event_types: row.event_types?.filter((type) => isChosen(type)) ?? null,
  format: row.format,
  status: row.status,
  disabled_reason: row.disabled_reason,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  version: row.version,
});

const isChosen = (type: EventType): type is (typeof chosenTypes)[number] =>
  chosenTypes.some((one) => one === type);

const selectEndpoint = (db: Db, workspaceId: string, id: string) =>
  db
    .selectFrom("webhook_endpoints")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id);

/** @throws not_found */
export async function findEndpoint(db: Db, workspaceId: string, id: string): Promise<EndpointRow> {
  const row = await selectEndpoint(db, workspaceId, id).executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "webhook endpoint" });
  return row;
}

/** As {@link findEndpoint}, locked until the transaction ends. */
export async function lockEndpoint(db: Db, workspaceId: string, id: string): Promise<EndpointRow> {
  const row = await selectEndpoint(db, workspaceId, id).forUpdate().executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "webhook endpoint" });
  return row;
}

/** @throws too_many_webhook_endpoints */
export async function requireRoom(db: Db, workspaceId: string): Promise<void> {
  const { count } = await db
    .selectFrom("webhook_endpoints")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= maxEndpoints)
    throw new ControlError("too_many_webhook_endpoints", { limit: maxEndpoints });
}

/** Ids of the endpoints that want events of a type. */
export async function endpointsFor(
  db: Db,
  workspaceId: string,
  type: EventType,
): Promise<string[]> {
  const rows = await db
    .selectFrom("webhook_endpoints")
    .select(["id", "event_types"])
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "enabled")
    .execute();
  return rows
    .filter(({ event_types: types }) => types === null || types.includes(type))
    .map(({ id }) => id);
}

/** The body by which an endpoint is told of an event. */
export async function bodyFor(
  { database: { db }, settings }: Pick<Services, "database" | "settings">,
  { format, workspace_id: id }: EndpointRow,
  event: EventRow,
): Promise<Buffer> {
  if (format === "event") return payloadOf(event);
  const workspace = await db
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", id)
    .executeTakeFirst();
  return slackMessageOf(event, workspace?.name ?? "", settings.publicUrl);
}
