import type { Services } from "../services/services.ts";
import { noteFact } from "./facts.ts";

/** People are told of an end so long before it. */
const aheadMs = 7 * 24 * 3_600_000;
/** Credentials that one look takes on; the rest comes with the next one. */
const atOnce = 100;

/**
 * Notes the credentials whose secrets end soon, each end once. Any number of processes may do it at
 * once.
 */
export async function noteExpiring({
  database: { db },
  clock,
}: Pick<Services, "database" | "clock">): Promise<void> {
  const now = new Date(clock.now());
  await db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom("credentials")
      .select(["id", "workspace_id", "secrets_expire_at"])
      .where("status", "=", "active")
      .where("secrets_expire_at", "<=", new Date(now.getTime() + aheadMs))
      .where((eb) =>
        eb.or([
          eb("told_expiry_at", "is", null),
          eb("told_expiry_at", "!=", eb.ref("secrets_expire_at")),
        ]),
      )
      .orderBy("secrets_expire_at")
      .limit(atOnce)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const { id, workspace_id: workspaceId, secrets_expire_at: endsAt } of due) {
      await noteFact(tx, {
        workspaceId,
        type: "credential.expiring",
        subjectId: id,
        facts: {},
        at: now,
      });
      await tx
        .updateTable("credentials")
        .set({ told_expiry_at: endsAt })
        .where("id", "=", id)
        .execute();
    }
  });
}
