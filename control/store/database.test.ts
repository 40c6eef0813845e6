import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
