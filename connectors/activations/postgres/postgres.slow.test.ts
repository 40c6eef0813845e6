import {
  createActivationHost,
  findActivationConnector,
  type RowBatch,
  type RowOperation,
} from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";

describe("rows of a PostgreSQL table", () => {
  let server: PostgresServer;
  let database: PostgresDatabase;
  const host = createActivationHost({ settings: { allowNetworks: ["127.0.0.1/32"] } });
  const reference = findActivationConnector("postgres");

  beforeAll(async () => {
    server = await startPostgres();
    database = await server.createDatabase();
    await database.query(`
      CREATE SCHEMA "Sales $x";
      CREATE TABLE people (
        email text PRIMARY KEY, name text NOT NULL DEFAULT '-', age smallint CHECK (age > 0), tags text[], facts jsonb, note text,
        must text, upper_name text GENERATED ALWAYS AS (upper(name)) STORED);
      CREATE TABLE "Sales $x"."Order ""s""" ("Id" bigint PRIMARY KEY, "select" numeric NOT NULL, late date NOT NULL);
      CREATE TABLE events (at timestamptz, what text CHECK (what <> 'bad'));
      CREATE TABLE deferred (id int PRIMARY KEY, other int UNIQUE DEFERRABLE INITIALLY DEFERRED);
      CREATE ROLE reader LOGIN PASSWORD 'reader-password';
      GRANT SELECT ON people TO reader`);
  });
  afterAll(() => server?.stop());

  const config = (rest: object = {}) => ({
    host: server.host,
    port: server.port,
    database: database.name,
    username: "postgres",
    password: server.password,
    ssl_mode: "disable",
    ...rest,
  });
  async function* all(batches: readonly RowBatch[]) {
    yield* batches;
  }
  let count = 0;
  /** Writes one batch. */
  const write = async (
    object: string,
    operation: RowOperation,
    rows: RowBatch["rows"],
    identifier?: string,
    id = `batch-${++count}`,
  ) => {
    const command = {
      owner: "act_1",
      object,
      operation,
      ...(identifier === undefined ? {} : { identifier }),
    };
    const results = [];
    for await (const result of host.write(reference, config(), command, all([{ id, rows }])))
      results.push(result);
    expect(results).toHaveLength(1);
    return results[0]?.failed ?? [];
  };
  const added = (key: string, fields: object) => ({
    key,
    change: "added" as const,
    fields: fields as never,
  });
  const people = () => database.query("SELECT email, name, age, note FROM people ORDER BY email");

  test("are described with their columns, and by what they can be found", async () => {
    const objects = await host.objects(reference, config());
    expect(objects.map(({ name }) => name)).toEqual([
      'Sales $x.Order "s"',
      "public.deferred",
      "public.events",
      "public.people",
    ]);
    const [found] = await host.objects(reference, config(), "people");
    expect(found?.fields.find(({ name }) => name === "email")).toEqual({
      name: "email",
      type: "text",
      isRequired: true,
      isIdentifier: true,
    });
    expect(found?.fields.map(({ name }) => name)).not.toContain("upper_name");
    expect(objects.find(({ name }) => name === "public.events")?.operations).toEqual([
      "insert",
      "append",
    ]);
    expect(
      objects
        .find(({ name }) => name === "public.deferred")
        ?.fields.find(({ name }) => name === "other")?.isIdentifier,
    ).toBe(false);
  });

  test("are upserted without touching what is not mapped, with the types of their columns", async () => {
    await database.query(
      "INSERT INTO people (email, name, note, must) VALUES ('ada@x.org', 'Old', 'kept', 'kept')",
    );
    const failed = await write(
      "people",
      "upsert",
      [
        added("1", {
          email: "ada@x.org",
          name: "Ada",
          age: 36,
          tags: ["a", "b"],
          facts: { deep: [1] },
        }),
        added("2", { email: "bea@x.org", name: "Bea", age: "41", tags: null, facts: null }),
      ],
      "email",
    );
    expect(failed).toEqual([]);
    expect(await people()).toEqual([
      { email: "ada@x.org", name: "Ada", age: 36, note: "kept" },
      { email: "bea@x.org", name: "Bea", age: 41, note: null },
    ]);
    const [ada] = await database.query(
      "SELECT tags, facts, must FROM people WHERE email = 'ada@x.org'",
    );
    expect(ada).toEqual({ tags: ["a", "b"], facts: { deep: [1] }, must: "kept" });
    const again = [
      added("1", { email: "ada@x.org", name: "Ada 2" }),
      { key: "2", change: "removed" as const, fields: { email: "bea@x.org" } },
    ];
    expect(await write("people", "mirror", again, "email")).toEqual([]);
    expect(await people()).toEqual([{ email: "ada@x.org", name: "Ada 2", age: 36, note: "kept" }]);
  });

  test("that cannot be written are told one by one, and the others are written", async () => {
    await database.query("DELETE FROM people");
    const rows = Array.from({ length: 40 }, (_, index) =>
      added(`${index}`, {
        email: `p${index}@x.org`,
        age: index === 7 ? -1 : index === 23 ? "many" : index + 1,
      }),
    );
    const failed = await write("people", "upsert", rows, "email");
    expect(failed).toEqual([
      { key: "7", reason: "constraint_violated", word: "sqlstate_23514" },
      { key: "23", reason: "value_invalid", word: "sqlstate_22p02" },
    ]);
    expect(await people()).toHaveLength(38);
    const updated = await write(
      "people",
      "update",
      [
        added("1", { email: "p1@x.org", note: "seen" }),
        added("x", { email: "nobody@x.org", note: "seen" }),
      ],
      "email",
    );
    expect(updated).toEqual([{ key: "x", reason: "row_not_found" }]);
  });

  test("of tables and columns with hostile names", async () => {
    const object = 'Sales $x.Order "s"';
    expect(
      await write(
        object,
        "upsert",
        [added("1", { Id: "9007199254740993", select: "1.10", late: "2026-02-03" })],
        "Id",
      ),
    ).toEqual([]);
    // The row is there: an update of one column needs no value for the others.
    expect(
      await write(object, "upsert", [added("1", { Id: "9007199254740993", select: "2.20" })], "Id"),
    ).toEqual([]);
    expect(
      await database.query(
        `SELECT "Id"::text, "select"::text, late::text FROM "Sales $x"."Order ""s"""`,
      ),
    ).toEqual([{ Id: "9007199254740993", select: "2.20", late: "2026-02-03" }]);
  });

  test("that are appended come once for each batch id, failed ones with the same result", async () => {
    const rows = [
      added("1", { at: "2026-01-01T00:00:00Z", what: "seen" }),
      added("2", { at: "2026-01-01T00:00:00Z", what: "bad" }),
    ];
    const first = await write("events", "append", rows, undefined, "same");
    expect(first).toEqual([{ key: "2", reason: "constraint_violated", word: "sqlstate_23514" }]);
    expect(await write("events", "append", rows, undefined, "same")).toEqual(first);
    expect(await database.query("SELECT what FROM events")).toEqual([{ what: "seen" }]);
    await write("events", "append", rows, undefined, "other");
    expect(await database.query("SELECT what FROM events")).toHaveLength(2);
  });

  test("that break a deferred rule fail with their row, not with the batch", async () => {
    const rows = [
      added("1", { id: 1, other: 5 }),
      added("2", { id: 2, other: 5 }),
      added("3", { id: 3, other: 6 }),
    ];
    expect(await write("deferred", "upsert", rows, "id")).toEqual([
      { key: "2", reason: "row_exists", word: "sqlstate_23505" },
    ]);
    expect(await database.query("SELECT id FROM deferred ORDER BY id")).toEqual([
      { id: 1 },
      { id: 3 },
    ]);
  });

  test("are left alone when the transaction breaks in the middle", async () => {
    await database.query(
      "DELETE FROM people; CREATE OR REPLACE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.name = 'cut' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$; CREATE TRIGGER cut BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION cut()",
    );
    await expect(
      write(
        "people",
        "upsert",
        [
          added("1", { email: "a@x.org", name: "a" }),
          added("2", { email: "b@x.org", name: "cut" }),
        ],
        "email",
      ),
    ).rejects.toMatchObject({ kind: "transient" });
    expect(await people()).toEqual([]);
    await database.query("DROP TRIGGER cut ON people");
  });

  test("need rights, and a table that is there; no error tells more than that", async () => {
    const reader = config({ username: "reader", password: "reader-password" });
    expect(await host.check(reference, reader)).toMatchObject({
      status: "failed",
      error: { code: "DATABASE_UNUSABLE" },
    });
    expect(
      await host.check(reference, config({ password: "wrong-password-of-nobody" })),
    ).toMatchObject({
      status: "failed",
      error: { code: "CREDENTIALS_REJECTED" },
    });
    await expect(write("gone", "append", [added("1", { a: 1 })])).rejects.toMatchObject({
      code: "RESOURCE_NOT_FOUND",
    });
    expect(await host.check(reference, config())).toEqual({ status: "succeeded" });
  });
});
