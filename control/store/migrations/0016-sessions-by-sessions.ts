import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** A session knows the one with which its token was made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE sessions ADD COLUMN made_by_session_id text REFERENCES sessions",
    "CREATE INDEX sessions_by_maker ON sessions (made_by_session_id) WHERE made_by_session_id IS NOT NULL",
  ]);
}
