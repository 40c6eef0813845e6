import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** The form in which a webhook endpoint is sent events: as they are, or as messages of Slack. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE webhook_endpoints ADD COLUMN format text NOT NULL DEFAULT 'event' CHECK (format IN ('event', 'slack'))",
  ]);
}
