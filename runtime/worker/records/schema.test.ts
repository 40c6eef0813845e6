import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineWriter, fieldsOf } from "../../../fixtures/written-rows.ts";
import { choose } from "../../../tests/effort.ts";
import type { JsonSchema, JsonValue } from "../../contract/json.ts";
import { isJsonEqual, parseExact } from "../../wire/exact-json.ts";
import { compileRecordWriter } from "./writer.ts";

// The writer's idea of a schema is held to Ajv's.

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  strictTuples: false,
  allowMatchingProperties: true,
  ownProperties: true,
});
addFormats.default(ajv);

const root = (schema: JsonSchema): JsonSchema => ({
  type: "object",
  properties: { value: schema },
  required: ["value"],
});

function write(schema: JsonSchema, value: unknown) {
  const { writer, write } = createLineWriter({ name: "s", schema: root(schema) });
  const { _svc_meta: _, ...data } = JSON.parse(write([{ value }]));
  return { data, nulledCount: writer.nulledCount };
}

function isValid(schema: JsonSchema, data: unknown): boolean {
  const validate = ajv.compile(root(schema));
  const valid = validate(data);
  ajv.removeSchema();
  return valid;
}

const words = [
  "",
  "a",
  "b",
  "ab",
  "abc",
  'a"b',
  "😀😀",
  "2024-02-29",
  "2023-02-29",
  "2024-02-29T10:00:00Z",
  "2024-02-29 10:00:00+01",
  "::1",
  "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
  "https://example.com/a",
  "a@example.com",
  "1",
];
// Not __proto__, toString or constructor: Ajv overlooks the first, and its comparison of objects
// calls the others.
const names = ["a", "b", "c", "isPrototypeOf", "propertyIsEnumerable"];
const small = fc.integer({ min: -3, max: 6 });
// Ajv misjudges multiples beyond 1e21.
const number = fc.oneof(
  small,
  fc.double({ min: -1e20, max: 1e20, noNaN: true }),
  fc.constantFrom(0.5, 1.5, -0, 1e20, 2 ** 53, 2 ** 31),
);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  number,
  fc.constantFrom(...words),
  fc.boolean(),
  fc.constant(null),
);
const anyValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    members(tie("value")),
  ),
})).value;

function members<T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ [key: string]: T }> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((entries) => Object.fromEntries(entries));
}

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** A schema of some of these keywords. */
const keywords = (
  all: { [keyword: string]: fc.Arbitrary<unknown> },
  given: JsonSchema = {},
): fc.Arbitrary<JsonSchema> =>
  fc
    .record(
      Object.fromEntries(Object.entries(all).map(([keyword, value]) => [keyword, optional(value)])),
    )
    .map((found) => ({
      ...given,
      ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
    }));

const textSchema = keywords(
  {
    minLength: fc.nat(3),
    maxLength: fc.nat(4),
    pattern: fc.constantFrom("^a", "b$", "^.$"),
    format: fc.constantFrom("date", "date-time", "uuid", "uri", "ipv6", "email", "time"),
  },
  { type: "string" },
);
const numberSchema = fc.constantFrom("number", "integer").chain((type) =>
  keywords(
    {
      minimum: small,
      maximum: small,
      exclusiveMinimum: small,
      exclusiveMaximum: small,
      multipleOf: fc.constantFrom(1, 2, 0.5),
    },
    { type },
  ),
);
const simpleSchema = fc.oneof(
  textSchema,
  numberSchema,
  fc.constantFrom<JsonSchema>(
    {},
    { type: "string" },
    { type: "boolean" },
    { type: "null" },
    { type: ["string", "null"] },
    { type: ["integer", "boolean"] },
  ),
  fc
    .uniqueArray(scalar, { minLength: 1, maxLength: 4, comparator: isJsonEqual })
    .map((values) => ({ enum: values })),
  scalar.map((value) => ({ const: value })),
);

/** `strange`: with keywords whose meaning depends on properties that a projection leaves out. */
const schemas = (strange: boolean) =>
  fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      simpleSchema,
      keywords(
        {
          items: tie("schema"),
          minItems: fc.nat(2),
          maxItems: fc.nat(4),
          uniqueItems: fc.boolean(),
        },
        { type: "array" },
      ),
      fc
        .array(tie("schema"), { minLength: 1, maxLength: 2 })
        .chain((prefixItems) => keywords({ items: tie("schema") }, { type: "array", prefixItems })),
      members(tie("schema")).chain((properties) =>
        keywords(
          {
            additionalProperties: strange
              ? fc.oneof(fc.boolean(), tie("schema"))
              : fc.oneof(fc.constant(true), tie("schema")),
            ...(strange
              ? {
                  required: fc.subarray(Object.keys(properties)),
                  patternProperties: tie("schema").map((schema) => ({ "^a": schema })),
                }
              : {}),
          },
          { type: "object", properties },
        ),
      ),
      fc.tuple(tie("schema"), fc.constant({ type: "null" })).map((anyOf) => ({ anyOf })),
      fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.tuple(tie("schema"), tie("schema")).map((allOf) => ({ allOf })),
      fc.array(simpleSchema, { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
      simpleSchema.map((not) => ({ not })),
    ),
  })).schema;

/** Values that often fit the schema. */
function valuesFor(schema: JsonSchema): fc.Arbitrary<JsonValue> {
  const parts = [schema.anyOf, schema.allOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as JsonSchema[]) : [],
  );
  const fitting: fc.Arbitrary<JsonValue>[] = parts.map(valuesFor);
  if (Array.isArray(schema.enum)) fitting.push(fc.constantFrom(...(schema.enum as JsonValue[])));
  if ("const" in schema) fitting.push(fc.constant(schema.const as JsonValue));
  if (schema.type === "string") fitting.push(fc.constantFrom(...words));
  if (schema.type === "integer") fitting.push(small);
  if (schema.type === "array")
    fitting.push(fc.array(valuesFor((schema.items ?? {}) as JsonSchema), { maxLength: 4 }));
  if (schema.type === "object") {
    const properties = Object.entries(schema.properties as { [name: string]: JsonSchema });
    const entries = properties.map(([name, member]) =>
      optional(valuesFor(member)).map((value) => [name, value] as const),
    );
    const extra = fc.option(fc.tuple(fc.constantFrom("x", "a1"), scalar), {
      nil: ["x", undefined] as const,
    });
    fitting.push(
      fc
        .tuple(...entries, extra)
        .map(
          (found) =>
            Object.fromEntries(found.filter(([, value]) => value !== undefined)) as JsonValue,
        ),
    );
  }
  return fitting.length === 0
    ? anyValue
    : fc.oneof({ weight: 3, arbitrary: fc.oneof(...fitting) }, { weight: 1, arbitrary: anyValue });
}

const cases = (strange: boolean) =>
  schemas(strange)
    .filter((schema) => !hasRefusedCombination(schema))
    .chain((schema) => valuesFor(schema).map((value) => ({ schema, value })));

/** patternProperties joined with another open object: refused when compiled. */
function hasRefusedCombination(schema: JsonSchema): boolean {
  try {
    const stream = { name: "s", schema: root(schema) };
    compileRecordWriter(stream, fieldsOf(stream));
    return false;
  } catch (error) {
    expect((error as { details: unknown }).details).toMatchObject({
      problem: expect.stringMatching(/^combines/),
    });
    return true;
  }
}

test("property: what is written without a note is valid for Ajv", () => {
  fc.assert(
    fc.property(cases(true), ({ schema, value }) => {
      const { data, nulledCount } = write(schema, value);
      if (nulledCount === 0)
        expect({ data, isValid: isValid(schema, data) }).toEqual({ data, isValid: true });
    }),
    { numRuns: choose({ quick: 300, whole: 1_500 }) },
  );
});

test("property: what Ajv rejects is noted, what it accepts is not", () => {
  fc.assert(
    fc.property(cases(false), ({ schema, value }) => {
      expect(write(schema, value).nulledCount === 0).toBe(
        isValid(schema, { value: JSON.parse(JSON.stringify(value)) }),
      );
    }),
    { numRuns: choose({ quick: 300, whole: 1_500 }) },
  );
});

test("property: an open schema changes nothing that is valid", () => {
  const open = fc.constantFrom<JsonSchema>(
    {},
    { type: ["object", "array", "string", "number", "boolean", "null"] },
    { anyOf: [{ type: "object" }, {}] },
  );
  fc.assert(
    fc.property(open, anyValue, (schema, value) => {
      expect(isJsonEqual(write(schema, value).data.value, value)).toBe(true);
    }),
  );
});

test("property: a number's text goes through unchanged or is noted, at any size", () => {
  const text = fc
    .bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
    .chain((whole) =>
      fc.stringMatching(/^(\.[0-9]{1,20}[1-9])?$/).map((fraction) => `${whole}${fraction}`),
    );
  const schema = fc
    .constantFrom("integer", "number")
    .chain((type) => keywords({ minimum: small, maximum: fc.constantFrom(10, 2 ** 60) }, { type }));
  fc.assert(
    fc.property(text, schema, (source, members) => {
      const value = (parseExact(`[${source}]`) as unknown[])[0];
      const { writer, write } = createLineWriter({ name: "s", schema: root(members) });
      const line = write([{ value }]);
      const fits =
        (members.type === "number" || !source.includes(".")) &&
        Number(source) >= Number(members.minimum ?? -Infinity) &&
        Number(source) <= Number(members.maximum ?? Infinity);
      if (!fits) expect(writer.nulledCount).toBe(1);
      else if (typeof value === "number") expect(JSON.parse(line)).toEqual({ value });
      else expect(line).toBe(`{"value":${source}}\n`);
    }),
  );
});
