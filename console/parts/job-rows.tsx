import type { schemas } from "../api/schema.ts";
import { usePipelines } from "../model/queries.ts";
import { useActivations } from "../model/reverse-etl.ts";
import { clipped, jobWords, lasted, plural } from "../model/words.ts";
import { Row } from "./row.tsx";
import { Ago, JobStatus } from "./status.tsx";

type Job = schemas["Job"];

/** The name of a job: of its pipeline, or of its activation. */
export function useJobName(): (job: Job) => string {
  const pipelines = usePipelines();
  const activations = useActivations();
  return (job) =>
    (job.activation_id === null
      ? pipelines.data?.find((one) => one.pipeline_id === job.pipeline_id)?.name
      : activations.data?.find((one) => one.activationId === job.activation_id)?.name) ??
    jobWords(job);
}

/** Jobs as items of a list. */
export const JobItems = ({
  jobs,
  nameOf = jobWords,
}: {
  readonly jobs: readonly Job[];
  /** Absent: all are of one, and are called after what they do. */
  readonly nameOf?: ((job: Job) => string) | undefined;
}) => (
  <>
    {jobs.map((job) => {
      const name = nameOf(job);
      const kind = jobWords(job);
      return (
        <Row
          key={job.job_id}
          to={`/jobs/${job.job_id}`}
          name={name}
          about={name === kind || kind === "Sync" ? undefined : kind}
          detail={job.failure === null ? doneBy(job) : clipped(job.failure.message)}
          later={<Ago at={job.created_at} />}
          right={<JobStatus of={job.status} />}
        />
      );
    })}
  </>
);

/** Rows and time. What was sent back out is told by its run. */
function doneBy({ kind, records_synced: rows, started_at: at, ended_at: end }: Job) {
  const parts = kind === "sync" ? [plural(rows, "row")] : [];
  return [...parts, ...(at === null ? [] : [`in ${lasted(at, end)}`])].join(" ");
}
