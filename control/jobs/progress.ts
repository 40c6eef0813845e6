import { sql } from "kysely";
import type { Progress, StreamCounts, StreamName } from "../contract/job.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Failure } from "../store/tables.ts";

/** The changes of a stream since the last write. */
interface Change {
  readonly stream: StreamName;
  emitted: number;
  committed: number;
  deleted: number;
  bytes: number;
  committedAt: Date | null;
  status: "running" | "complete" | "incomplete" | undefined;
  failure: Failure | null;
}

export interface ProgressLog extends Progress {
  /**
   * Writes what has changed. When the job belongs to another attempt by now, nothing is written.
   * @throws as the database fails
   */
  flush(): Promise<void>;
}

/** Streams in one statement: each has ten parameters, and a statement takes 65,535. */
const streamsAtOnce = 1_000;

/** The progress of one attempt, gathered in memory until it is written. */
export function createProgress(
  { database: { db }, clock }: Pick<Services, "database" | "clock">,
  attempt: { readonly jobId: string; readonly attempt: number; readonly leaseId: string },
): ProgressLog {
  let changes = new Map<string, Change>();
  /** Undefined: nothing is new. */
  let lag: number | null | undefined;

  const changeOf = (stream: StreamName): Change => {
    const key = `${stream.namespace ?? ""}\n${stream.name}`;
    const known = changes.get(key);
    if (known) return known;
    const change: Change = {
      stream,
      emitted: 0,
      committed: 0,
      deleted: 0,
      bytes: 0,
      committedAt: null,
      status: undefined,
      failure: null,
    };
    changes.set(key, change);
    return change;
  };

  const add = (
    stream: StreamName,
    { emitted = 0, committed = 0, deleted = 0, bytes = 0 }: Partial<StreamCounts>,
  ) => {
    const change = changeOf(stream);
    change.emitted += emitted;
    change.committed += committed;
    change.deleted += deleted;
    change.bytes += bytes;
    if (committed > 0) change.committedAt = new Date(clock.now());
  };

  const setStatus = (stream: StreamName, status: Change["status"], failure: Failure | null) => {
    const change = changeOf(stream);
    change.status = status;
    change.failure = failure;
  };

  async function flush(): Promise<void> {
    if (changes.size === 0 && lag === undefined) return;
    const writing = changes;
    const writingLag = lag;
    changes = new Map();
    lag = undefined;
    try {
      await db
        .transaction()
        .execute((tx) =>
          writeAll(tx, attempt, [...writing.values()], writingLag, new Date(clock.now())),
        );
    } catch (error) {
      if (lag === undefined) lag = writingLag;
      for (const {
        stream,
        emitted,
        committed,
        deleted,
        bytes,
        committedAt,
        status,
        failure,
      } of writing.values()) {
        add(stream, { emitted, committed, deleted, bytes });
        const change = changeOf(stream);
        change.committedAt ??= committedAt;
        if (change.status === undefined) setStatus(stream, status, failure);
      }
      throw error;
    }
  }

  return {
    expect: (streams) => {
      for (const stream of streams) changeOf(stream);
    },
    add,
    status: (stream, status, failure) => setStatus(stream, status, failure ?? null),
    lag: (bytes) => {
      lag = bytes;
    },
    flush,
  };
}

async function writeAll(
  tx: Db,
  {
    jobId,
    attempt,
    leaseId,
  }: { readonly jobId: string; readonly attempt: number; readonly leaseId: string },
  changes: readonly Change[],
  lag: number | null | undefined,
  now: Date,
): Promise<void> {
  const sum = (pick: (change: Change) => number) =>
    changes.reduce((total, change) => total + pick(change), 0);
  const added = {
    records_emitted: sql<number>`records_emitted + ${sum(({ emitted }) => emitted)}::bigint`,
    records_committed: sql<number>`records_committed + ${sum(({ committed }) => committed)}::bigint`,
    records_deleted: sql<number>`records_deleted + ${sum(({ deleted }) => deleted)}::bigint`,
    bytes: sql<number>`bytes + ${sum(({ bytes }) => bytes)}::bigint`,
  };
  const job = await tx
    .updateTable("jobs")
    .set({
      ...added,
      ...(lag === undefined ? {} : { replication_lag_bytes: lag }),
      updated_at: now,
    })
    .where("id", "=", jobId)
    .where("lease_id", "=", leaseId)
    .where("status", "=", "running")
    .returning("pipeline_id")
    .executeTakeFirst();
  if (!job) return;
  if (lag !== undefined && job.pipeline_id !== null)
    await tx
      .updateTable("pipelines")
      .set({ replication_lag_bytes: lag })
      .where("id", "=", job.pipeline_id)
      .execute();
  await tx
    .updateTable("job_attempts")
    .set(added)
    .where("job_id", "=", jobId)
    .where("attempt", "=", attempt)
    .execute();
  for (let start = 0; start < changes.length; start += streamsAtOnce)
    await writeStreams(tx, jobId, changes.slice(start, start + streamsAtOnce));
}

const writeStreams = (tx: Db, jobId: string, changes: readonly Change[]) =>
  tx
    .insertInto("job_streams")
    .values(
      changes.map(
        ({ stream, emitted, committed, deleted, bytes, committedAt, status, failure }) => ({
          job_id: jobId,
          namespace: stream.namespace ?? "",
          name: stream.name,
          status: status ?? "pending",
          records_emitted: emitted,
          records_committed: committed,
          records_deleted: deleted,
          bytes,
          committed_at: committedAt,
          failure: failure ? JSON.stringify(failure) : null,
        }),
      ),
    )
    .onConflict((conflict) =>
      conflict.columns(["job_id", "namespace", "name"]).doUpdateSet({
        // "pending" says that nothing was told of it this time.
        status: sql`CASE WHEN excluded.status = 'pending' THEN job_streams.status ELSE excluded.status END`,
        failure: sql`CASE WHEN excluded.status = 'pending' THEN job_streams.failure ELSE excluded.failure END`,
        records_emitted: sql<number>`job_streams.records_emitted + excluded.records_emitted`,
        records_committed: sql<number>`job_streams.records_committed + excluded.records_committed`,
        records_deleted: sql<number>`job_streams.records_deleted + excluded.records_deleted`,
        bytes: sql<number>`job_streams.bytes + excluded.bytes`,
        committed_at: sql`coalesce(excluded.committed_at, job_streams.committed_at)`,
      }),
    )
    .execute();
