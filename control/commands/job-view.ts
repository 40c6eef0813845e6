import {
  formatBytes,
  formatCount,
  formatDuration,
  printable,
  type Terminal,
} from "svc-connectors/host";
import type { Static } from "typebox";
import type { Job, StreamStats } from "../jobs/schemas.ts";

type JobData = Static<typeof Job>;
type StreamData = Static<typeof StreamStats>;

export interface JobView {
  /** One line that is redrawn on a terminal; elsewhere a line when something has changed. */
  show(job: JobData, streams: readonly StreamData[]): Promise<void>;
  /** Writes how the job ended to stdout. Undefined: nobody watches any more. */
  end(job: JobData | undefined): Promise<void>;
}

/** Draws the progress of a job from what `GET /jobs/{job_id}` gives. */
export function createJobView({ isTTY, columns = 80, err, out, clock }: Terminal): JobView {
  let shown = "";
  let last: { readonly atMs: number; readonly bytes: number } | undefined;
  return {
    async show(job, streams) {
      const atMs = clock.now();
      const { bytes_synced: bytes } = job;
      const elapsedMs = last ? atMs - last.atMs : 0;
      // The first look has nothing to compare with.
      const speed =
        last && elapsedMs > 0
          ? [`${formatBytes((Math.max(0, bytes - last.bytes) * 1_000) / elapsedMs)}/s`]
          : [];
      last = { atMs, bytes };
      const facts = factsOf(job, streams);
      if (isTTY) {
        const parts = [...facts, ...speed, ...timeOf(job, atMs)];
        await err.write(`\r\u001b[K${printable(parts.join("  "), columns - 1)}`);
      } else if (facts.join() !== shown) await err.line(printable(facts.join("  "), 500));
      shown = facts.join();
    },
    async end(job) {
      if (isTTY) await err.write("\r\u001b[K");
      if (!job) return;
      await out.line(
        `${job.job_id} ${job.status}: ${formatCount(job.records_synced)} rows, ${attempts(job.attempt)}`,
      );
      if (job.failure) await err.line(printable(job.failure.message, 600));
    },
  };
}

const attempts = (count: number) => (count === 1 ? "1 attempt" : `${count} attempts`);

function factsOf(job: JobData, streams: readonly StreamData[]): string[] {
  const running = streams.find(({ status }) => status === "running");
  const endedCount = streams.filter(({ status }) => status === "complete").length;
  return [
    job.cancel_requested && job.status === "running" ? "stopping" : job.status,
    ...(running
      ? [running.namespace === null ? running.name : `${running.namespace}.${running.name}`]
      : []),
    `${formatCount(job.records_synced)} rows`,
    ...(streams.length > 0 ? [`${endedCount} of ${streams.length} streams`] : []),
    ...(job.replication_lag_bytes === null
      ? []
      : [`log kept: ${formatBytes(job.replication_lag_bytes)}`]),
    ...(job.attempt > 1 ? [`attempt ${job.attempt}`] : []),
    ...(job.next_attempt_at === null ? [] : [`again at ${job.next_attempt_at.slice(11, 19)} UTC`]),
  ];
}

const timeOf = ({ started_at }: JobData, nowMs: number): string[] =>
  started_at === null ? [] : [formatDuration(Math.max(0, nowMs - Date.parse(started_at)))];
