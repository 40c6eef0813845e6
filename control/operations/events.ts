/** Events: what has happened in a workspace, and whom it tells by mail. */
import { Type } from "typebox";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import {
  datedListQuery,
  Id,
  IdInput,
  List,
  Nullable,
  OneOf,
  StrictObject,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { NotificationSettings, notificationSettings } from "../events/recipients.ts";
import { Event, toEvent } from "../events/schemas.ts";
import { chosenTypes } from "../events/types.ts";
import { isAdmin } from "../members/roles.ts";
import type { Db } from "../store/database.ts";
import { eventTypes } from "../store/tables.ts";

const ofWorkspace = StrictObject(workspaceInput);

export const listEvents = defineRead({
  id: "event.list",
  area: "Events",
  path: "/events",
  summary: "List events",
  description:
    "Newest first. A program that asks again and again names the last event that it has seen in `after`: it gets those after it, oldest first, and misses none. What only administrators may know, only they see.",
  permission: "read",
  query: StrictObject({
    ...datedListQuery,
    type: Type.Optional(OneOf(eventTypes)),
    after: Type.Optional(IdInput("Only events after this one, oldest first; without a cursor.")),
  }),
  data: List(Event),
  errors: ["not_found", "invalid_cursor", "invalid_query"],
  async run(ctx, { query: { limit = 50, cursor, sort, type, after } }) {
    const { db, workspaceId } = ctx;
    let rows = db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId);
    if (!isAdmin(ctx)) rows = rows.where("for_administrators", "=", false);
    if (type) rows = rows.where("type", "=", type);
    if (after === undefined) {
      const filters = { list: "events", workspaceId, type };
      const page = await readPage(rows, { cursor, limit, filters, sort });
      return { ...page, items: page.items.map(toEvent) };
    }
    if (cursor !== undefined)
      throw refuseField("invalid_query", "after", "cannot be combined with cursor");
    const position = await positionOf(db, workspaceId, after);
    const found = await rows
      .where("position", ">", position)
      .orderBy("position")
      .limit(limit + 1)
      .execute();
    const items = found.slice(0, limit).map(toEvent);
    return { items, next_cursor: null, has_more: found.length > limit };
  },
});

/** @throws not_found */
async function positionOf(db: Db, workspaceId: string, id: string): Promise<string> {
  const row = await db
    .selectFrom("events")
    .select("position")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "event" });
  return row.position;
}

export const getEvent = defineRead({
  id: "event.get",
  area: "Events",
  path: "/events/{event_id}",
  summary: "Get an event",
  permission: "read",
  params: StrictObject({ event_id: IdInput("The event.") }),
  query: ofWorkspace,
  data: Event,
  errors: ["not_found"],
  async run(ctx, { params }) {
    const row = await ctx.db
      .selectFrom("events")
      .selectAll()
      .where("workspace_id", "=", ctx.workspaceId)
      .where("id", "=", params.event_id)
      .executeTakeFirst();
    if (!row || (row.for_administrators && !isAdmin(ctx)))
      throw new ControlError("not_found", { resource: "event" });
    return toEvent(row);
  },
});

export const getNotificationSettings = defineRead({
  id: "notification_settings.get",
  area: "Events",
  path: "/notification-settings",
  summary: "Get who is mailed of what",
  permission: "read",
  query: ofWorkspace,
  data: NotificationSettings,
  errors: [],
  run: ({ db, workspaceId }) => notificationSettings(db, workspaceId),
});

/** @throws validation_failed when one of them is no active member */
async function requireMembers(
  db: Db,
  workspaceId: string,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (!ids || ids.length === 0) return;
  const rows = await db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "active")
    .where("id", "in", ids)
    .execute();
  const known = rows.map(({ id }) => id);
  const unknown = ids.findIndex((id) => !known.includes(id));
  if (unknown !== -1)
    throw refuseField("validation_failed", `member_ids.${unknown}`, "is no active member");
}

export const updateNotificationSettings = defineWrite({
  id: "notification_settings.update",
  area: "Events",
  method: "PATCH",
  path: "/notification-settings",
  summary: "Change who is mailed of what",
  description:
    "Mails go to active members only, and what only administrators may know to them. With an empty list of types or members nobody is mailed.",
  permission: "admin",
  status: 200,
  resource: "notification_settings",
  isRepeatable: true,
  body: StrictObject(
    {
      ...workspaceInput,
      event_types: Type.Optional(Type.Array(OneOf(chosenTypes), { uniqueItems: true })),
      member_ids: Type.Optional(
        Nullable(Type.Array(Id("member"), { maxItems: 100, uniqueItems: true })),
      ),
    },
    { minProperties: 1 },
  ),
  data: NotificationSettings,
  errors: ["version_mismatch"],
  async guard(ctx, { body }) {
    const { version } = await notificationSettings(ctx.db, ctx.workspaceId);
    ctx.expectVersion(version);
    await requireMembers(ctx.db, ctx.workspaceId, body.member_ids);
  },
  async commit(tx, ctx, { body }) {
    const { workspaceId, caller, now } = ctx;
    // One after another: each change is made on what the one before it has left.
    await tx
      .selectFrom("workspaces")
      .select("id")
      .where("id", "=", workspaceId)
      .forNoKeyUpdate()
      .execute();
    const before = await notificationSettings(tx, workspaceId);
    ctx.expectVersion(before.version);
    const { event_types = before.event_types, member_ids = before.member_ids } = body;
    const row = {
      event_types: JSON.stringify(event_types),
      member_ids: member_ids && JSON.stringify(member_ids),
      updated_at: now,
      updated_by: caller.user.id,
      version: before.version + 1,
    };
    await tx
      .insertInto("notification_settings")
      .values({ workspace_id: workspaceId, ...row })
      .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet(row))
      .execute();
    return { data: await notificationSettings(tx, workspaceId), resourceId: workspaceId };
  },
});

export const eventOperations = [
  listEvents,
  getEvent,
  getNotificationSettings,
  updateNotificationSettings,
];
