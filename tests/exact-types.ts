/** Values of every PostgreSQL type, for docs/types.md and its test. */

/** How two texts of one value may differ: each form has its own way to be compared. */
export type ValueForm = "number" | "instant" | "interval" | "bytes" | "json" | "text";

export interface TypeCase {
  /** As a column is declared. */
  readonly type: string;
  /** Why these values are tried. */
  readonly about?: string;
  /** SQL, cast to the type. */
  readonly values: readonly string[];
  readonly form: ValueForm;
  /** The expected texts, where they are not those that PostgreSQL shows, or `to_json` gives. */
  readonly becomes?: readonly string[];
}

export interface TypeFamily {
  readonly title: string;
  readonly cases: readonly TypeCase[];
}

const literals = (...texts: string[]) => texts.map((text) => `'${text.replaceAll("'", "''")}'`);
const numbers = (type: string, ...texts: string[]): TypeCase => ({
  type,
  values: literals(...texts),
  form: "number",
});
const instants = (type: string, about: string, ...texts: string[]): TypeCase => ({
  type,
  ...(about === "" ? {} : { about }),
  values: literals(...texts),
  form: "instant",
});
const texts = (type: string, ...values: string[]): TypeCase => ({
  type,
  values: literals(...values),
  form: "text",
});
const json = (type: string, ...values: string[]): TypeCase => ({
  ...texts(type, ...values),
  form: "json",
});

/** Statements that make the types of the cases. */
export const typesSql = `
  CREATE EXTENSION IF NOT EXISTS hstore;
  CREATE EXTENSION IF NOT EXISTS citext;
  CREATE EXTENSION IF NOT EXISTS ltree;
  CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy');
  CREATE TYPE address AS (street text, "number" int8);
  CREATE DOMAIN positive AS int4 CHECK (VALUE > 0);
  CREATE DOMAIN price AS numeric(12, 2);
  CREATE DOMAIN marks AS int4[] CHECK (cardinality(VALUE) < 9);
  CREATE DOMAIN feeling AS mood;
`;

const nines = (count: number) => "9".repeat(count);

export const typeFamilies: readonly TypeFamily[] = [
  {
    title: "Numbers",
    cases: [
      numbers("int2", "-32768", "32767"),
      numbers("int4", "-2147483648", "2147483647"),
      numbers("int8", "-9223372036854775808", "9223372036854775807"),
      numbers("oid", "0", "4294967295"),
      numbers("positive", "1", "2147483647"),
      numbers("float4", "0.1", "16777216", "-3.4028235e+38", "1e-45"),
      { ...numbers("float4", "NaN", "Infinity", "-Infinity"), about: "not finite" },
      numbers("float8", "0.1", "1e-300", "-1.7976931348623157e+308", "5e-324"),
      { ...numbers("float8", "NaN", "Infinity", "-Infinity"), about: "not finite" },
      numbers("numeric(12,2)", "0.10", "-9999999999.99"),
      numbers("price", "9999999999.99"),
      numbers("numeric(18,6)", "-999999999999.999999"),
      numbers("numeric(38,10)", `${nines(28)}.${nines(10)}`),
      numbers("numeric(50,20)", `-${nines(30)}.${nines(20)}`),
      numbers("numeric(5,0)", "-99999"),
      numbers("numeric(30,0)", nines(30)),
      numbers("numeric(3,-2)", "-99900"),
      numbers("numeric(2,4)", "0.0099"),
      { ...numbers("numeric(12,2)", "NaN"), about: "not finite" },
      { ...numbers("numeric(12,0)", "NaN"), about: "not finite" },
      numbers("numeric", "0", "1.50", "-12345678901234567890.123456789"),
      { ...numbers("numeric", `${nines(40)}.${nines(40)}`, "1e-60"), about: "beyond 38 digits" },
      { ...numbers("numeric", "NaN", "Infinity", "-Infinity"), about: "not finite" },
      { ...numbers("numeric", "NaN", "1.50"), about: "one of them not finite" },
      { ...numbers("float8", "NaN", "1.5"), about: "one of them not finite" },
      texts("money", "-92233720368547758.08", "12.34"),
    ],
  },
  {
    title: "Dates and times",
    cases: [
      instants("date", "", "1970-01-01", "0001-01-01", "9999-12-31"),
      instants("date", "before Christ", "0044-03-15 BC", "4713-01-01 BC"),
      instants("date", "beyond 9999", "10000-01-01", "5874897-12-31"),
      instants("date", "endless", "infinity", "-infinity"),
      instants(
        "timestamp",
        "",
        "2024-02-29 23:59:59.123456",
        "0001-01-01 00:00:00",
        "9999-12-31 23:59:59.999999",
      ),
      instants("timestamp", "before Christ", "0044-03-15 12:00:00 BC", "4713-01-01 00:00:00 BC"),
      instants("timestamp", "beyond 9999", "10000-01-01 00:00:00", "294246-12-31 23:59:59.999999"),
      instants("timestamp", "endless", "infinity", "-infinity"),
      instants(
        "timestamptz",
        "",
        "2024-03-31 02:30:00.123456+02",
        "0001-01-01 00:00:00+00",
        "9999-12-31 23:59:59.999999+00",
      ),
      instants("timestamptz", "before Christ", "0044-03-15 12:00:00+00 BC"),
      instants("timestamptz", "beyond 9999", "10000-01-01 00:00:00+00"),
      instants("timestamptz", "endless", "infinity", "-infinity"),
      instants("time", "", "00:00:00", "23:59:59.999999", "24:00:00"),
      texts("timetz", "12:34:56.789012+05:30", "24:00:00-08"),
      {
        ...texts(
          "interval",
          "1 year 2 mons 3 days 04:05:06.789012",
          "-178000000 years",
          "-00:00:00.000001",
          "00:00:00",
        ),
        form: "interval",
      },
    ],
  },
  {
    title: "The last years of PostgreSQL, and values beside them in the same rows",
    cases: [
      instants("timestamp", "the last year", "294276-12-31 23:59:59.999999"),
      instants("timestamptz", "beside it", "infinity"),
      { ...numbers("float8", "NaN"), about: "beside it" },
    ],
  },
  {
    title: "Texts and bytes",
    cases: [
      texts("text", "", "ä € 😀 \\ \" '", "line\nline\ttab"),
      texts("varchar(5)", "abc"),
      texts("char(4)", "ab"),
      texts("name", "a_name"),
      texts('"char"', "x"),
      texts("citext", "CaSe"),
      texts("mood", "very happy"),
      texts("feeling", "very happy"),
      texts("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
      { type: "bytea", values: ["'\\xdeadbeef00ff'", "''"], form: "bytes" },
      texts("bit(4)", "1010"),
      texts("bit varying", "0", "10101010101"),
      { ...texts("bit varying", "", "1"), about: "one of them empty" },
      texts("xml", '<a b="1">text</a>'),
      texts("tsvector", "'fat':2 'cat':3A"),
      texts("tsquery", "fat & ( rat | !cat )"),
      texts("ltree", "Top.Science.Astronomy"),
    ],
  },
  {
    title: "JSON",
    cases: [
      json(
        "json",
        '{"b": 9223372036854775807, "a": [1.10, 1e40, 0.1234567890123456789]}',
        '"\\u00e9 \\/ \\ud83d\\ude00 \\n"',
        "null",
        "true",
      ),
      json(
        "jsonb",
        '{"b": 9223372036854775807, "a": [1.10, 0.1234567890123456789]}',
        '"\\u00e9 \\/ \\n"',
        "null",
        "12345678901234567890",
      ),
      {
        type: "hstore",
        values: [`'"key" => "value", "none" => NULL'`],
        form: "text",
      },
    ],
  },
  {
    title: "Arrays",
    cases: [
      { type: "int2[]", values: ["'{-32768,NULL,32767}'", "'{}'"], form: "json" },
      { type: "int8[]", values: ["'{9223372036854775807,-9223372036854775808}'"], form: "json" },
      { type: "int4[][]", values: ["'{{1,2},{3,NULL}}'"], form: "json" },
      { type: "float8[]", values: ["'{0.1,NaN,Infinity}'"], form: "json" },
      { type: "numeric(30,10)[]", values: ["'{12345678901234567890.0123456789}'"], form: "json" },
      { type: "bool[]", values: ["'{t,f,NULL}'"], form: "json" },
      { type: "text[]", values: [`ARRAY['a','b "c" \\ ,',NULL,'']`], form: "json" },
      {
        type: "timestamptz[]",
        values: ["'{2024-01-01 00:00:00.123456+00}'"],
        form: "json",
        becomes: ['["2024-01-01T00:00:00.123456Z"]'],
      },
      { type: "timestamp[]", values: ["'{2024-01-01 00:00:00.123456,infinity}'"], form: "json" },
      { type: "date[]", values: ["'{2024-01-01}'"], form: "json" },
      { type: "uuid[]", values: ["'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'"], form: "json" },
      { type: "bytea[]", values: [`'{"\\\\xdead"}'`], form: "json", becomes: ['["3q0="]'] },
      {
        type: "jsonb[]",
        values: [`ARRAY['{"n": 9223372036854775807}', 'null', NULL]::jsonb[]`],
        form: "json",
      },
      { type: "json[]", values: [`ARRAY['{"n": 1.10}', NULL]::json[]`], form: "json" },
      { type: "time[]", values: ["'{12:34:56.789012,24:00:00}'"], form: "json" },
      {
        type: "interval[]",
        values: ["'{1 day,-00:00:01}'"],
        form: "json",
        becomes: ['["P1D","PT-1S"]'],
      },
      { type: "inet[]", values: ["'{192.168.1.5,10.0.0.0/8}'"], form: "json" },
      { type: "marks", values: ["'{1,NULL,3}'"], form: "json", becomes: ["[1,null,3]"] },
      { type: "mood[]", values: ["'{sad,\"very happy\"}'"], form: "json" },
      {
        type: "address[]",
        values: [`ARRAY[ROW('Main St', 12)::address]`],
        form: "json",
        becomes: ['["(\\"Main St\\",12)"]'],
      },
      { type: "int4range[]", values: [`'{"[1,5)"}'`], form: "json" },
      { type: "box[]", values: ["'{(2,2),(1,1);(4,4),(3,3)}'"], form: "json" },
    ],
  },
  {
    title: "Composites and ranges",
    cases: [
      { type: "address", values: ["ROW('Main \"St\"', 9223372036854775807)"], form: "text" },
      texts("int4range", "[1,5)", "empty", "(,)"),
      texts("int8range", "[-9223372036854775808,0)"),
      texts("numrange", "[1.5,2.50]"),
      texts("tstzrange", '["2024-01-01 00:00:00+00",)'),
      texts("daterange", "[2024-01-01,2024-02-01)"),
      texts("int4multirange", "{[1,3),[5,9)}"),
      texts("datemultirange", "{}"),
    ],
  },
  {
    title: "Networks, geometry and identifiers",
    cases: [
      texts("inet", "192.168.1.5", "10.0.0.0/8", "::1/128"),
      texts("cidr", "192.168.0.0/16"),
      texts("macaddr", "08:00:2b:01:02:03"),
      texts("macaddr8", "08:00:2b:01:02:03:04:05"),
      texts("point", "(1.5,-0.1)"),
      texts("line", "{1,-1,0}"),
      texts("lseg", "[(0,0),(1,1)]"),
      texts("box", "(2,2),(1,1)"),
      texts("path", "((0,0),(1,1),(2,0))"),
      texts("polygon", "((0,0),(1,1),(2,0))"),
      texts("circle", "<(1,2),3.5>"),
      texts("pg_lsn", "16/B374D848"),
      texts("xid", "4294967295"),
      texts("xid8", "18446744073709551615"),
      texts("tid", "(1,2)"),
      texts("regclass", "pg_class"),
      texts("jsonpath", '$."a"[*]?(@ > 1)'),
    ],
  },
  {
    title: "Booleans",
    cases: [{ type: "bool", values: ["true", "false"], form: "text" }],
  },
];
