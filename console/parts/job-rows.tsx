import type { schemas } from "../api/schema.ts";
import { lasted, plural, spoken } from "../model/words.ts";
import { Row } from "./row.tsx";
import { Ago, Status } from "./status.tsx";

export const JobRows = ({
  jobs,
  nameOf,
}: {
  readonly jobs: readonly schemas["Job"][];
  /** Of a job's pipeline; absent: all are of one. */
  readonly nameOf?: ((pipelineId: string | null) => string) | undefined;
}) => (
  <ul className="rows">
    {jobs.map((job) => (
      <Row
        key={job.job_id}
        to={`/jobs/${job.job_id}`}
        name={
          nameOf === undefined || job.pipeline_id === null
            ? spoken(job.job_type)
            : nameOf(job.pipeline_id)
        }
        detail={
          job.failure === null
            ? `${plural(job.records_synced, "row")}${job.started_at === null ? "" : ` in ${lasted(job.started_at, job.ended_at)}`}`
            : job.failure.message.slice(0, 300)
        }
        later={<Ago at={job.created_at} />}
        right={<Status of={job.status} />}
      />
    ))}
  </ul>
);
