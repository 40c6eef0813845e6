import { sql } from "kysely";
import type { Db } from "../store/database.ts";
import { jobStatuses } from "../store/tables.ts";
import type { GaugeReading } from "./instruments.ts";

const kinds = ["sync", "reverse_etl"] as const;
const open = jobStatuses.filter((status) => !["succeeded", "failed", "cancelled"].includes(status));

/** Jobs of a kind and a state that are counted; whoever has more need not know how many. */
const mostCounted = 100_000;

/**
 * The queue of the whole instance: how many jobs are in which state, and how long the oldest one
 * that could run has waited. Looks into the index of open jobs alone, whatever has run before.
 */
export async function readQueue(db: Db, now: Date): Promise<readonly GaugeReading[]> {
  const { rows } = await openJobs().execute(db);
  return kinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    const waiting = own.flatMap(({ status, oldest }) =>
      status === "running" || !oldest ? [] : [oldest.getTime()],
    );
    // A missing count is 0, not absent: a graph that ends looks like a server that died.
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

interface OpenJobs {
  readonly kind: string;
  readonly status: string;
  readonly count: string;
  /** When the first of them may run. */
  readonly oldest: Date | null;
}

// In the words of the index jobs_open.
const ofState = sql`jobs.status IN ('pending', 'queued', 'running', 'incomplete')
  AND jobs.kind = kinds.kind AND jobs.status = states.status`;

export const openJobs = () => sql<OpenJobs>`
    SELECT kinds.kind, states.status,
      (SELECT count(*) FROM (SELECT FROM jobs WHERE ${ofState} LIMIT ${sql.lit(mostCounted)}) counted) AS count,
      (SELECT runnable_at FROM jobs WHERE ${ofState} ORDER BY runnable_at LIMIT 1) AS oldest
    FROM unnest(${[...kinds]}::text[]) AS kinds (kind), unnest(${[...open]}::text[]) AS states (status)`;
