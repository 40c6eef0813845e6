/** Rows that destinations have got, by the days of a time zone. */
import type { Db } from "../store/database.ts";
import { dayOf, daysBefore } from "./days.ts";

export interface DayRows {
  readonly day: string;
  readonly records: number;
  readonly bytes: number;
}

export interface DaysRequest {
  readonly workspaceId: string;
  /** Undefined: all of the workspace. */
  readonly pipelineId: string | undefined;
  readonly timeZone: string;
  /** Number of days, today included. */
  readonly count: number;
  readonly now: Date;
}

/** Days begin at most so long before those of UTC. */
const earliestMs = 15 * 3_600_000;

/** The last days, oldest first; those without rows too. */
export async function rowsPerDay(
  db: Db,
  { workspaceId, pipelineId, timeZone, count, now }: DaysRequest,
): Promise<DayRows[]> {
  const today = dayOf(now, timeZone);
  const days = new Map<string, { records: number; bytes: number }>();
  for (let back = count - 1; back >= 0; back -= 1)
    days.set(daysBefore(today, back), { records: 0, bytes: 0 });
  const from = new Date(Date.parse(`${daysBefore(today, count - 1)}T00:00:00Z`) - earliestMs);
  const slots = await db
    .selectFrom("pipeline_rows")
    .select((eb) => ["slot", eb.fn.sum("records").as("records"), eb.fn.sum("bytes").as("bytes")])
    .where("workspace_id", "=", workspaceId)
    .$if(pipelineId !== undefined, (rows) => rows.where("pipeline_id", "=", pipelineId ?? ""))
    .where("slot", ">=", from)
    .groupBy("slot")
    .execute();
  for (const { slot, records, bytes } of slots) {
    const day = days.get(dayOf(slot, timeZone));
    if (!day) continue;
    day.records += Number(records);
    day.bytes += Number(bytes);
  }
  return [...days].map(([day, sums]) => ({ day, ...sums }));
}
