import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Connectors that are declarative manifests: their text is kept, and reaches every host. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE added_connectors ADD COLUMN document text",
    "ALTER TABLE added_connectors DROP CONSTRAINT added_connectors_kind_check",
    "ALTER TABLE added_connectors DROP CONSTRAINT added_connectors_origin_check",
    `ALTER TABLE added_connectors ADD CONSTRAINT added_connectors_kind_check
      CHECK (kind IN ('path', 'package') OR (kind = 'manifest' AND document IS NOT NULL))`,
    `ALTER TABLE added_connectors ADD CONSTRAINT added_connectors_origin_check
      CHECK (origin IN ('command', 'settings', 'api'))`,
  ]);
}
