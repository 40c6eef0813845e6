import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/**
 * Rows that destinations have got, counted when they are committed: by pipeline and quarter of an
 * hour, of which the days of every time zone are made. To add up a month takes as long with a
 * million jobs as with ten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const slotOf = (time: string) => `date_bin('15 minutes', ${time}, timestamptz 'epoch')`;
  await each(db, [
    `CREATE TABLE pipeline_rows (
      workspace_id text NOT NULL REFERENCES workspaces,
      pipeline_id text NOT NULL,
      slot timestamptz(3) NOT NULL,
      records bigint NOT NULL,
      bytes bigint NOT NULL,
      PRIMARY KEY (pipeline_id, slot)
    ) WITH (fillfactor = 70)`,
    "CREATE INDEX pipeline_rows_by_time ON pipeline_rows (workspace_id, slot)",
    `INSERT INTO pipeline_rows
      SELECT min(workspace_id), pipeline_id, ${slotOf("coalesce(ended_at, updated_at)")}, sum(records_committed), sum(bytes)
      FROM jobs WHERE kind = 'sync' AND pipeline_id IS NOT NULL AND records_committed > 0 GROUP BY 2, 3`,
    `CREATE FUNCTION count_pipeline_rows() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO pipeline_rows AS counted VALUES (
          NEW.workspace_id, NEW.pipeline_id, ${slotOf("NEW.updated_at")},
          NEW.records_committed - OLD.records_committed, NEW.bytes - OLD.bytes)
        ON CONFLICT (pipeline_id, slot) DO UPDATE
          SET records = counted.records + excluded.records, bytes = counted.bytes + excluded.bytes;
        RETURN NULL;
      END $$`,
    `CREATE TRIGGER count_pipeline_rows AFTER UPDATE OF records_committed ON jobs FOR EACH ROW
      WHEN (NEW.kind = 'sync' AND NEW.pipeline_id IS NOT NULL
        AND (NEW.records_committed > OLD.records_committed OR NEW.bytes > OLD.bytes))
      EXECUTE FUNCTION count_pipeline_rows()`,
  ]);
}
