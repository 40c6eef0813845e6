import type { HostEvent, ReadSummary } from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import { noteFact } from "../events/facts.ts";
import type { Db } from "../store/database.ts";

/** Streams, and columns of each, that an event names. */
const maxNamed = 100;

/** Values and columns that did not fit, and rows that no run reads, by stream. */
export interface LeftOut {
  /** Sees the events of the read. */
  onEvent(event: HostEvent): void;
  /** Notes what was left out, so that people are told of it. */
  note(
    db: Db,
    attempt: JobAttempt,
    pipelineId: string,
    summary: ReadSummary | undefined,
  ): Promise<void>;
}

export function createLeftOut(): LeftOut {
  const columns = new Map<string, readonly string[]>();
  const unread = new Map<string, number>();
  return {
    onEvent(event) {
      if (event.type === "dropped") columns.set(event.stream, event.fields);
      if (event.type !== "log" || event.level !== "warn") return;
      const { stream, unreadRows } = event.fields;
      if (typeof stream === "string" && Number.isSafeInteger(unreadRows) && Number(unreadRows) > 0)
        unread.set(stream, Number(unreadRows));
    },
    async note(db, { job, services, log }, pipelineId, summary) {
      const left_out = (summary?.streams ?? [])
        .map(({ stream, nulledCount }) => ({
          stream,
          values: nulledCount,
          columns: (columns.get(stream) ?? []).slice(0, maxNamed),
          ...(unread.has(stream) ? { rows: unread.get(stream) } : {}),
        }))
        .filter(({ values, columns, rows }) => values > 0 || columns.length > 0 || rows)
        .slice(0, maxNamed);
      if (left_out.length === 0) return;
      for (const { stream, values } of left_out)
        if (values > 0)
          log("warn", "Values that did not fit were left empty; see _svc_meta.", {
            stream,
            values,
          });
      await noteFact(db, {
        workspaceId: job.workspace_id,
        type: "pipeline.degraded",
        subjectId: pipelineId,
        facts: { job_id: job.id, left_out },
        at: new Date(services.clock.now()),
      });
    },
  };
}
