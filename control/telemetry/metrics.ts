/**
 * Every metric, as Prometheus sees it. The table in docs/operating.md is checked against this one.
 */
import type { LabelName } from "./labels.ts";

interface Metric {
  /** `gauge`: read from the database when somebody asks. */
  readonly kind: "counter" | "histogram" | "gauge";
  readonly labels: readonly LabelName[];
  readonly help: string;
}

/** Durations are seconds. A histogram has the count as well: `…_count`. */
export const metrics = {
  svc_http_request_duration_seconds: {
    kind: "histogram",
    labels: ["operation", "status"],
    help: "Requests over HTTP, by operation or route",
  },
  svc_operations_total: {
    kind: "counter",
    labels: ["operation", "client", "status", "code"],
    help: "Operations that went through the door, over HTTP or MCP",
  },
  svc_queue_jobs: {
    kind: "gauge",
    labels: ["kind", "state"],
    help: "Jobs that are not over, in the whole instance",
  },
  svc_queue_oldest_seconds: {
    kind: "gauge",
    labels: ["kind"],
    help: "How long the oldest job that could run has been waiting, in the whole instance",
  },
  svc_replication_lag_bytes: {
    kind: "gauge",
    labels: ["source"],
    help: "The most that a source's server keeps of its log of changes for one pipeline, as its last job was told",
  },
  svc_jobs_total: {
    kind: "counter",
    labels: ["kind", "result", "code"],
    help: "Jobs that ended here",
  },
  svc_job_attempt_duration_seconds: {
    kind: "histogram",
    labels: ["kind", "result", "code"],
    help: "Attempts of jobs that ended here",
  },
  svc_rows_committed_total: {
    kind: "counter",
    labels: ["source", "destination"],
    help: "Rows that destinations have for good",
  },
  svc_bytes_written_total: {
    kind: "counter",
    labels: ["source", "destination"],
    help: "Bytes of rows that destinations were given",
  },
  svc_reverse_etl_rows_total: {
    kind: "counter",
    labels: ["destination", "change", "result"],
    help: "Rows of reverse ETL runs, by what became of them",
  },
  svc_provider_request_duration_seconds: {
    kind: "histogram",
    labels: ["connector", "method", "status"],
    help: "Requests to providers, retries included",
  },
  svc_provider_retries_total: {
    kind: "counter",
    labels: ["connector"],
    help: "Requests that were tried again",
  },
  svc_rate_limit_waits_total: {
    kind: "counter",
    labels: ["connector"],
    help: "Waits for a provider's rate limit",
  },
  svc_redactions_total: {
    kind: "counter",
    labels: ["connector", "where"],
    help: "Secrets that the output filter took out of what a connector gave",
  },
  svc_event_deliveries_total: {
    kind: "counter",
    labels: ["channel", "result"],
    help: "Attempts to deliver an event, to a webhook endpoint or by mail",
  },
  svc_worker_starts_total: {
    kind: "counter",
    labels: ["connector"],
    help: "Sandboxed processes that were started",
  },
} as const satisfies Record<string, Metric>;

type Metrics = typeof metrics;
type NameOf<Kind extends Metric["kind"]> = {
  [Name in keyof Metrics]: Metrics[Name]["kind"] extends Kind ? Name : never;
}[keyof Metrics];

export type MetricName = keyof Metrics;
export type CounterName = NameOf<"counter">;
export type HistogramName = NameOf<"histogram">;
export type GaugeName = NameOf<"gauge">;
/** The labels of a metric, all of them. */
export type LabelsOf<Name extends MetricName> = {
  readonly [Label in Metrics[Name]["labels"][number]]: string;
};

/** Upper bounds of a histogram's buckets: a request takes milliseconds, an attempt hours. */
export const bucketsOf: Readonly<Record<HistogramName, readonly number[]>> = {
  svc_http_request_duration_seconds: [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ],
  svc_provider_request_duration_seconds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  svc_job_attempt_duration_seconds: [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400],
};
