/** Discovery: its list, and its questions to a server that says whatever it likes. */
import type { Stream } from "svc-connectors";
import { expect, test } from "vitest";
import type { Session } from "./api.ts";
import type { MysqlContext } from "./spec.ts";
import { discoverStreams } from "./streams.ts";

type Row = (string | null)[];

/** A server with so many tables, which says of itself that it has `told`. */
function serverOf(tableCount: number, countedTables = tableCount) {
  const asked: string[] = [];
  const names = Array.from({ length: tableCount }, (_, at) => `t${String(at).padStart(4, "0")}`);
  const answer = (sql: string): Row[] => {
    asked.push(sql);
    if (sql.includes("count(*)")) return [[String(countedTables)]];
    if (sql.includes("information_schema.tables"))
      return names.map((name) => [name, "7", "BASE TABLE"]);
    if (sql.includes("information_schema.statistics"))
      return names.map((name) => [name, "id", "PRIMARY", "1", null, "BTREE"]);
    return names.flatMap((name) => [
      [name, "id", "int", "int(11)", "10", "0", "NO", ""],
      [name, "price", "decimal", "decimal(10,2)", "10", "2", "YES", ""],
    ]);
  };
  const client = {
    version: "8.4.0",
    query: async (sql: string) => answer(sql),
    async *rows(sql: string) {
      yield answer(sql).map((row) => row.map((field) => field && Buffer.from(field)));
    },
  };
  return { asked, session: { client, database: "shop" } as unknown as Session };
}

const ctx = {
  config: { include_tables: [], exclude_tables: [], queries: [] },
  log: { warn() {} },
} as unknown as MysqlContext;

async function discover(session: Session): Promise<Stream[]> {
  const streams: Stream[] = [];
  for await (const stream of discoverStreams(ctx, session)) streams.push(stream);
  return streams;
}

test("6,000 tables are listed by four statements", async () => {
  const { asked, session } = serverOf(6_000);
  const streams = await discover(session);
  expect(streams).toHaveLength(6_000);
  expect(streams[5_999]).toMatchObject({
    name: "t5999",
    namespace: "shop",
    primaryKey: ["id"],
    estimatedRows: 7,
    isResumable: true,
  });
  expect(asked).toHaveLength(4);
});

test("6,001 tables are refused before one is listed, and before their columns are asked for", async () => {
  const { asked, session } = serverOf(6_001);
  await expect(discover(session)).rejects.toMatchObject({
    code: "TOO_MANY_TABLES",
    details: { found: 6_001, limit: 6_000, hint: expect.stringContaining("include_tables") },
  });
  expect(asked).toHaveLength(1);
});

test("a server that lists more tables than it has counted is given up", async () => {
  const { session } = serverOf(6_001, 3);
  await expect(discover(session)).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
});
