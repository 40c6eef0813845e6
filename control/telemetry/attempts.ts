/** Metrics and spans of the attempts of jobs. */
import type { AttemptResult, JobAttempt, JobRow } from "../contract/job.ts";
import type { Services } from "../services/services.ts";
import type { Failure, RowCounts } from "../store/tables.ts";
import { none } from "./labels.ts";

type Ended =
  | { readonly status: "succeeded" | "cancelled" | "released" | "lost" }
  | { readonly status: "failed"; readonly failure: Failure };

/** The state of a job after an attempt. */
interface JobStep {
  readonly status: JobRow["status"];
  readonly failure?: Failure | undefined;
  /** Time of the next attempt. */
  readonly runnableAt?: Date;
}

/** Runs an attempt in a span of its own: what it does is below. */
export function traceAttempt(
  { services, job: { kind }, attempt }: Pick<JobAttempt, "services" | "job" | "attempt">,
  run: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  return services.telemetry.inSpan("job attempt", { kind, attempt }, async (span) => {
    const result = await run();
    span.set({
      result: result.status,
      ...(result.status === "failed" ? { code: result.failure.code } : {}),
    });
    return result;
  });
}

export function countAttempt(
  { telemetry }: Pick<Services, "telemetry">,
  { kind }: Pick<JobRow, "kind">,
  end: Ended,
  durationMs: number,
): void {
  telemetry.time(
    "svc_job_attempt_duration_seconds",
    { kind, ...outcomeOf(end) },
    durationMs / 1_000,
  );
}

/** After an attempt; a job that goes on is not counted. */
export function countJob(
  { telemetry }: Pick<Services, "telemetry">,
  { kind }: Pick<JobRow, "kind">,
  { status, failure, runnableAt }: JobStep,
): void {
  if (runnableAt) return;
  const code = status === "failed" && failure ? failure.code : none;
  telemetry.count("svc_jobs_total", { kind, result: status, code });
}

/**
 * Rows that reverse ETL has sent, and those of them that were not taken.
 * @param destination the name of its connector
 */
export function countSent(
  { telemetry }: Pick<Services, "telemetry">,
  destination: string,
  sent: RowCounts,
  failed: RowCounts,
): void {
  for (const change of ["added", "changed", "removed"] as const) {
    const lost = failed[`${change}Count`];
    const taken = sent[`${change}Count`] - lost;
    if (taken > 0)
      telemetry.count(
        "svc_reverse_etl_rows_total",
        { destination, change, result: "succeeded" },
        taken,
      );
    if (lost > 0)
      telemetry.count(
        "svc_reverse_etl_rows_total",
        { destination, change, result: "failed" },
        lost,
      );
  }
}

const outcomeOf = (end: Ended) => ({
  result: end.status,
  code: end.status === "failed" ? end.failure.code : none,
});
