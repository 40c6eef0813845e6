import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** How many streams of a pipeline are read at the same time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `ALTER TABLE pipelines ADD COLUMN parallel_streams integer NOT NULL DEFAULT 1
      CHECK (parallel_streams BETWEEN 1 AND 4)`,
  ]);
}
