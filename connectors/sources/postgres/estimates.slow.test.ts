import { expect, test } from "vitest";
import { findPostgres, startPostgres } from "../../../simulators/postgres-server.ts";
import { createPostgresRun } from "../../../tests/postgres-run.ts";

test.skipIf(findPostgres() === undefined)(
  "discover gives the rows that the server last counted, of a partitioned table those of its parts, and none where it never counted",
  async () => {
    await using server = await startPostgres({ settings: { autovacuum: "off" } });
    const database = await server.createDatabase();
    await database.query(`
      CREATE TABLE counted (id int); INSERT INTO counted SELECT generate_series(1, 3000);
      CREATE TABLE parts (id int) PARTITION BY RANGE (id);
      CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
      CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
      INSERT INTO parts SELECT generate_series(0, 1499);
      CREATE MATERIALIZED VIEW material AS SELECT * FROM counted WHERE id <= 700;
      ANALYZE;
      CREATE TABLE new_one (id int); INSERT INTO new_one VALUES (1);
      CREATE VIEW seen AS SELECT * FROM counted`);
    const login = { username: "postgres", password: server.password };
    await using run = createPostgresRun(server, database, login, {});
    const found: Record<string, number | undefined> = {};
    for await (const { name, estimatedRows } of run.discover()) found[name] = estimatedRows;
    expect(found).toEqual({
      counted: 3000,
      material: 700,
      new_one: undefined,
      parts: 1500,
      seen: undefined,
    });
  },
);
