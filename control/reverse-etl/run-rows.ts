/** The failed rows of a run, as they are read. */
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";

/** A page of the failed rows of a run, by their keys. @throws invalid_cursor */
export async function failedRows(db: Db, runId: string, limit: number, cursor: string | undefined) {
  let rows = db
    .selectFrom("reverse_etl_failed_rows")
    .select(["key", "change", "reason", "message"])
    .where("run_id", "=", runId);
  if (cursor !== undefined) rows = rows.where("key", ">", readKey(runId, cursor));
  const found = await rows
    .orderBy("key")
    .limit(limit + 1)
    .execute();
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = items.at(-1);
  const next_cursor =
    hasMore && last ? Buffer.from(JSON.stringify([runId, last.key])).toString("base64url") : null;
  return { items, next_cursor, has_more: hasMore };
}

function readKey(runId: string, cursor: string): string {
  try {
    const [run, key, ...more] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as unknown[];
    if (
      run === runId &&
      typeof key === "string" &&
      key.isWellFormed() &&
      !key.includes("\u0000") &&
      more.length === 0
    )
      return key;
  } catch {
    // Told below.
  }
  throw new ControlError("invalid_cursor");
}
