import { PGlite } from "@electric-sql/pglite";
import { Kysely, sql } from "kysely";
import { expect, test } from "vitest";
import { createPgliteDialect } from "../pglite-dialect.ts";
import { migrations } from "./index.ts";

test("of an instance that was there before, the workspace that was made first administers it", async () => {
  const db = new Kysely<unknown>({ dialect: createPgliteDialect(await PGlite.create({})) });
  const own = "0011-names-and-workspaces";
  try {
    for (const [name, migration] of Object.entries(migrations))
      if (name < own) await migration.up(db);
    for (const [id, at] of [
      ["ws_b", "2026-02-01T00:00:00Z"],
      ["ws_c", "2026-01-01T00:00:00Z"],
      ["ws_a", "2026-01-01T00:00:00Z"],
    ] as const)
      await sql`INSERT INTO workspaces VALUES (${id}, 'One', ${id}, ${at})`.execute(db);
    await migrations[own]?.up(db);
    const { rows } = await sql<{ id: string; administers_instance: boolean; version: number }>`
      SELECT id, administers_instance, version FROM workspaces ORDER BY id`.execute(db);
    expect(rows).toEqual([
      { id: "ws_a", administers_instance: true, version: 1 },
      { id: "ws_b", administers_instance: false, version: 1 },
      { id: "ws_c", administers_instance: false, version: 1 },
    ]);
    // There is one, whatever goes wrong.
    await expect(
      sql`UPDATE workspaces SET administers_instance = true`.execute(db),
    ).rejects.toThrow();
  } finally {
    await db.destroy();
  }
});
