/** Whether a pipeline or an activation works: what was told of it once is not told again. */
import type { Db } from "../store/database.ts";

/**
 * Notes how a job of the subject ended, and gives what that changes.
 * @returns undefined: nothing that was not known
 */
export async function noteJobEnd(
  tx: Db,
  { subjectId, jobId }: { readonly subjectId: string; readonly jobId: string },
  status: "succeeded" | "failed",
): Promise<"failed" | "recovered" | undefined> {
  const before = await healthOf(tx, subjectId);
  const isFailing = status === "failed";
  const degradedBy = !isFailing && before.degraded_by !== jobId ? null : before.degraded_by;
  if (isFailing !== before.is_failing || degradedBy !== before.degraded_by)
    await save(tx, subjectId, { is_failing: isFailing, degraded_by: degradedBy });
  if (isFailing === before.is_failing) return undefined;
  return isFailing ? "failed" : "recovered";
}

/**
 * Notes that a job of the subject has left something out.
 * @returns true: the ones before it did not
 */
export async function noteDegraded(
  tx: Db,
  { subjectId, jobId }: { readonly subjectId: string; readonly jobId: string },
): Promise<boolean> {
  const before = await healthOf(tx, subjectId);
  await save(tx, subjectId, { is_failing: before.is_failing, degraded_by: jobId });
  return before.degraded_by === null;
}

async function healthOf(tx: Db, subjectId: string) {
  const row = await tx
    .selectFrom("subject_health")
    .select(["is_failing", "degraded_by"])
    .where("subject_id", "=", subjectId)
    .executeTakeFirst();
  return row ?? { is_failing: false, degraded_by: null };
}

const save = (
  tx: Db,
  subjectId: string,
  health: { readonly is_failing: boolean; readonly degraded_by: string | null },
) =>
  tx
    .insertInto("subject_health")
    .values({ subject_id: subjectId, ...health })
    .onConflict((conflict) => conflict.column("subject_id").doUpdateSet(health))
    .execute();
