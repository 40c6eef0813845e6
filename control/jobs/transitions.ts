import { type JobStatus, jobStatuses } from "../store/tables.ts";

/**
 * The statuses that may follow each status of a job.
 * @see Airbyte, JobStatus.VALID_STATUS_CHANGES
 */
export const transitions = {
  pending: ["queued", "running", "failed", "cancelled", "incomplete"],
  queued: ["pending", "running", "cancelled", "failed"],
  running: ["incomplete", "succeeded", "failed", "cancelled"],
  incomplete: ["pending", "running", "failed", "cancelled", "succeeded"],
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<JobStatus, readonly JobStatus[]>;

/**
 * The statuses from which a job may come to this one. Whatever changes a status asks for one of
 * them in its WHERE.
 */
export const statusesBefore = (to: JobStatus): JobStatus[] =>
  jobStatuses.filter((from) => (transitions[from] as readonly JobStatus[]).includes(to));

/** Nothing follows these. */
export const finalStatuses: readonly JobStatus[] = jobStatuses.filter(
  (status) => transitions[status].length === 0,
);

export const isFinal = (status: JobStatus): boolean => finalStatuses.includes(status);
