import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import { type Described, describeStream } from "../../../tests/destination-behaviour.ts";
import { openPostgresPlace, type PostgresPlace } from "../../../tests/postgres-place.ts";

const text = (postgresql: string) => ({
  type: ["string", "null"],
  native_type: { postgresql },
});
const array = (postgresql: string) => ({
  type: ["array", "null"],
  items: {},
  native_type: { postgresql },
});
const integer = { type: "integer" };

describe.skipIf(findPostgres() === undefined)("types that only PostgreSQL has", () => {
  let server: PostgresServer;
  let place: PostgresPlace;
  beforeAll(async () => {
    server = await startPostgres();
    place = await openPostgresPlace(server);
  });
  afterAll(async () => {
    await place?.close();
    await server?.stop();
  });

  let fence = 0;

  /** One job: each group of rows is followed by a checkpoint. */
  async function write(
    name: string,
    schema: Record<string, object>,
    groups: readonly (readonly object[])[],
    described: Described = {},
  ): Promise<void> {
    const stream = describeStream(schema, { name, ...described });
    const command = { owner: name, jobId: `job_${++fence}`, fence, streams: [stream] };
    const sink = await place.write(command);
    await sink.status({ name }, "started");
    for (const [index, rows] of groups.entries()) {
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      await sink.write({ name }, Buffer.from(lines), rows.length);
      await sink.checkpoint({ name }, { at: index }, rows.length);
    }
    await sink.status({ name }, "complete");
    await sink.close();
  }

  const rowsOf = (name: string, columns: string) =>
    place.sql(`SELECT ${columns} FROM "_svc_${name}" ORDER BY _svc_id`);
  const typesOf = async (name: string) =>
    Object.fromEntries(
      await place.sql(
        `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
         WHERE attrelid = '"_svc_${name}"'::regclass AND attnum > 0 AND attname NOT LIKE '\\_svc%'`,
      ),
    );

  test("texts and arrays become the types that they had in their source", async () => {
    const schema = { id: integer, v: text("inet"), w: text("interval"), many: array("bigint[]") };
    await write("plain", schema, [
      [
        {
          id: 1,
          v: "10.0.0.0/8",
          w: "P1Y2M3DT4H5M6.789012S",
          many: [
            [1, null],
            [3, 4],
          ],
        },
      ],
      [{ id: 2, v: null, w: null, many: null }],
    ]);
    expect(await typesOf("plain")).toEqual({
      id: "bigint",
      v: "inet",
      w: "interval",
      many: "bigint[]",
    });
    expect(await rowsOf("plain", "v, justify_days(w), many[2][2]")).toEqual([
      ["10.0.0.0/8", "1 year 2 mons 3 days 04:05:06.789012", "4"],
      [null, null, null],
    ]);
  });

  test("rows that replace others of their key bring them too", async () => {
    const schema = { id: integer, v: text("int4range"), tags: array("text[]") };
    const described = { into: "append_dedup", key: ["id"] } as const;
    await write("merged", schema, [[{ id: 1, v: "[1,5)", tags: ["a"] }]], described);
    await write("merged", schema, [[{ id: 1, v: "empty", tags: ["b", null] }]], described);
    expect(await rowsOf("merged", "v, tags")).toEqual([["empty", "{b,NULL}"]]);
    expect(await typesOf("merged")).toMatchObject({ v: "int4range", tags: "text[]" });
  });

  test("a column with a value that its type does not have holds texts or JSON from then on; others stay", async () => {
    const schema = { v: text("inet"), w: text("cidr"), few: array("integer[]") };
    await write("misfit", schema, [[{ v: "::1", w: "10.0.0.0/8", few: [1] }]]);
    await write("misfit", schema, [
      [{ v: "elsewhere", w: "10.0.0.0/9", few: [2] }],
      [{ v: "::2", w: "::/0", few: [[1], 2] }],
    ]);
    expect(await typesOf("misfit")).toEqual({ v: "text", w: "cidr", few: "jsonb" });
    expect(await rowsOf("misfit", "v, w, few")).toEqual([
      ["::1/128", "10.0.0.0/8", "[1]"],
      ["elsewhere", "10.0.0.0/9", "[2]"],
      ["::2", "::/0", "[[1], 2]"],
    ]);
  });

  test("a table that held texts goes on so, and one whose source says no type any more too", async () => {
    const [known, unknown] = [{ v: text("interval") }, { v: { type: ["string", "null"] } }];
    await write("before", unknown, [[{ v: "PT1S" }]]);
    await write("before", known, [[{ v: "PT2S" }]]);
    expect([await typesOf("before"), await rowsOf("before", "v")]).toEqual([
      { v: "text" },
      [["PT1S"], ["PT2S"]],
    ]);
    await write("after", known, [[{ v: "P1DT1S" }]]);
    await write("after", unknown, [[{ v: "PT2S" }]]);
    expect([await typesOf("after"), await rowsOf("after", "v")]).toEqual([
      { v: "text" },
      [["P1DT1S"], ["PT2S"]],
    ]);
  });

  test("a full refresh brings them where a view keeps the table in its place", async () => {
    const schema = { v: text("inet"), many: array("uuid[]") };
    const described = { mode: "full_refresh", into: "overwrite" } as const;
    const id = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
    await write("seen", schema, [[{ v: "::1", many: [id] }]], described);
    await place.sql("CREATE VIEW shown AS SELECT v, many FROM _svc_seen");
    await write("seen", schema, [[{ v: "::2", many: [] }]], described);
    expect(await place.sql("SELECT v, many FROM shown")).toEqual([["::2", "{}"]]);
    expect(await typesOf("seen")).toEqual({ v: "inet", many: "uuid[]" });
  });

  test("more arrays than a function of PostgreSQL takes arguments arrive", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `a${index}`);
    const schema = Object.fromEntries(names.map((name) => [name, array("smallint[]")]));
    const row = Object.fromEntries(names.map((name, index) => [name, [index]]));
    await write("wide", schema, [[row]]);
    expect(await rowsOf("wide", "a0[1] + a49[1], a50[1] + a119[1]")).toEqual([["49", "169"]]);
  });

  test.each([
    "inet; DROP TABLE _svc_plain",
    "mood",
    "INET",
    "text",
    "inet[]",
  ])("a type that is not known, such as %s, is none", async (name) => {
    const own = `other_${++fence}`;
    await write(own, { v: text(name) }, [[{ v: "anything" }]]);
    expect(await typesOf(own)).toEqual({ v: "text" });
  });
});
