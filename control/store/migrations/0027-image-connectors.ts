import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Connectors that are images: which one, and what it may, beside what it has said of itself. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE added_connectors ADD COLUMN image text",
    "ALTER TABLE added_connectors DROP CONSTRAINT added_connectors_kind_check",
    `ALTER TABLE added_connectors ADD CONSTRAINT added_connectors_kind_check
      CHECK (kind IN ('path', 'package') OR (kind = 'manifest' AND document IS NOT NULL)
        OR (kind = 'image' AND document IS NOT NULL AND image IS NOT NULL))`,
  ]);
}
