import fc from "fast-check";
import type { Batch, JsonSchema, SelectedStream } from "svc-connectors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import { createPostgresRun, type PostgresState, toLines } from "../../../tests/postgres-run.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

const open = (database: PostgresDatabase, settings = {}) =>
  createPostgresRun(
    server,
    database,
    { username: "postgres", password: server.password },
    settings,
  );

async function createDatabase(sql: string): Promise<PostgresDatabase> {
  const database = await server.createDatabase();
  await database.query(sql);
  return database;
}

const stream = (schema: JsonSchema = {}): SelectedStream => ({
  name: "t",
  namespace: "public",
  schema,
  syncMode: "full_refresh",
});

async function readTable(database: PostgresDatabase, selected = stream(), settings = {}) {
  await using run = open(database, settings);
  const batches: Batch[] = [];
  const states: PostgresState[] = [];
  for await (const output of run.readBatches(selected)) {
    if (output.type === "batch") batches.push(...output.batches);
    else if (output.type === "checkpoint") states.push(output.state);
  }
  return { batches, states, lines: batches.flatMap(toLines) };
}

async function discoverTable(database: PostgresDatabase): Promise<SelectedStream> {
  await using run = open(database);
  for await (const found of run.discover()) return { ...found, syncMode: "full_refresh" };
  throw new Error("no table");
}

const propertiesOf = ({ schema }: SelectedStream) =>
  schema.properties as Record<string, JsonSchema>;

/** type, value in SQL, JSON that comes out, schema without null, encoding */
const cases: [
  type: string,
  value: string,
  json: string,
  schema?: object | undefined,
  encoding?: string,
][] = [
  [
    "int8",
    "9223372036854775807",
    "9223372036854775807",
    { type: "integer", format: "int64" },
    "int64",
  ],
  ["int8", "-9223372036854775808", "-9223372036854775808"],
  ["int4", "-2147483648", "-2147483648", { type: "integer", format: "int32" }, "int32"],
  ["int2", "-32768", "-32768", { type: "integer", format: "int16" }, "int32"],
  ["oid", "4294967295", "4294967295", { type: "integer" }, "int64"],
  [
    "numeric",
    "'123456789012345678901234567890.123456789012345678901234567890'",
    "123456789012345678901234567890.123456789012345678901234567890",
    { type: "number", airbyte_type: "big_number" },
    "number",
  ],
  ["numeric", "1e-20", "0.00000000000000000001"],
  ["numeric", "'1e40'", `1${"0".repeat(40)}`],
  ["numeric", "0.000", "0.000"],
  ["numeric", "'NaN'", "null"],
  ["numeric", "'-Infinity'", "null"],
  [
    "numeric(10,2)",
    "1.10",
    "1.10",
    { type: "number", airbyte_type: "big_number", precision: 10, scale: 2 },
    "decimal64",
  ],
  ["numeric(18,4)", "-99999999999999.9999", "-99999999999999.9999"],
  ["numeric(18,18)", "0.000000000000000001", "0.000000000000000001"],
  ["numeric(10,2)", "'NaN'", "null", undefined, "number"],
  [
    "numeric(38,10)",
    "-9999999999999999999999999999.9999999999",
    "-9999999999999999999999999999.9999999999",
    undefined,
    "decimal128",
  ],
  ["numeric(50,20)", "1.5", "1.50000000000000000000", undefined, "number"],
  ["numeric(18,0)", "-999999999999999999", "-999999999999999999", { type: "integer" }, "int64"],
  ["numeric(5,-2)", "12345", "12300", { type: "integer" }, "int64"],
  ["numeric(3,5)", "0.00123", "0.00123", undefined, "decimal64"],
  [
    "numeric(38,0)",
    "-99999999999999999999999999999999999999",
    "-99999999999999999999999999999999999999",
    { type: "integer", airbyte_type: "big_integer" },
    "decimal128",
  ],
  ["float8", "0.1", "0.1", { type: "number", format: "double" }, "float64"],
  ["float8", "'1e300'", "1e+300"],
  ["float8", "5e-324", "5e-324"],
  ["float8", "'-0'", "-0"],
  ["float8", "'-Infinity'", "null"],
  ["float8", "'NaN'", "null"],
  ["float4", "0.1", "0.1", { type: "number", format: "float" }, "float64"],
  ["float4", "16777216", "16777216"],
  ["float4", "'1e-45'", "1e-45"],
  ["bool", "true", "true", { type: "boolean" }, "bool"],
  ["bool", "false", "false"],
  [
    "text",
    "E'a \"quoted\" \\\\ line\\n☃ 𝄞'",
    JSON.stringify('a "quoted" \\ line\n☃ 𝄞'),
    { type: "string" },
    "utf8",
  ],
  ["varchar(10)", "''", '""'],
  ["char(4)", "'ab'", '"ab  "'],
  ["name", "'a name'", '"a name"'],
  ['"char"', "'x'", '"x"'],
  ["citext", "'MiXed'", '"MiXed"'],
  [
    "uuid",
    "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
    '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"',
    { type: "string", format: "uuid" },
    "uuid128",
  ],
  [
    "timestamptz",
    "'2026-01-02 03:04:05.123456+05:30'",
    '"2026-01-01T21:34:05.123456Z"',
    { type: "string", format: "date-time", airbyte_type: "timestamp_with_timezone" },
    "timestamp64",
  ],
  ["timestamptz", "'1890-06-01 00:00:00 Europe/Berlin'", '"1890-05-31T23:06:32Z"'],
  ["timestamptz", "'infinity'", "null", undefined, "timestamp64"],
  ["timestamptz", "'-infinity'", "null"],
  [
    "timestamptz",
    "'294276-12-31 23:59:59.999999Z'",
    '"294276-12-31T23:59:59.999999Z"',
    undefined,
    "utf8",
  ],
  ["timestamptz", "'294246-12-31'", "null", undefined, "timestamp64"],
  [
    "timestamp",
    "'2026-01-02 03:04:05.000001'",
    '"2026-01-02T03:04:05.000001"',
    { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
    "timestamp64",
  ],
  ["timestamp", "'0044-03-15 12:00:00 BC'", "null"],
  ["date", "'2024-02-29'", '"2024-02-29"', { type: "string", format: "date" }, "date32"],
  ["date", "'0001-01-01'", '"0001-01-01"'],
  ["date", "'4713-01-01 BC'", "null", undefined, "date32"],
  ["date", "'5874897-12-31'", "null", undefined, "date32"],
  ["date", "'-infinity'", "null"],
  [
    "time",
    "'23:59:59.999999'",
    '"23:59:59.999999"',
    { type: "string", airbyte_type: "time_without_timezone" },
    "time64",
  ],
  ["time", "'24:00'", '"24:00:00"'],
  [
    "timetz",
    "'04:05:06-08'",
    '"04:05:06-08"',
    { type: "string", airbyte_type: "time_with_timezone" },
  ],
  ["interval", "'1 year 2 months -3 days 04:05:06.789'", '"P1Y2M-3DT4H5M6.789S"'],
  [
    "json",
    `'{"a": 12345678901234567890, "b":[1.0000000000000000001,null], "__proto__":{"c":1}}'`,
    '{"a":12345678901234567890,"b":[1.0000000000000000001,null],"__proto__":{"c":1}}',
    {},
    "json",
  ],
  [
    "json",
    `E'{ "\\\\u00e9\\\\/" :\\n[ 1E5 , -0.0,"\\\\u000A\\\\u0001 \\\\"" ] }'`,
    '{"é/":[1E5,-0.0,"\\n\\u0001 \\""]}',
  ],
  ["jsonb", `'"text"'`, '"text"', {}, "json"],
  [
    "jsonb",
    `'{"b": [1, {"a": 9007199254740993}], "": "\\\\ \\t"}'`,
    '{"":"\\\\ \\t","b":[1,{"a":9007199254740993}]}',
  ],
  ["jsonb", "'null'", "null"],
  ["int4[]", "'{1,NULL,3}'", "[1,null,3]", { type: "array", items: {} }, "json"],
  ["int8[]", "'{{9223372036854775807},{2}}'", "[[9223372036854775807],[2]]"],
  ["int4[]", "'[0:1]={5,6}'", "[5,6]"],
  ["float8[]", "'{0.5,NaN,1e300}'", '[0.5,"NaN",1e+300]'],
  ["numeric[]", "'{1.10,-0.00}'", "[1.10,0.00]"],
  ["bool[]", "'{t,f}'", "[true,false]"],
  ["timestamptz[]", "'{2026-01-02 03:04:05.5Z,infinity}'", '["2026-01-02T03:04:05.5Z","infinity"]'],
  ["bytea[]", `'{"\\\\x00ff10"}'`, '["AP8Q"]'],
  [
    "text[]",
    `ARRAY['a,b', '"', E'\\\\', '{', 'NULL', NULL, '', ' x ', E'\\u0001']`,
    JSON.stringify(["a,b", '"', "\\", "{", "NULL", null, "", " x ", "\u0001"]),
  ],
  ["text[]", "'{}'", "[]"],
  ["jsonb[]", `ARRAY['{"a":[1.50]}'::jsonb]`, '[{"a":[1.50]}]'],
  ["box[]", "'{(1,1),(0,0);(3,3),(2,2)}'", '["(1,1),(0,0)","(3,3),(2,2)"]'],
  ["bytea", "'\\x00ff10'", '"AP8Q"', { type: "string", contentEncoding: "base64" }, "binary"],
  ["bytea", "''", '""'],
  ["int4range", "'[1,5)'", '"[1,5)"'],
  ["int4multirange", "'{[1,3),[5,7)}'", '"{[1,3),[5,7)}"'],
  ["mood", "'so so'", '"so so"', { type: "string" }, "utf8"],
  ["mood[]", "'{\"so so\",happy}'", '["so so","happy"]'],
  [
    "price",
    "12.50",
    "12.50",
    { type: "number", airbyte_type: "big_number", precision: 12, scale: 2 },
    "decimal64",
  ],
  ["prices", "'{1.00}'", "[1.00]", { type: "array", items: {} }],
  ["price[]", "'{2.00}'", "[2.00]"],
  ["pair", "ROW(1,'x y')", '"(1,\\"x y\\")"'],
  ["pair", "ROW(NULL,NULL)", '"(,)"'],
  ["inet", "'10.0.0.1'", '"10.0.0.1"', { type: "string" }, "utf8"],
  ["inet", "'10.0.0.1/8'", '"10.0.0.1/8"'],
  ["cidr", "'10.0.0.0/8'", '"10.0.0.0/8"'],
  ["macaddr", "'08:00:2b:01:02:03'", '"08:00:2b:01:02:03"'],
  ["money", "1234.5", '"$1,234.50"'],
  ["tsvector", "'a fat cat'", `"'a' 'cat' 'fat'"`],
  ["bit(3)", "B'101'", '"101"'],
  ["varbit", "B'1'", '"1"'],
  ["xml", "'<a>1</a>'", '"<a>1</a>"'],
  ["point", "'(1.5,2)'", '"(1.5,2)"'],
  ["path", "'[(0,0),(1,1)]'", '"[(0,0),(1,1)]"'],
  ["hstore", `'a=>1, b=>NULL'`, '"\\"a\\"=>\\"1\\", \\"b\\"=>NULL"'],
  ["int2vector", "'1 2'", '"1 2"'],
  ["pg_lsn", "'16/B374D848'", '"16/B374D848"'],
  ["regclass", "'pg_class'", '"pg_class"'],
];

const kinds = `
  CREATE EXTENSION citext; CREATE EXTENSION hstore;
  CREATE TYPE mood AS ENUM ('so so', 'happy');
  CREATE DOMAIN amount AS numeric(12,2); CREATE DOMAIN price AS amount CHECK (VALUE > 0); CREATE DOMAIN prices AS amount[];
  CREATE TYPE pair AS (a int, b text);`;

describe.skipIf(findPostgres() === undefined)("types of PostgreSQL", () => {
  test("every type comes out as it was put in, in the encoding of its kind; null too", async () => {
    const database = await createDatabase(`${kinds}
      CREATE TABLE t (id int PRIMARY KEY, ${cases.map(([type], index) => `c${index} ${type}`).join(", ")});
      INSERT INTO t VALUES (1, ${cases.map(([, value]) => value).join(", ")}); INSERT INTO t (id) VALUES (2)`);
    const selected = await discoverTable(database);
    const { batches, lines } = await readTable(database, selected);
    const texts = [JSON.parse(lines[0] ?? "{}"), JSON.parse(lines[1] ?? "{}")];
    for (const [index, [type, value, json, schema, encoding]] of cases.entries()) {
      const name = `c${index}`;
      expect([type, value, jsonOf(lines[0] ?? "", name)]).toEqual([type, value, json]);
      expect(texts[1][name]).toBeNull();
      const column = batches[0]?.columns.find((one) => one.name === name);
      if (encoding) expect([type, value, column?.encoding]).toEqual([type, value, encoding]);
      if (schema) expect([type, withoutNull(propertiesOf(selected)[name])]).toEqual([type, schema]);
    }
  });

  test("a value that a batch's usual encoding cannot hold changes that batch alone", async () => {
    const database = await createDatabase(`
      CREATE TABLE t (id int PRIMARY KEY, a numeric(10,2), b numeric(30,5), c timestamptz, n numeric(6,0));
      INSERT INTO t SELECT i, i / 10.0, i * 1000000000000.5, '2026-01-01', i FROM generate_series(1, 100) i;
      UPDATE t SET a = 'NaN' WHERE id IN (7, 8, 90); UPDATE t SET b = 'NaN' WHERE id = 8;
      UPDATE t SET c = '294270-01-01' WHERE id = 50; UPDATE t SET n = 'NaN' WHERE id = 60`);
    const { batches, lines } = await readTable(database, stream(), { page_size: 20 });
    expect(batches.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(100);
    const ids = lines.map((line) => JSON.parse(line).id);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    const encodings = batches.map(({ rowCount, columns, notes }) => [
      rowCount,
      columns.slice(1).map(({ encoding }) => encoding),
      notes,
    ]);
    const usual = ["decimal64", "decimal128", "timestamp64", "int64"];
    expect(encodings).toEqual(
      [
        [6, usual, []],
        [1, ["number", "decimal128", "timestamp64", "int64"], []],
        [20, ["number", "number", "timestamp64", "int64"], []],
        [20, usual, []],
        [2, usual, []],
        [20, ["decimal64", "decimal128", "utf8", "int64"], []],
        [20, usual, []],
        [11, ["number", "decimal128", "timestamp64", "int64"], []],
      ].map((expected, index) =>
        index === 5 ? [20, expected[1], [{ row: 10, fields: ["n"] }]] : expected,
      ),
    );
  });

  test("what is read equals the server's own text, for any value", async () => {
    const types = Object.keys(values);
    const rows = 400;
    const samples = types.map((type) => fc.sample(values[type] as fc.Arbitrary<string>, rows));
    const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
    const inserted = Array.from(
      { length: rows },
      (_, row) => `(${row}, ${samples.map((list) => literal(list[row] ?? "")).join(", ")})`,
    );
    const database = await createDatabase(`
      CREATE TABLE t (id int PRIMARY KEY, ${types.map((type, index) => `c${index} ${type}`).join(", ")});
      INSERT INTO t VALUES ${inserted}`);
    const { lines } = await readTable(database);
    const texts = await readTable(
      database,
      stream({
        properties: Object.fromEntries(types.map((_, index) => [`c${index}`, { type: "string" }])),
      }),
    );
    expect(lines).toHaveLength(rows);
    for (const [row, line] of lines.entries()) {
      const own = JSON.parse(texts.lines[row] ?? "{}");
      for (const [index, type] of types.entries()) {
        const name = `c${index}`;
        expect([type, own[name], jsonOf(line, name)]).toEqual([
          type,
          own[name],
          asJson(type, own[name]),
        ]);
      }
    }
  });

  test("the text of a checkpoint is one that the server reads back as the same value", async () => {
    for (const type of [...Object.keys(values).filter((one) => one !== "json"), "inet", "bool"]) {
      const arbitrary =
        values[type] ?? fc.constantFrom(...(type === "bool" ? ["t", "f"] : ["10.0.0.1", "::1/64"]));
      const sample = [...new Set(fc.sample(arbitrary, 30))];
      const database = await createDatabase(`
        CREATE TABLE t (k ${type} PRIMARY KEY, i int);
        INSERT INTO t (k) SELECT v::${type} FROM (VALUES ${sample.map((text) => `('${text.replaceAll("'", "''")}')`)}) s (v) ON CONFLICT DO NOTHING`);
      const { states } = await readTable(database, stream(), { page_size: 1 });
      const texts = states.map((state) => (state?.mode === "full_refresh" ? state.after[0] : ""));
      const listed = texts.map((text, index) => `(${index}, '${text?.replaceAll("'", "''")}')`);
      const [same] = await database.query(`
        SELECT count(*) FILTER (WHERE k = v::${type})::int AS equal, (SELECT count(*)::int FROM t) AS all
        FROM (SELECT k, row_number() OVER (ORDER BY k) - 1 AS at FROM t) t JOIN (VALUES ${listed}) s (at, v) USING (at)`);
      expect([type, same?.equal]).toEqual([type, same?.all]);
      expect(states.length).toBe(same?.all);
    }
  });

  test("a column whose type has changed since discovery is text, JSON, or null and noted", async () => {
    const database = await createDatabase(`
      CREATE TABLE t (id int PRIMARY KEY, a int, b text, c text, d int, gone int);
      INSERT INTO t VALUES (1, 5, 'x', '{"a": 1}', 7, 8), (2, NULL, NULL, NULL, NULL, NULL)`);
    const selected = await discoverTable(database);
    await database.query(`
      ALTER TABLE t ALTER a TYPE text, ALTER b TYPE int USING 6, ALTER c TYPE jsonb USING c::jsonb,
      ALTER d TYPE int8, DROP gone`);
    const properties = { ...propertiesOf(selected), e: {} };
    await database.query("ALTER TABLE t ADD e date; UPDATE t SET e = '2026-01-02'");
    const { lines } = await readTable(database, {
      ...selected,
      schema: { ...selected.schema, properties } as JsonSchema,
    });
    const meta =
      '{"changes":[{"field":"a","change":"NULLED","reason":"SOURCE_SERIALIZATION_ERROR"}]}';
    expect(lines).toEqual([
      `{"id":1,"a":null,"b":"6","c":"{\\"a\\": 1}","d":7,"gone":null,"e":"2026-01-02","_svc_meta":${meta}}`,
      '{"id":2,"a":null,"b":"6","c":null,"d":null,"gone":null,"e":"2026-01-02"}',
    ]);
    await database.query("ALTER TABLE t ALTER id TYPE text");
    await expect(readTable(database, selected)).rejects.toMatchObject({
      code: "RECORD_INVALID",
      details: { stream: "public.t" },
    });
  });
});

/** The JSON text of a property in a line, to the digit. */
function jsonOf(line: string, name: string): string | undefined {
  const found = new RegExp(`[{,]"${name}":(.*?)(?=,"(?:c\\d+|_svc_meta)":|}$)`, "s").exec(line);
  return found?.[1];
}

/** The schema without what tests/exact-types says of all types. */
const withoutNull = ({ native_type: _, ...schema }: JsonSchema = {}) =>
  Array.isArray(schema.type) ? { ...schema, type: schema.type[0] } : schema;

const digits = (most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.bigInt({ min: 0n, max: 10n ** BigInt(most) - 1n }))
    .map(([length, value]) => String(value).slice(0, length) || "0");
const decimal = (whole: number, fraction: number) =>
  fc
    .tuple(fc.constantFrom("", "-"), digits(whole), digits(fraction))
    .map(([sign, one, other]) => `${sign}${one}.${other}`);
const between = (from: string, to: string) =>
  fc
    .bigInt({ min: BigInt(Date.parse(from)) * 1000n, max: BigInt(Date.parse(to)) * 1000n })
    .map((us) => {
      const ms = us >= 0n ? us / 1000n : (us - 999n) / 1000n;
      const micros = String(us - ms * 1000n).padStart(3, "0");
      return new Date(Number(ms)).toISOString().replace("Z", `${micros}Z`);
    });
const instant = between("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z");
const jsonText = fc.json({ maxDepth: 4, stringUnit: "binary" });
const word = fc
  .string({ unit: "grapheme", maxLength: 80 })
  .map((text) => text.replaceAll("\0", "").replaceAll(/[\ud800-\udfff](?![\udc00-\udfff])/g, ""));

const values: Record<string, fc.Arbitrary<string>> = {
  int2: fc.integer({ min: -32_768, max: 32_767 }).map(String),
  int4: fc.integer().map(String),
  int8: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  oid: fc.nat().map(String),
  numeric: decimal(60, 40),
  "numeric(18,4)": decimal(14, 4),
  "numeric(9,9)": decimal(0, 9),
  "numeric(18,0)": decimal(18, 0).map((text) => text.replace(".0", "")),
  "numeric(38,10)": decimal(28, 10),
  "numeric(38,0)": decimal(38, 0).map((text) => text.replace(".0", "")),
  "numeric(8,-3)": digits(10),
  float8: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
  float4: fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
  date: instant.map((text) => text.slice(0, 10)),
  time: fc
    .bigInt({ min: 0n, max: 86_399_999_999n })
    .map(
      (us) =>
        `${us / 3_600_000_000n}:${(us / 60_000_000n) % 60n}:${Number(us % 60_000_000n) / 1e6}`,
    ),
  timestamp: instant,
  timestamptz: instant,
  uuid: fc.uuid(),
  bytea: fc
    .uint8Array({ maxLength: 100 })
    .map((bytes) => `\\x${Buffer.from(bytes).toString("hex")}`),
  text: word,
  jsonb: jsonText.filter((text) => !/\\u(0000|d[89a-f])/i.test(text)),
  json: jsonText.map((text) => JSON.stringify(JSON.parse(text), null, 3)),
};

/** The server's text as JSON. */
function asJson(type: string, text: string): string {
  if (/^(int|oid|numeric)/.test(type)) return text;
  if (type.startsWith("float")) return Object.is(Number(text), -0) ? "-0" : String(Number(text));
  if (type.startsWith("timestamp"))
    return JSON.stringify(text.replace(" ", "T").replace(/\+00$/, "Z"));
  if (type === "bytea") return JSON.stringify(Buffer.from(text.slice(2), "hex").toString("base64"));
  if (type.startsWith("json")) return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
  return JSON.stringify(text);
}
