import { Type } from "typebox";
import { expect, test } from "vitest";
import { createLineWriter } from "../../../fixtures/written-rows.ts";
import type { JsonSchema } from "../../contract/json.ts";
import type { Row } from "../../contract/output.ts";
import type { LineFormat } from "../../contract/sink.ts";
import { Nullable, Timestamp } from "../../contract/spec.ts";
import { parseExact, rawJson } from "../../wire/exact-json.ts";
import type { RecordStream } from "./writer.ts";

const properties = (members: Record<string, unknown>): JsonSchema => ({
  type: "object",
  properties: members,
});

/** The one line of a row as it leaves the host, without its line end. */
function line(
  schema: RecordStream["schema"],
  row: Row,
  options: Partial<RecordStream> = {},
  format: LineFormat = "rows",
): string {
  const stream = { name: "people", schema, ...options };
  const text = createLineWriter(stream, format).write([row]);
  expect(text.endsWith("\n")).toBe(true);
  return text.slice(0, -1);
}

/** The row and the noted fields. */
function written(schema: RecordStream["schema"], row: Row) {
  const { _svc_meta: meta, ...data } = JSON.parse(line(schema, row));
  return { data, nulled: ((meta?.changes ?? []) as { field: string }[]).map(({ field }) => field) };
}

test("a row becomes an Airbyte RECORD message in one line", () => {
  const schema = Type.Object({ id: Type.Integer(), name: Type.String() });
  expect(line(schema, { id: 1, name: 'Zoë "\n"' }, { namespace: "crm" }, "airbyte")).toBe(
    '{"type":"RECORD","record":{"stream":"people","namespace":"crm","data":{"id":1,"name":"Zoë \\"\\n\\""},"emitted_at":1700000000000}}',
  );
});

test("a value of another type is written as null and noted in the words of the protocol", () => {
  const schema = Type.Object({ id: Type.Integer(), name: Type.String() });
  const change =
    '{"changes":[{"field":"name","change":"NULLED","reason":"SOURCE_SERIALIZATION_ERROR"}]}';
  expect(line(schema, { id: 1, name: 2 }, {}, "airbyte")).toBe(
    `{"type":"RECORD","record":{"stream":"people","data":{"id":1,"name":null},"emitted_at":1700000000000,"meta":${change}}}`,
  );
  expect(line(schema, { id: 1, name: 2 })).toBe(`{"id":1,"name":null,"_svc_meta":${change}}`);
});

test("notes belong to their row only, and the count goes on", () => {
  const { writer, write } = createLineWriter({
    name: "s",
    schema: properties({ a: { type: "string" } }),
  });
  const lines = write([{ a: 1 }, { a: "x" }, { a: 2 }]).split("\n");
  expect(lines.map((text) => text.includes("_svc_meta"))).toEqual([true, false, true, false]);
  expect(writer.nulledCount).toBe(2);
  write([{ a: 3 }]);
  expect(writer.nulledCount).toBe(3);
});

test("only declared properties leave, at any depth, and what was left out is known by name", () => {
  const schema = Type.Object({
    id: Type.Integer(),
    owner: Type.Object({ name: Type.String() }),
    list: Type.Array(Type.Object({ a: Type.Integer() })),
  });
  const { writer, write } = createLineWriter({ name: "s", schema });
  const row = { id: 1, token: "t", owner: { name: "n", password: "p" }, list: [{ a: 1, b: 2 }] };
  expect(write([row, row])).toBe(`${'{"id":1,"owner":{"name":"n"},"list":[{"a":1}]}\n'.repeat(2)}`);
  expect([...writer.droppedFields].sort()).toEqual(["b", "password", "token"]);
});

test("left-out properties are found in whichever row they first appear, and at most 100 names are kept", () => {
  const { writer, write } = createLineWriter({ name: "s", schema: properties({ a: {} }) });
  write([{ a: 1 }, { a: 1 }, { a: 1, b: 2 }, { c: 3 }]);
  expect([...writer.droppedFields]).toEqual(["b", "c"]);
  write([Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`, 1]))]);
  expect(writer.droppedFields.size).toBe(100);
});

test("only selected properties leave, besides the primary key and the cursor", () => {
  const schema = Type.Object({
    id: Type.Integer(),
    at: Timestamp(),
    name: Type.String(),
    email: Type.String(),
  });
  const row = { id: 1, at: "2024-01-01T00:00:00Z", name: "n", email: "e" };
  const options = { selectedFields: ["name"], primaryKey: ["id"], cursorField: "at" };
  expect(line(schema, row, options)).toBe('{"id":1,"at":"2024-01-01T00:00:00Z","name":"n"}');
  const { writer, write } = createLineWriter({ name: "s", schema, ...options });
  write([row]);
  expect(writer.droppedFields.size).toBe(0);
});

test("a row without its primary key or cursor is an error that shows no value", () => {
  const schema = Type.Object({ id: Type.Integer(), at: Nullable(Type.String()) });
  const options = { primaryKey: ["id"], cursorField: "at" };
  const problemOf = (row: Row) => {
    try {
      return line(schema, row, options);
    } catch (error) {
      const { code, details } = error as { code: string; details: object };
      return [code, details];
    }
  };
  const invalid = (problem: string) => ["RECORD_INVALID", { stream: "people", problem }];
  expect(problemOf({ at: "x" })).toEqual(invalid('primary key "id" is missing'));
  expect(problemOf({ id: null, at: "x" })).toEqual(invalid('primary key "id" is null'));
  expect(problemOf({ id: "sk-123", at: "x" })).toEqual(
    invalid('primary key "id" does not fit its schema'),
  );
  expect(problemOf({ id: 1, at: null })).toEqual(invalid('cursor "at" is null'));
  expect(problemOf({ id: 1 })).toEqual(invalid('cursor "at" is missing'));
  expect(problemOf({ id: 1, at: "x" })).toBe('{"id":1,"at":"x"}');
});

test("after a row that failed, the next batch starts clean", () => {
  const schema = properties({
    id: { type: "integer" },
    a: { type: "string" },
    at: { type: "string" },
  });
  const { write } = createLineWriter({
    name: "s",
    schema,
    primaryKey: ["id"],
    cursorField: "at",
  });
  expect(() => write([{ id: 1, a: 1 }])).toThrowError(
    expect.objectContaining({ code: "RECORD_INVALID" }),
  );
  expect(write([{ id: 2, a: "x", at: "t" }])).toBe('{"id":2,"a":"x","at":"t"}\n');
});

test("a key of which a part does not fit is an error, too", () => {
  const schema = properties({ id: { type: "array", items: { type: "integer" } } });
  expect(line(schema, { id: [1, 2] }, { primaryKey: ["id"] })).toBe('{"id":[1,2]}');
  expect(() => line(schema, { id: [1, "2"] }, { primaryKey: ["id"] })).toThrowError(
    expect.objectContaining({ code: "RECORD_INVALID" }),
  );
});

test("a full refresh needs no cursor", () => {
  const schema = Type.Object({ id: Type.Integer(), at: Nullable(Type.String()) });
  expect(line(schema, { id: 1, at: null }, { cursorField: "at", syncMode: "full_refresh" })).toBe(
    '{"id":1,"at":null}',
  );
});

test("a missing optional property is left out; a missing required one is null, noted unless it may be null", () => {
  const schema = Type.Object({
    optional: Type.Optional(Type.String()),
    nullable: Nullable(Type.String()),
    required: Type.String(),
    inner: Type.Object({ a: Nullable(Type.Integer()), b: Type.Integer() }),
  });
  const { data, nulled } = written(schema, { inner: {} });
  expect(data).toEqual({ nullable: null, required: null, inner: { a: null, b: null } });
  expect(nulled.sort()).toEqual(["inner.b", "required"]);
  expect(
    written(schema, { optional: null, nullable: null, required: "r", inner: { a: 1, b: 1 } })
      .nulled,
  ).toEqual(["optional"]);
});

test("exact numbers are written digit by digit", () => {
  const schema = properties({ n: { type: "number" }, i: { type: "integer" }, any: {} });
  const cases: [Row, string][] = [
    [
      { n: -5n, i: 9223372036854775807n, any: 12345678901234567890n },
      '{"n":-5,"i":9223372036854775807,"any":12345678901234567890}',
    ],
    [
      { n: rawJson("0.100000000000000000001"), i: rawJson("1.0"), any: rawJson("1e400") },
      '{"n":0.100000000000000000001,"i":1.0,"any":1e400}',
    ],
    [{ n: -0, i: -0, any: -0 }, '{"n":-0,"i":-0,"any":-0}'],
    [{ n: 0, i: 1.0, any: 1e21 }, '{"n":0,"i":1,"any":1e+21}'],
  ];
  for (const [row, text] of cases) expect(line(schema, row)).toBe(text);
});

test("raw JSON that is no number is what it says", () => {
  const schema = properties({ n: { type: "number" }, s: { type: "string" }, any: {} });
  expect(
    written(schema, { n: rawJson('"1"'), s: rawJson('"text"'), any: rawJson("true") }),
  ).toEqual({
    data: { n: null, s: "text", any: true },
    nulled: ["n"],
  });
});

test("what parseExact reads, the writer writes back", () => {
  const text =
    '{"id":9007199254740993,"price":0.30000000000000000001,"nested":{"big":[123456789012345678901234567890,1.5e-400]}}';
  expect(
    line(
      properties({ id: { type: "integer" }, price: { type: "number" }, nested: {} }),
      parseExact(text) as Row,
    ),
  ).toBe(text);
});

test("numbers that JSON lacks, and text in place of numbers, are nulled", () => {
  const schema = properties({
    a: { type: "number" },
    b: { type: "integer" },
    c: {},
    d: { type: "integer" },
    e: { type: "number" },
  });
  const { data, nulled } = written(schema, {
    a: Number.NaN,
    b: Number.POSITIVE_INFINITY,
    c: Number.NaN,
    d: 1.5,
    e: "1",
  });
  expect(data).toEqual({ a: null, b: null, c: null, d: null, e: null });
  expect(nulled).toEqual(["a", "b", "c", "d", "e"]);
  expect(written(schema, { b: rawJson("1.5"), d: rawJson("15e-1") }).nulled).toEqual(["b", "d"]);
});

test("a Date is an RFC 3339 text; bytes, maps, class instances and functions are nulled", () => {
  const schema = properties({
    at: { type: "string", format: "date-time" },
    text: { type: "string" },
    any: {},
    day: { type: "string", format: "date" },
  });
  const date = new Date(0);
  expect(written(schema, { at: date, text: date, any: [date] })).toEqual({
    data: {
      at: "1970-01-01T00:00:00.000Z",
      text: "1970-01-01T00:00:00.000Z",
      any: ["1970-01-01T00:00:00.000Z"],
    },
    nulled: [],
  });
  expect(written(schema, { at: new Date(Number.NaN), day: date }).nulled).toEqual(["at", "day"]);
  for (const value of [
    Buffer.from("x"),
    new Uint8Array(2),
    new Map(),
    new (class Money {})(),
    () => 1,
    Symbol("s"),
    Object(1),
  ]) {
    expect(written(schema, { text: value, any: { inner: value } })).toEqual({
      data: { text: null, any: { inner: null } },
      nulled: ["text", "any.inner"],
    });
  }
});

test("a member that does not fit is nulled alone, with its dotted path", () => {
  const schema = properties({
    address: Nullable(
      Type.Object({ zip: Type.String(), geo: Type.Object({ lat: Type.Number() }) }),
    ),
    tags: { type: "array", items: { type: "string" } },
    rows: {
      type: "array",
      items: { type: "object", properties: { n: { type: ["integer", "null"] } } },
    },
    map: { type: "object", additionalProperties: { type: "integer" } },
    pair: Type.Tuple([Type.String(), Type.Integer()]),
  });
  const row = {
    address: { zip: 1, geo: { lat: "x" } },
    tags: ["a", 2],
    rows: [{ n: 1 }, { n: "x" }, 3],
    map: { a: 1, b: "x" },
    pair: [1, 1],
  };
  const { data, nulled } = written(schema, row);
  expect(data).toEqual({
    address: { zip: null, geo: { lat: null } },
    tags: ["a", null],
    rows: [{ n: 1 }, { n: null }, null],
    map: { a: 1, b: null },
    pair: [null, 1],
  });
  expect(nulled).toEqual([
    "address.zip",
    "address.geo.lat",
    "tags.1",
    "rows.1.n",
    "rows.2",
    "map.b",
    "pair.0",
  ]);
});

test("at most 20 notes are written in a row, but every value is counted", () => {
  const { writer, write } = createLineWriter({
    name: "s",
    schema: properties({ list: { type: "array", items: { type: "string" } } }),
  });
  const { _svc_meta: meta } = JSON.parse(write([{ list: Array.from({ length: 50 }, () => 1) }]));
  expect(meta.changes.length).toBe(20);
  expect(writer.nulledCount).toBe(50);
});

test("an object is open only where the schema says so or says nothing, and never at the top", () => {
  const value = { a: 1, b: { c: [true] } };
  const schema = properties({
    any: {},
    yes: true,
    bare: { type: "object" },
    open: { type: "object", properties: { a: { type: "integer" } }, additionalProperties: true },
    closed: { type: "object", properties: { a: { type: "integer" } } },
    empty: Type.Object({}),
    sealed: { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
    record: Type.Record(Type.String({ pattern: "^a" }), Type.Integer()),
  });
  const row = Object.fromEntries(
    [...Object.keys(schema.properties as object), "undeclared"].map((name) => [name, value]),
  );
  expect(written({ ...schema, additionalProperties: true }, row)).toEqual({
    data: {
      any: value,
      yes: value,
      bare: value,
      open: value,
      closed: { a: 1 },
      empty: {},
      sealed: { a: 1 },
      record: { a: 1 },
    },
    nulled: [],
  });
});

test("of several object alternatives the one that keeps the most is written", () => {
  const schema = properties({
    event: Type.Union([
      Type.Object({ type: Type.Literal("open") }),
      Type.Object({ type: Type.Literal("click"), url: Type.String() }),
      Type.Object({ type: Type.String(), detail: Type.String() }),
      Type.Null(),
    ]),
  });
  expect(written(schema, { event: { type: "click", url: "u", secret: 1 } }).data).toEqual({
    event: { type: "click", url: "u" },
  });
  expect(written(schema, { event: { type: "open", detail: "d" } }).data).toEqual({
    event: { type: "open", detail: "d" },
  });
  expect(written(schema, { event: { type: "click" } })).toEqual({
    data: { event: null },
    nulled: ["event"],
  });
});

test("allOf is one object of all its parts", () => {
  const parts = [
    Type.Object({ a: Type.String() }),
    Type.Object({ a: Type.String({ maxLength: 2 }), b: Type.Optional(Type.Number()) }),
  ];
  const schema = { allOf: parts };
  expect(written(schema, { a: "xy", b: 1, c: 1 })).toEqual({ data: { a: "xy", b: 1 }, nulled: [] });
  expect(written(schema, { a: "xyz" })).toEqual({ data: { a: null }, nulled: ["a"] });
});

test("names are data, never code: quotes, line ends, __proto__ and the like", () => {
  const names = [
    '"',
    "\\",
    "'`$",
    "\n\u2028",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "ключ",
    "\ud800",
    "a.b",
    "*/",
    "0",
  ];
  const members = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const row = Object.fromEntries(names.map((name) => [name, name]));
  const { data, nulled } = written(properties(members), row);
  expect(nulled).toEqual([]);
  expect(Object.keys(data).sort()).toEqual([...names].sort());
  for (const name of names) expect(data[name]).toBe(name.toWellFormed());
  expect(written(properties(members), {}).data).toEqual({});
  expect(written({ ...properties(members), required: names }, {}).nulled.length).toBe(names.length);
  expect(
    line({ ...properties(members) }, row, { name: '"};throw 1;//', namespace: "\n`" }, "airbyte"),
  ).toContain('"};throw 1;//'.slice(1));
});

test("only a row's own properties are written", () => {
  const inherited = Object.create({ id: 1 });
  expect(() => line(properties({ id: {} }), inherited)).toThrowError(
    expect.objectContaining({ code: "RECORD_INVALID" }),
  );
  expect(line(properties({ id: {} }), Object.assign(Object.create(null), { id: 1 }))).toBe(
    '{"id":1}',
  );
});

test("what is no plain object is no row", () => {
  for (const row of [null, undefined, 1, "x", [], new Date(), new Map(), rawJson("1")]) {
    expect(() => line(properties({ id: {} }), row as unknown as Row)).toThrowError(
      expect.objectContaining({ code: "RECORD_INVALID" }),
    );
  }
});

test("code of a value is never called", () => {
  const toJSON = () => {
    throw new Error("called");
  };
  expect(
    written(properties({ a: {}, b: { type: "object", properties: { x: {} } } }), {
      a: { toJSON },
      b: { x: 1, toJSON },
    }).nulled,
  ).toEqual(["a.toJSON"]);
});

test("control characters are escaped, halves of surrogate pairs replaced, except within JSON", () => {
  const text = "\u0000\u001f\ud800x\udfff 😀 \u2028é";
  expect(line(properties({ a: { type: "string" }, b: {} }), { a: text, b: text })).toBe(
    `{"a":${JSON.stringify(text.toWellFormed())},"b":${JSON.stringify(text)}}`,
  );
});

test("halves of a pair in neighbouring rows stay apart", () => {
  const { write } = createLineWriter({
    name: "s",
    schema: properties({ a: { type: "string" } }),
  });
  const values = ["ab", "\ud83d", "\ude00", "", "é😀", "\ude00", "x"];
  const lines = write(values.map((a) => ({ a })))
    .trim()
    .split("\n");
  expect(lines.map((text) => JSON.parse(text).a)).toEqual(values.map((a) => a.toWellFormed()));
});

test("cycles and nesting beyond 200 are refused; 199 levels are written", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const list: unknown[] = [];
  list.push(list, list);
  const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  for (const value of [cycle, list, nested(201)]) {
    for (const schema of [
      {},
      { type: "array", items: {} },
      { anyOf: [{ type: "object" }, { type: "array", maxItems: 9 }] },
    ]) {
      const row = { a: Array.isArray(value) ? value : [value] };
      expect(() => line(properties({ a: schema }), row)).toThrowError(
        expect.objectContaining({ code: "RECORD_INVALID" }),
      );
    }
  }
  expect(line(properties({ a: {} }), { a: nested(199) }).length).toBeGreaterThan(398);
});

test("a line over 16 MiB is refused, counted in UTF-8", () => {
  const schema = properties({ a: { type: "string" }, b: {} });
  const limit = 16 * 1024 * 1024;
  const around = '{"a":""}\n'.length;
  expect(line(schema, { a: "é".repeat((limit - around - 1) / 2) }).length).toBeGreaterThan(0);
  const tooLarge = expect.objectContaining({
    code: "RECORD_TOO_LARGE",
    details: { stream: "people", limit },
  });
  expect(() => line(schema, { a: "é".repeat(limit / 2) })).toThrowError(tooLarge);
  let shared: unknown = "x".repeat(1000);
  for (let level = 0; level < 60; level++) shared = [shared, shared];
  expect(() => line(schema, { b: shared })).toThrowError(tooLarge);
});

test("a schema that cannot be honoured is refused with its place", () => {
  const refused: [Record<string, unknown>, string][] = [
    [{ contains: {} }, "schema/properties/a"],
    [{ type: "bigint" }, "schema/properties/a"],
    [{ pattern: "(" }, "schema/properties/a"],
    [{ anyOf: [{ if: {} }] }, "schema/properties/a/anyOf/0"],
    [{ $ref: "#/$defs/missing" }, "schema/properties/a"],
    [{ $ref: "https://example.com/schema" }, "schema/properties/a"],
    [{ minLength: "1" }, "schema/properties/a"],
  ];
  for (const [schema, path] of refused) {
    expect(() => line(properties({ a: schema }), {})).toThrowError(
      expect.objectContaining({
        code: "CONNECTOR_INVALID",
        details: expect.objectContaining({ path }),
      }),
    );
  }
  const recursive = { type: "object", properties: { children: { $ref: "#" } } };
  for (const schema of [
    recursive,
    { type: "string" },
    { anyOf: [properties({ a: {} }), properties({ b: {} })] },
    properties({ _svc_meta: {} }),
  ]) {
    expect(() => line(schema, {})).toThrowError(
      expect.objectContaining({ code: "CONNECTOR_INVALID" }),
    );
  }
  expect(() => line(properties({ a: {} }), {}, { primaryKey: ["id"] })).toThrowError(
    expect.objectContaining({ code: "CONNECTOR_INVALID" }),
  );
});

test("definitions are followed", () => {
  const schema = {
    ...properties({ a: { $ref: "#/$defs/money" } }),
    $defs: { money: { type: "object", properties: { amount: { type: "integer" } } } },
  };
  expect(written(schema, { a: { amount: 1, x: 1 } }).data).toEqual({ a: { amount: 1 } });
});

test("a table of 1,600 columns is written whole", () => {
  const names = Array.from({ length: 1600 }, (_, index) => `column_${index}`);
  for (const required of [names, []]) {
    const schema = {
      ...properties(Object.fromEntries(names.map((name) => [name, { type: ["integer", "null"] }]))),
      required,
    };
    const row = Object.fromEntries(names.map((name, index) => [name, index % 5 ? index : null]));
    expect(written(schema, row)).toEqual({ data: row, nulled: [] });
  }
});

test("an object's size is judged by what is written of it", () => {
  const member = { type: "object", properties: { a: { type: "integer" } }, minProperties: 1 };
  expect(written(properties({ m: member }), { m: { a: 1, x: 1 } })).toEqual({
    data: { m: { a: 1 } },
    nulled: [],
  });
  expect(written(properties({ m: member }), { m: { x: 1 } })).toEqual({
    data: { m: null },
    nulled: ["m"],
  });
  const few = { type: "object", additionalProperties: { type: "integer" }, maxProperties: 1 };
  expect(written(properties({ m: few }), { m: { x: 1, y: 2 } })).toEqual({
    data: { m: null },
    nulled: ["m"],
  });
});

test("what an object with name patterns leaves out is known by name, too", () => {
  const schema = properties({
    m: { type: "object", patternProperties: { "^x_": { type: "integer" } } },
  });
  const { writer, write } = createLineWriter({ name: "s", schema });
  expect(write([{ m: { x_a: 1, token: "t" } }])).toBe('{"m":{"x_a":1}}\n');
  expect([...writer.droppedFields]).toEqual(["token"]);
});
