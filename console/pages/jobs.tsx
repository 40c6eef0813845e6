import { NativeSelect } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { usePipelines } from "../model/queries.ts";
import { useActivations } from "../model/reverse-etl.ts";
import { Head } from "../parts/head.tsx";
import { JobItems, useJobName } from "../parts/job-rows.tsx";
import { byPage, PagedRows } from "../parts/paged-rows.tsx";

/** Statuses that somebody looks for, as they are said. */
const statuses = {
  failed: "Failed",
  running: "Running",
  queued: "Queued",
  incomplete: "Waits to try again",
  succeeded: "Succeeded",
  cancelled: "Cancelled",
} as const satisfies Partial<Record<schemas["JobStatus"], string>>;

/** All jobs, the newest first: of everything, or of one pipeline or activation. */
export default function Jobs({ of = "" }: { readonly of?: string | undefined }) {
  const [status, setStatus] = useState<"" | keyof typeof statuses>("");
  const [, go] = useLocation();
  const pipelines = usePipelines();
  const activations = useActivations();
  const nameOf = useJobName();
  const isActivation = activations.data?.some((one) => one.activationId === of) ?? false;
  const query = useInfiniteQuery({
    queryKey: ["in", "jobs", "pages", { of, status, isActivation }],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/jobs", {
          params: {
            query: {
              limit: 50,
              cursor: pageParam,
              status: status || undefined,
              ...(of === "" ? {} : isActivation ? { activation_id: of } : { pipeline_id: of }),
            },
          },
        }),
      ),
    ...byPage,
    enabled: of === "" || activations.data !== undefined,
    refetchInterval: 5_000,
  });
  return (
    <>
      <Head title="Jobs" />
      <div className="stack">
        <search className="filters">
          <NativeSelect
            label="Of"
            value={of}
            onChange={({ currentTarget: { value } }) =>
              go(value === "" ? "/jobs" : `/jobs/of/${value}`)
            }
            data={[
              { value: "", label: "Everything" },
              ...(pipelines.data ?? []).map((one) => ({ value: one.pipeline_id, label: one.name })),
              ...(activations.data ?? []).map((one) => ({
                value: one.activationId,
                label: `${one.name} (reverse ETL)`,
              })),
            ]}
          />
          <NativeSelect
            label="Status"
            value={status}
            onChange={({ currentTarget: { value } }) => setStatus(value as typeof status)}
            data={[
              { value: "", label: "Any" },
              ...Object.entries(statuses).map(([value, label]) => ({ value, label })),
            ]}
          />
        </search>
        <PagedRows
          query={query}
          none={
            status === "" && of === ""
              ? "Nothing has run yet. Each run of a pipeline is a job."
              : "No job is like this."
          }
        >
          {(items) => <JobItems jobs={items} nameOf={nameOf} />}
        </PagedRows>
      </div>
    </>
  );
}
