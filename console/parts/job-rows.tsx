import type { schemas } from "../api/schema.ts";
import { jobWords, lasted, plural } from "../model/words.ts";
import { Row } from "./row.tsx";
import { Ago, Status } from "./status.tsx";

export const JobRows = ({
  jobs,
  nameOf,
}: {
  readonly jobs: readonly schemas["Job"][];
  /** Name of a job's pipeline; absent: all are of one. */
  readonly nameOf?: ((pipelineId: string | null) => string) | undefined;
}) => (
  <ul className="rows">
    {jobs.map((job) => (
      <Row
        key={job.job_id}
        to={`/jobs/${job.job_id}`}
        name={
          nameOf === undefined || job.pipeline_id === null ? jobWords(job) : nameOf(job.pipeline_id)
        }
        detail={job.failure === null ? doneBy(job) : job.failure.message.slice(0, 300)}
        later={<Ago at={job.created_at} />}
        right={<Status of={job.status} />}
      />
    ))}
  </ul>
);

/** Rows and time. What was sent back out is told by its run. */
function doneBy({ kind, records_synced: rows, started_at: at, ended_at: end }: schemas["Job"]) {
  const parts = kind === "sync" ? [plural(rows, "row")] : [];
  return [...parts, ...(at === null ? [] : [`in ${lasted(at, end)}`])].join(" ");
}
