import { sql } from "kysely";
import { expect, test } from "vitest";
import { startTestControl } from "./control.ts";
import { databaseRows, databaseText } from "./database-text.ts";

test("rows do not change when somebody asks a minute later, and their text has where they asked from", async () => {
  await using api = await startTestControl({ sandbox: "inline" });
  const before = await databaseRows(api.db);
  for (const table of ["sessions", "memberships"]) {
    const column = table === "sessions" ? "last_seen_at" : "last_active_at";
    const past = "1970-01-02T00:00:00Z";
    await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${past}`.execute(api.db);
  }
  const headers = { "user-agent": "a-canary-of-a-browser" };
  expect((await api.call("GET", "/sources", { headers })).status).toBe(200);
  expect(await databaseRows(api.db)).toEqual(before);
  expect(await databaseText(api.db)).toContain("a-canary-of-a-browser");
});
