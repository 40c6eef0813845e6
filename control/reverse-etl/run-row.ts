/** The row of a run, as its job moves it on. */
import { sql } from "kysely";
import { ConnectorError } from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import type { Db } from "../store/database.ts";
import { type Failure, type RowCounts, type RunStatus, runStatuses } from "../store/tables.ts";
import type { PlannedRow, RefusedRow } from "./diff.ts";
import type { RunRow } from "./rows.ts";

export const finalRunStatuses: readonly RunStatus[] = runStatuses.slice(
  runStatuses.indexOf("succeeded"),
);
export const isFinalRun = (status: RunStatus): boolean => finalRunStatuses.includes(status);

export const noRows: RowCounts = { addedCount: 0, changedCount: 0, removedCount: 0 };
export const sumOf = ({ addedCount, changedCount, removedCount }: RowCounts): number =>
  addedCount + changedCount + removedCount;
export const plus = (one: RowCounts, other: RowCounts): RowCounts => ({
  addedCount: one.addedCount + other.addedCount,
  changedCount: one.changedCount + other.changedCount,
  removedCount: one.removedCount + other.removedCount,
});
export const countRows = (rows: readonly Pick<PlannedRow, "change">[]): RowCounts => {
  const of = (kind: PlannedRow["change"]) => rows.filter(({ change }) => change === kind).length;
  return { addedCount: of("added"), changedCount: of("changed"), removedCount: of("removed") };
};

/** Changes the row of a run that has not ended. */
export async function moveRun(
  db: Db,
  runId: string,
  change: Partial<{
    status: RunStatus;
    query_size: number;
    planned: RowCounts;
    failed: RowCounts;
    error: NonNullable<RunRow["error"]> | null;
    started_at: Date;
    finished_at: Date;
  }>,
): Promise<void> {
  const { planned, failed, error, ...plain } = change;
  await db
    .updateTable("reverse_etl_runs")
    .set({
      ...plain,
      planned: planned && JSON.stringify(planned),
      failed: failed && JSON.stringify(failed),
      error: error && JSON.stringify(error),
    })
    .where("id", "=", runId)
    .where("status", "not in", finalRunStatuses)
    .execute();
}

/**
 * Ends the run of a job that has ended otherwise than by success, in the transaction in which it
 * does: the two never say different things.
 */
export async function endRunOfJob(
  tx: Db,
  jobId: string,
  {
    status,
    failure,
  }: { readonly status: "cancelled" | "failed"; readonly failure?: Failure | undefined },
  now: Date,
): Promise<void> {
  const isFailed = status === "failed" && failure !== undefined;
  await tx
    .updateTable("reverse_etl_runs")
    .set({
      // The worker could not say how far it had come.
      status: isFailed && failure.code === "WORKER_LOST" ? "interrupted" : status,
      error: isFailed
        ? JSON.stringify({ reason: failure.code.toLowerCase(), message: failure.message })
        : null,
      finished_at: now,
    })
    .where("job_id", "=", jobId)
    .where("status", "not in", finalRunStatuses)
    .execute();
}

/** Adds to the rows that the destination has taken in this run, all of its attempts counted. */
export async function addSuccessful(tx: Db, runId: string, counts: RowCounts): Promise<void> {
  const column = sql.ref("successful");
  const sum = (name: keyof RowCounts) =>
    sql`(${column} ->> ${sql.lit(name)})::bigint + ${counts[name]}::bigint`;
  await tx
    .updateTable("reverse_etl_runs")
    .set({
      successful: sql<string>`jsonb_build_object('addedCount', ${sum("addedCount")}, 'changedCount', ${sum("changedCount")}, 'removedCount', ${sum("removedCount")})`,
    })
    .where("id", "=", runId)
    .execute();
}

export interface FailedRowEntry extends Pick<RefusedRow, "key" | "change"> {
  readonly reason: string;
  readonly message: string;
}

/** Keeps what failed in this run; a row that fails again has its latest reason. */
export async function keepFailedRows(
  tx: Db,
  runId: string,
  rows: readonly FailedRowEntry[],
): Promise<void> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  if (byKey.size === 0) return;
  await tx
    .insertInto("reverse_etl_failed_rows")
    .values([...byKey.values()].map((row) => ({ run_id: runId, ...row })))
    .onConflict((conflict) =>
      conflict.columns(["run_id", "key"]).doUpdateSet((eb) => ({
        change: eb.ref("excluded.change"),
        reason: eb.ref("excluded.reason"),
        message: eb.ref("excluded.message"),
      })),
    )
    .execute();
}

/**
 * Keeps other attempts out until the transaction ends: what an attempt that has lost its job writes
 * would be wrong by now.
 * @throws OUTPUT_FENCED
 */
export async function requireCurrent(
  tx: Db,
  { job, attempt }: Pick<JobAttempt, "job" | "attempt">,
): Promise<void> {
  const row = await tx
    .selectFrom("jobs")
    .select("id")
    .where("id", "=", job.id)
    .where("attempt", "=", attempt)
    .where("status", "=", "running")
    .forShare()
    .executeTakeFirst();
  if (!row) throw new ConnectorError("OUTPUT_FENCED");
}
