import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** What a webhook endpoint is sent: events, or messages of Slack. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE webhook_endpoints ADD COLUMN format text NOT NULL DEFAULT 'event' CHECK (format IN ('event', 'slack'))",
  ]);
}
