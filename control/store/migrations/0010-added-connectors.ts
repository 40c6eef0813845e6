import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/**
 * Connectors that do not come with svc, each with the code and the description that its operator
 * has added. JSON is kept as text: a digest is made of all that it says.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE added_connectors (
      id text PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('path', 'package')),
      place text NOT NULL,
      code_digest text NOT NULL,
      manifest text NOT NULL,
      streams text NOT NULL,
      sandbox text NOT NULL CHECK (sandbox IN ('process', 'bubblewrap')),
      origin text NOT NULL CHECK (origin IN ('command', 'settings')),
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      removed_at ${time}
    )`,
  ]);
}
