import { sql } from "kysely";
import type { Db } from "../store/database.ts";
import type { GaugeReading } from "./instruments.ts";

/**
 * The greatest lag of each source's connector: which pipeline it is, GET /pipelines/{pipeline_id}
 * and its jobs tell. Pipelines that are paused count, since their slots hold the log as well.
 */
export async function readReplicationLag(db: Db): Promise<readonly GaugeReading[]> {
  const rows = await db
    .selectFrom("pipelines")
    .innerJoin("sources", "sources.id", "pipelines.source_id")
    .select(["sources.connector_id", sql<string>`max(replication_lag_bytes)`.as("lag")])
    .where("pipelines.replication_lag_bytes", "is not", null)
    .where("pipelines.status", "!=", "deleted")
    .groupBy("sources.connector_id")
    .execute();
  return rows.map(({ connector_id: source, lag }) => ({
    name: "svc_replication_lag_bytes" as const,
    labels: { source },
    value: Number(lag),
  }));
}
