import { type ColumnTypeChange, streamLabel } from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import { noteFact } from "../events/facts.ts";
import type { Db } from "../store/database.ts";

/** Columns that an event names. */
const maxNamed = 100;

/** Columns that have another type at the destination, because a value did not fit. */
export interface ChangedColumns {
  add(change: ColumnTypeChange): void;
  /** Notes what was changed, so that people are told of it. */
  note(db: Db, pipelineId: string): Promise<void>;
}

/** The changes as events say them. */
export const toSchemaChanges = (changes: readonly ColumnTypeChange[]) =>
  changes.slice(0, maxNamed).map(({ stream, column, from, to }) => ({
    stream: streamLabel(stream),
    type: "destination_type_changed",
    column,
    from,
    to,
  }));

export function createChangedColumns({ job, services, log }: JobAttempt): ChangedColumns {
  const changes: ColumnTypeChange[] = [];
  return {
    add(change) {
      const { stream, ...fields } = change;
      changes.push(change);
      log("warn", "A column of the destination has another type now, so that every value fits.", {
        stream: streamLabel(stream),
        ...fields,
      });
    },
    async note(db, pipelineId) {
      if (changes.length === 0) return;
      await noteFact(db, {
        workspaceId: job.workspace_id,
        type: "schema.changed",
        subjectId: pipelineId,
        facts: {
          changes: toSchemaChanges(changes),
          change_count: changes.length,
        },
        at: new Date(services.clock.now()),
      });
    },
  };
}
