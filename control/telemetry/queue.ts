import { sql } from "kysely";
import type { Db } from "../store/database.ts";
import { jobStatuses } from "../store/tables.ts";
import type { Reading } from "./instruments.ts";

const kinds = ["sync", "reverse_etl"] as const;
const open = jobStatuses.filter((status) => !["succeeded", "failed", "cancelled"].includes(status));

/**
 * The queue of the whole instance: how many jobs are in which state, and how long the oldest one
 * that could run has waited.
 */
export async function readQueue(db: Db, now: Date): Promise<readonly Reading[]> {
  const rows = await db
    .selectFrom("jobs")
    .select(["kind", "status", sql<string>`count(*)`.as("count")])
    .select((eb) => eb.fn.min("runnable_at").filterWhere("runnable_at", "<=", now).as("oldest"))
    .where("status", "in", open)
    .groupBy(["kind", "status"])
    .execute();
  return kinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    const waiting = own.flatMap(({ status, oldest }) =>
      status === "running" || !oldest ? [] : [oldest.getTime()],
    );
    // What is not there is 0, not absent: a graph that ends looks like a server that died.
    return [
      ...open.map((state) => ({
        name: "svc_queue_jobs" as const,
        labels: { kind, state },
        value: Number(own.find(({ status }) => status === state)?.count ?? 0),
      })),
      {
        name: "svc_queue_oldest_seconds" as const,
        labels: { kind },
        value: Math.max(0, now.getTime() - Math.min(now.getTime(), ...waiting)) / 1_000,
      },
    ];
  });
}
