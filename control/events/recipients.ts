/** Who is mailed of which events. */
import { type Static, Type } from "typebox";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import type { DescribedEvent } from "./describe.ts";
import { chosenTypes, mailedTypes } from "./types.ts";

export const NotificationSettings = StrictObject(
  {
    event_types: Type.Array(OneOf(chosenTypes)),
    member_ids: Nullable(
      Type.Array(Id("member"), {
        description: "The members who are mailed; null: all administrators.",
      }),
    ),
    updated_at: Nullable(Time),
    updated_by: Nullable(Id("user")),
    version: Type.Integer({ minimum: 0, description: "0: as it was when the workspace was made." }),
  },
  { title: "NotificationSettings" },
);
export type NotificationSettings = Static<typeof NotificationSettings>;

export async function notificationSettings(
  db: Db,
  workspaceId: string,
): Promise<NotificationSettings> {
  const row = await db
    .selectFrom("notification_settings")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return {
    event_types: [...(row?.event_types ?? mailedTypes)],
    member_ids: row?.member_ids ? [...row.member_ids] : null,
    updated_at: row?.updated_at.toISOString() ?? null,
    updated_by: row?.updated_by ?? null,
    version: row?.version ?? 0,
  };
}

/** Ids of the members who are to be mailed of an event. */
export async function membersFor(
  db: Db,
  workspaceId: string,
  { type, isForAdministrators }: DescribedEvent,
): Promise<string[]> {
  const { event_types: types, member_ids: ids } = await notificationSettings(db, workspaceId);
  if (!types.some((one) => one === type) || ids?.length === 0) return [];
  let rows = db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "active");
  if (ids) rows = rows.where("id", "in", ids);
  if (!ids || isForAdministrators) rows = rows.where("role", "=", "admin");
  return (await rows.execute()).map(({ id }) => id);
}
