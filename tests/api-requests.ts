/**
 * Requests that an OpenAPI document allows, and requests that it does not, as fast-check makes
 * them.
 */
import fc from "fast-check";
import { type Described, type DescribedOperation, operationsOf, type Schema } from "./openapi.ts";

/** Stands for a value that an earlier answer has given under this name. */
export interface FromAnswers {
  readonly fromAnswers: string;
  readonly index: number;
}

export interface ApiRequest {
  readonly method: string;
  /** Pattern of the document. */
  readonly path: string;
  readonly operation: DescribedOperation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** A value, or the very text. */
  readonly body: { readonly value: unknown } | { readonly text: string } | undefined;
  readonly token: string;
}

const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "null",
    "0",
    "-1",
    "1e999",
    "true",
    "../../x",
    "%00",
    "..%2f",
    "a\u0000b",
    "\ud800",
    "\u202egnp",
    "a\r\nX-B: c",
    "' OR 1=1 --",
    "'; DROP TABLE sources; --",
    "{{7*7}}",
    `$${"{jndi:ldap://x}"}`,
    "<script>alert(1)</script>",
    "__proto__",
    "constructor",
    "ch_",
    `ch_${"0".repeat(36)}`,
    "source:mailer",
    "source:",
    "*",
    "%",
    "_",
    "\\",
    "é".repeat(300),
    "x".repeat(5_000),
    "2026-02-30T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
    "-271821-04-20T00:00:00.000Z",
    "http://127.0.0.1/api",
    "https://mail.example.com:444/api",
  ),
  fc.string({ unit: "binary", maxLength: 60 }),
);

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 53,
    -(2 ** 31),
    1e300,
    [],
    {},
    [[[[]]]],
    [null],
    {
      a: { b: null },
    },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const hostileBody = fc.constantFrom(
  "",
  " ",
  "{",
  "[]",
  "null",
  "0",
  '"text"',
  "{}{}",
  '{"a":1,"a":2}',
  '{"__proto__":{"role":"admin"}}',
  `${"[".repeat(40)}${"]".repeat(40)}`,
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"limit":1e999}',
  '{"limit":123456789012345678901234567890}',
  "\ufeff{}",
  "{'a':1}",
);

/**
 * Values of a schema; now and then something else. `name` is the property's, for values of earlier
 * answers.
 */
function valuesOf(schema: Schema, name: string, isTame: boolean): fc.Arbitrary<unknown> {
  const valid = validOf(schema, name, isTame);
  return isTame
    ? valid
    : fc.oneof({ weight: 24, arbitrary: valid }, { weight: 1, arbitrary: hostile });
}

function validOf(schema: Schema, name: string, isTame: boolean): fc.Arbitrary<unknown> {
  const { type, enum: words, const: only, anyOf, oneOf } = schema as { [keyword: string]: unknown };
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(words)) return fc.constantFrom(...words);
  const choices = (anyOf ?? oneOf) as Schema[] | undefined;
  if (choices) return fc.oneof(...choices.map((choice) => valuesOf(choice, name, isTame)));
  if (type === "object") return objectOf(schema, name, isTame);
  if (type === "array") {
    return fc.array(valuesOf((schema.items ?? {}) as Schema, name.replace(/s$/, ""), isTame), {
      maxLength: 3,
    });
  }
  if (type === "boolean") return fc.boolean();
  if (type === "integer" || type === "number") {
    const { minimum = 0, maximum = 100 } = schema as { minimum?: number; maximum?: number };
    return fc.integer({ min: minimum, max: Math.max(minimum, maximum) });
  }
  if (type === "null") return fc.constant(null);
  return textOf(schema, name);
}

function textOf(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const known = fc.nat(50).map((index): FromAnswers => ({ fromAnswers: name, index }));
  if (schema.format === "date-time") {
    const times = fc.date({
      min: new Date("2026-01-01"),
      max: new Date("2027-12-31"),
      noInvalidDate: true,
    });
    return times.map((time) => time.toISOString());
  }
  const { maxLength = 40, minLength = 0 } = schema as { maxLength?: number; minLength?: number };
  const own = fc.string({
    unit: "grapheme-ascii",
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, 40)),
  });
  return fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: own });
}

function objectOf(schema: Schema, name: string, isTame: boolean): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  if (Object.keys(properties).length === 0) {
    // Settings: what connectors ask for, by names that earlier answers have told.
    const known = fc.nat(50).map((index): FromAnswers => ({ fromAnswers: `{${name}}`, index }));
    const wild = fc.dictionary(fc.string({ maxLength: 12 }), hostile, { maxKeys: 4 });
    return isTame
      ? known
      : fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: wild });
  }
  const required = (schema.required ?? []) as string[];
  const parts = Object.fromEntries(
    Object.entries(properties).map(([part, of]) => [part, valuesOf(of, part, isTame)]),
  ) as Record<string, fc.Arbitrary<unknown>>;
  const whole = fc.record(parts, { requiredKeys: required, noNullPrototype: true });
  if (isTame) return whole;
  const less = fc.record(parts, { requiredKeys: [], noNullPrototype: true });
  const more = fc
    .tuple(whole, fc.string({ maxLength: 20 }), hostile)
    .map(([one, key, value]) => ({ ...one, [key]: value }));
  return fc.oneof(
    { weight: 12, arbitrary: whole },
    { weight: 1, arbitrary: less },
    { weight: 1, arbitrary: more },
  );
}

const headerOf = (
  name: string,
  schema: Schema,
): fc.Arbitrary<readonly (readonly [string, string])[]> => {
  const text = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 });
  const words = schema.enum as string[] | undefined;
  const valid =
    name === "Idempotency-Key"
      ? fc.constantFrom("a", "b", "c")
      : name === "If-Match"
        ? fc.constantFrom('"v1"', '"v2"', "*")
        : text;
  const value = fc.oneof(
    { weight: 8, arbitrary: words ? fc.constantFrom(...words) : valid },
    { weight: 1, arbitrary: text },
  );
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: value.map((one) => [[name.toLowerCase(), one.trim() || "x"]] as const),
    },
  );
};

interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

/** @param isTame what the document says, in everything but the values */
function requestOf(
  { path, method, operation }: Endpoint,
  isTame: boolean,
): fc.Arbitrary<ApiRequest> {
  const { parameters, requestBody } = operation;
  const part = (place: "path" | "query", requiredKeys: string[]) => {
    const named = parameters.filter((one) => one.in === place);
    const values = named.map(({ name, schema }) => [name, valuesOf(schema, name, isTame)] as const);
    return fc.record(Object.fromEntries(values), { requiredKeys, noNullPrototype: true });
  };
  const wildQuery = fc.dictionary(fc.string({ maxLength: 12 }), hostileText, { maxKeys: 3 });
  const schema = requestBody?.content["application/json"].schema;
  const value = schema && valuesOf(schema, "body", isTame).map((one) => ({ value: one }));
  const headers = parameters
    .filter((one) => one.in === "header")
    .map((one) => headerOf(one.name, one.schema));
  return fc.record<ApiRequest>({
    method: fc.constant(method),
    path: fc.constant(path),
    operation: fc.constant(operation),
    params: part(
      "path",
      parameters.filter((one) => one.in === "path").map(({ name }) => name),
    ),
    query: isTame ? part("query", []) : mostly(part("query", []), wildQuery),
    headers: fc.tuple(...headers).map((lists) => Object.fromEntries(lists.flat())),
    body: !value
      ? fc.constant(undefined)
      : isTame
        ? value
        : mostly(
            value,
            hostileBody.map((text) => ({ text })),
          ),
    token: fc.constantFrom(
      ...Array<string>(20).fill("admin"),
      "editor",
      "runner",
      "viewer",
      "agent",
      "foreign",
      "none",
      "wrong",
    ),
  });
}

const mostly = <T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>): fc.Arbitrary<T | U> =>
  fc.oneof<fc.WeightedArbitrary<T | U>[]>(
    { weight: 11, arbitrary: usual },
    { weight: 1, arbitrary: rare },
  );

/** Requests of all operations of a document, half of them tame. */
export const requestsOf = (document: Described): fc.Arbitrary<ApiRequest> =>
  fc.oneof(
    ...operationsOf(document).flatMap((one) => [requestOf(one, true), requestOf(one, false)]),
  );

/**
 * Each operation `rounds` times as an administrator would ask for it, so that there is something
 * that can be asked about.
 */
export function prelude(document: Described, rounds: number, seed: number): ApiRequest[] {
  const every = operationsOf(document).map((one) =>
    fc.sample(requestOf(one, true), { numRuns: rounds, seed }),
  );
  return Array.from({ length: rounds }, (_, round) =>
    every.flatMap((requests) => requests[round] ?? []),
  )
    .flat()
    .map((request) => ({ ...request, query: {}, headers: {}, token: "admin" }));
}
