import type { ColumnTypeChange, HostEvent, ReadSummary } from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import { noteFact } from "../events/facts.ts";
import type { Db } from "../store/database.ts";
import { toSchemaChanges } from "./changed-columns.ts";

/** Streams, and columns of each, that an event names. */
const maxNamed = 100;

/**
 * Values and columns that did not fit, and rows that no run reads, by stream; columns that are text
 * now.
 */
export interface LeftOut {
  /** Sees the events of the read. */
  onEvent(event: HostEvent): void;
  onColumnChanged(change: ColumnTypeChange): void;
  /** Notes what was left out, so that people are told of it. */
  note(
    db: Db,
    attempt: JobAttempt,
    pipelineId: string,
    summary: ReadSummary | undefined,
  ): Promise<void>;
}

/** In the words of every destination. A column that became it has no sums and no order any more. */
const isText = (type: string) => /^(varchar|text)$/i.test(type);

export function createLeftOut(): LeftOut {
  const columns = new Map<string, readonly string[]>();
  const unread = new Map<string, number>();
  const loosened: ColumnTypeChange[] = [];
  return {
    onEvent(event) {
      if (event.type === "dropped") columns.set(event.stream, event.fields);
      if (event.type !== "log" || event.level !== "warn") return;
      const { stream, unreadRows } = event.fields;
      if (typeof stream === "string" && Number.isSafeInteger(unreadRows) && Number(unreadRows) > 0)
        unread.set(stream, Number(unreadRows));
    },
    onColumnChanged(change) {
      if (isText(change.to)) loosened.push(change);
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
      if (left_out.length + loosened.length === 0) return;
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
        facts: {
          job_id: job.id,
          left_out,
          ...(loosened.length > 0
            ? { changes: toSchemaChanges(loosened), change_count: loosened.length }
            : {}),
        },
        at: new Date(services.clock.now()),
      });
    },
  };
}
