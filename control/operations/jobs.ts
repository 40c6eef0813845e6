/**
 * Jobs: what runs, what has run, and what came of it. They are made by pipelines and activations.
 */
import { Type } from "typebox";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import {
  datedListQuery,
  IdInput,
  List,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { requestCancel } from "../jobs/cancel.ts";
import {
  Attempt,
  Job,
  LogEntry,
  logLevels,
  StreamStats,
  toAttempt,
  toJob,
  toLogEntry,
  toStreamStats,
} from "../jobs/schemas.ts";
import { isFinal } from "../jobs/transitions.ts";
import type { Db } from "../store/database.ts";
import { jobStatuses, jobTypes } from "../store/tables.ts";

export const jobParams = StrictObject({ job_id: IdInput("The job.") });

/** Streams of a job that one answer holds; there may be 6,000. */
const maxStreams = 6_000;

/** @throws not_found */
export async function findJob(db: Db, workspaceId: string, id: string) {
  const row = await db
    .selectFrom("jobs")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("job", id);
  return row;
}

export const listJobs = defineRead({
  id: "job.list",
  area: "Jobs",
  path: "/jobs",
  summary: "List jobs",
  description: "The newest first.",
  permission: "read",
  query: StrictObject({
    ...datedListQuery,
    pipeline_id: Type.Optional(IdInput("Only jobs of this pipeline.")),
    connection_id: Type.Optional(IdInput("Only jobs of this connection.")),
    activation_id: Type.Optional(IdInput("Only runs of this activation.")),
    status: Type.Optional(OneOf(jobStatuses)),
    job_type: Type.Optional(OneOf(jobTypes)),
    created_after: Type.Optional(Time),
    created_before: Type.Optional(Time),
  }),
  data: List(Job),
  errors: ["invalid_cursor"],
  async run(
    { db, workspaceId },
    {
      query: {
        limit = 50,
        cursor,
        sort,
        workspace_id: _,
        created_after,
        created_before,
        activation_id: subject_id,
        ...others
      },
    },
  ) {
    const ofActivation = subject_id === undefined ? {} : { kind: "reverse_etl", subject_id };
    const equals = { ...others, ...ofActivation };
    const filters = { list: "jobs", workspaceId, created_after, created_before, ...equals };
    let rows = db.selectFrom("jobs").selectAll().where("workspace_id", "=", workspaceId);
    for (const [column, value] of Object.entries(equals) as [keyof typeof equals, string][])
      rows = rows.where(column, "=", value as never);
    if (created_after !== undefined) rows = rows.where("created_at", ">=", new Date(created_after));
    if (created_before !== undefined)
      rows = rows.where("created_at", "<", new Date(created_before));
    const page = await readPage(rows, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map(toJob) };
  },
});

export const JobWithParts = StrictObject(
  {
    ...Job.properties,
    attempts: Type.Optional(Type.Array(Attempt)),
    stream_stats: Type.Optional(Type.Array(StreamStats)),
  },
  { title: "JobWithParts" },
);

export const getJob = defineRead({
  id: "job.get",
  area: "Jobs",
  path: "/jobs/{job_id}",
  summary: "Get a job",
  description:
    "With its attempts and the progress of each stream. A running one is up to date within about a second.",
  permission: "read",
  params: jobParams,
  query: StrictObject({
    ...workspaceInput,
    include: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: "^((attempts|stream_stats)(,(attempts|stream_stats))*)?$",
        description:
          "What comes with the job: attempts, stream_stats, or both with a comma; empty: neither. Default both.",
        default: "attempts,stream_stats",
      }),
    ),
  }),
  data: JobWithParts,
  errors: [],
  async run({ db, workspaceId }, { params, query: { include = "attempts,stream_stats" } }) {
    const row = await findJob(db, workspaceId, params.job_id);
    const parts = include.split(",");
    return {
      ...toJob(row),
      ...(parts.includes("attempts") ? { attempts: await attemptsOf(db, row.id) } : {}),
      ...(parts.includes("stream_stats") ? { stream_stats: await streamsOf(db, row.id) } : {}),
    };
  },
});

const attemptsOf = async (db: Db, id: string) =>
  (
    await db
      .selectFrom("job_attempts")
      .selectAll()
      .where("job_id", "=", id)
      .orderBy("attempt")
      .execute()
  ).map(toAttempt);

async function streamsOf(db: Db, id: string) {
  const rows = await db
    .selectFrom("job_streams")
    .selectAll()
    .where("job_id", "=", id)
    .orderBy("namespace")
    .orderBy("name")
    .limit(maxStreams)
    .execute();
  return rows.map(toStreamStats);
}

/** @throws not_found, job_ended */
async function requireCancellable(
  { db, workspaceId }: OperationContext,
  id: string,
): Promise<void> {
  const { status } = await findJob(db, workspaceId, id);
  if (isFinal(status) && status !== "cancelled") throw new ControlError("job_ended", { status });
}

export const cancelJob = defineWrite({
  id: "job.cancel",
  area: "Jobs",
  method: "POST",
  path: "/jobs/{job_id}/cancel",
  summary: "Cancel a job",
  description:
    "What waits ends at once; what runs, within seconds: `cancel_requested` is true until then, and it ends as cancelled however far it has come. Rows that the destination has stay there.",
  permission: "run",
  status: 200,
  resource: "job",
  category: "sync_run",
  params: jobParams,
  body: StrictObject(workspaceInput),
  data: Job,
  errors: ["not_found", "job_ended"],
  guard: (ctx, { params }) => requireCancellable(ctx, params.job_id),
  async commit(tx, { workspaceId, now }, { params }) {
    const { id } = await findJob(tx, workspaceId, params.job_id);
    const outcome = await requestCancel(tx, { id }, now);
    const row = await findJob(tx, workspaceId, id);
    if (outcome === "ended" && row.status !== "cancelled")
      throw new ControlError("job_ended", { status: row.status });
    return { data: toJob(row), resourceId: id };
  },
});

export const listJobLogs = defineRead({
  id: "job.logs",
  area: "Jobs",
  path: "/jobs/{job_id}/logs",
  summary: "Read the log of a job",
  description:
    "Oldest first; `after` is the index of the last entry that was read. At most 10,000 entries are kept.",
  permission: "read",
  params: jobParams,
  query: StrictObject({
    ...workspaceInput,
    after: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 200 })),
    level: Type.Optional(
      OneOf(logLevels, { description: "Only entries of this level and above." }),
    ),
  }),
  data: StrictObject({
    items: Type.Array(LogEntry),
    next_after: Nullable(
      Type.Integer({ description: "For the next page; null: there are no more for now." }),
    ),
    has_more: Type.Boolean(),
  }),
  errors: [],
  async run({ db, workspaceId }, { params, query: { after = 0, limit = 200, level = "debug" } }) {
    const { id } = await findJob(db, workspaceId, params.job_id);
    const rows = await db
      .selectFrom("job_logs")
      .selectAll()
      .where("job_id", "=", id)
      .where("index", ">", after)
      .where("level", "in", logLevels.slice(logLevels.indexOf(level)))
      .orderBy("index")
      .limit(limit + 1)
      .execute();
    const items = rows.slice(0, limit).map(toLogEntry);
    const hasMore = rows.length > limit;
    return { items, next_after: hasMore ? (items.at(-1)?.index ?? null) : null, has_more: hasMore };
  },
});

export const jobOperations = [listJobs, getJob, cancelJob, listJobLogs];
