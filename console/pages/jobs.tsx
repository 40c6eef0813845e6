import { useJobs, usePipelines } from "../model/queries.ts";
import { Head } from "../parts/head.tsx";
import { JobRows } from "../parts/job-rows.tsx";
import { Empty, Loaded } from "../parts/states.tsx";

/** The latest jobs of all pipelines. */
export default function Jobs() {
  const jobs = useJobs({ limit: 100 });
  const pipelines = usePipelines();
  return (
    <>
      <Head title="Jobs" />
      <Loaded query={jobs}>
        {({ items, has_more: hasMore }) =>
          items.length === 0 ? (
            <Empty title="Nothing has run yet" text="Each run of a pipeline is a job." />
          ) : (
            <>
              <JobRows
                jobs={items}
                nameOf={(id) =>
                  pipelines.data?.find((one) => one.pipeline_id === id)?.name ?? "Pipeline"
                }
              />
              {hasMore ? (
                <p className="dim">
                  The newest 100. A pipeline's page has more of its own; the API has all.
                </p>
              ) : null}
            </>
          )
        }
      </Loaded>
    </>
  );
}
