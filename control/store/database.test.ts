import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { describeDatabase } from "../../tests/database-behaviour.ts";
import { databaseImage } from "../../tests/database-image.ts";
import { openDatabase } from "./database.ts";

describeDatabase("the embedded database", async () => {
  const one = await openDatabase({ image: await databaseImage() });
  return { one, other: one, close: async () => one[Symbol.asyncDispose]() };
});

test("a folder is open once; what was written is there when it is opened again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-store-"));
  try {
    {
      await using first = await openDatabase({ folder });
      await expect(openDatabase({ folder })).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
      const row = { connector_id: "a", enabled: false, updated_at: new Date(0) };
      await first.db.insertInto("connector_settings").values(row).execute();
    }
    await using again = await openDatabase({ folder });
    expect(
      await again.db.selectFrom("connector_settings").select("connector_id").execute(),
    ).toEqual([{ connector_id: "a" }]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("an embedded database takes no more memory for buffers than its few rows need", async () => {
  await using database = await openDatabase({ image: await databaseImage() });
  const { rows } = await sql<{ mb: number }>`
    SELECT sum(setting::bigint * CASE unit WHEN '8kB' THEN 8 ELSE 1 END)::int / 1024 AS mb FROM pg_settings
    WHERE name IN ('shared_buffers', 'wal_buffers', 'maintenance_work_mem')`.execute(database.db);
  expect(rows[0]?.mb).toBeLessThan(64);
});
