import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { expect, test } from "vitest";
import { createUser, createWorkspace } from "../../control/members/workspaces.ts";
import { openDatabase } from "../../control/store/database.ts";
import { migrations } from "../../control/store/migrations/index.ts";
import { databaseText } from "../database-text.ts";
import { makeOlder } from "./older.ts";

test("rows of an earlier version are all there after its tables were brought up to date", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-older-"));
  try {
    let before: string;
    {
      await using database = await openDatabase({ folder });
      const now = new Date("2026-01-01T00:00:00.123Z");
      await createWorkspace(database.db, { name: "Ünïcode\n'", slug: "soak" }, now);
      await createUser(database.db, { email: "a@example.com", name: "A" }, now);
      before = await databaseText(database.db);
    }
    expect(await makeOlder(folder, 5)).toBeGreaterThan(1);
    const older = await PGlite.create({ dataDir: join(folder, "database") });
    const { rows } = await older.query("SELECT count(*)::int AS count FROM kysely_migration");
    await older.close();
    expect(rows).toEqual([{ count: Object.keys(migrations).length - 5 }]);
    await using again = await openDatabase({ folder });
    expect(await databaseText(again.db)).toBe(before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
