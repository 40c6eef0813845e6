import { readdir } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import mailer from "../connectors/sources/mailer/index.ts";
import postgres from "../connectors/sources/postgres/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../runtime/contract/json.ts";
import type { Source } from "../runtime/contract/source.ts";
import { createValidator, digestOf, metaschema, ownSchemas } from "../runtime/spec/validation.ts";
import { describeSource } from "../runtime/worker/load.ts";

type Validators = Readonly<
  Record<string, ((value: unknown) => boolean) & { readonly errors?: readonly object[] | null }>
>;

test("no settings or state of svc's own connectors take long to validate: nobody watches that", async () => {
  const { schemasOf } = await import("../build/validators.ts");
  const folder = new URL("../connectors/sources/", import.meta.url);
  const sources: { readonly default: Source }[] = await Promise.all(
    (await readdir(folder)).map((name) => import(new URL(`${name}/index.ts`, folder).href)),
  );
  const parts = sources.flatMap((one) => schemasOf(one.default)).flatMap(partsOf);
  const patterns = parts.flatMap(({ pattern }) => (typeof pattern === "string" ? [pattern] : []));
  expect(patterns.length).toBeGreaterThan(5);
  // A group that repeats and ends with what repeats, a choice that repeats, a reference back.
  const slow = /[*+}]\)[*+{]|\|[^()]*\)[*+{]|\\[1-9]/;
  expect(patterns.filter((one) => slow.test(one))).toEqual([]);
  // Texts are compared by a table, objects each with each.
  const unique = parts.filter(({ uniqueItems }) => uniqueItems === true);
  expect(unique.length).toBeGreaterThan(0);
  expect(unique.filter(({ items }) => !isJsonObject(items) || items.type !== "string")).toEqual([]);
});

/** The schema, and all objects in it. */
const partsOf = (schema: unknown): readonly JsonObject[] =>
  typeof schema !== "object" || schema === null
    ? []
    : [
        ...(Array.isArray(schema) ? [] : [schema as JsonObject]),
        ...Object.values(schema).flatMap(partsOf),
      ];

test("what the build compiles finds the same faults, and fills in the same defaults, as what is compiled at a start", async () => {
  // Rolldown is native: whoever runs one test of these pays for it.
  const { compileValidators, schemasOf } = await import("../build/validators.ts");
  const schemas = [...ownSchemas, ...[mailer, postgres].flatMap(schemasOf)];
  const code = await compileValidators(schemas);
  const { compiledAhead } = (await import(
    `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`
  )) as { readonly compiledAhead: Validators };
  expect(Object.keys(compiledAhead).toSorted()).toEqual(
    [metaschema, ...new Set(schemas.map(digestOf))].toSorted(),
  );
  const atStart = createValidator();
  const whole = [mailer, postgres].map(
    (source) => JSON.parse(JSON.stringify(describeSource(source))) as JsonObject,
  );
  const documents = [
    ...variants([stream]),
    ...variants({ streams: [{ stream, sync_mode: "full_refresh", primary_key: [["id"]] }] }),
    ...variants(config),
    ...whole.flatMap(({ spec: _, egress, ...rest }) => [
      ...variants({ ...rest, spec: { type: "object" }, egress: {} }),
      ...variants(egress as JsonValue),
    ]),
  ];
  const verdicts = new Map<string, Set<boolean>>();
  const different = documents.filter((document) =>
    schemas.some((schema) => {
      const validate = atStart.compile(schema);
      const digest = digestOf(schema);
      const ahead = compiledAhead[digest];
      const [before, after] = [structuredClone(document), structuredClone(document)];
      const isValid = validate(before);
      verdicts.set(digest, (verdicts.get(digest) ?? new Set()).add(isValid));
      return (
        ahead?.(after) !== isValid ||
        !isDeepStrictEqual(ahead.errors, validate.errors) ||
        !isDeepStrictEqual(after, before)
      );
    }),
  );
  expect(different).toEqual([]);
  const decided = [...verdicts.values()].filter(({ size }) => size === 2);
  expect(decided.length).toBeGreaterThan(ownSchemas.length / 2);

  const isSchema = compiledAhead[metaschema];
  const specs = whole.flatMap(({ spec }) => variants(spec as JsonValue)).filter(isJsonObject);
  const judged = specs.filter((spec) => {
    const isValid = atStart.validateSchema(spec);
    return isSchema?.(spec) === isValid && isDeepStrictEqual(isSchema.errors, atStart.errors);
  });
  expect(judged).toHaveLength(specs.length);
});

/** With all that a stream may say. */
const stream = {
  name: "orders",
  namespace: "public",
  json_schema: { properties: { id: { type: "integer" } } },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: true,
  default_cursor_field: ["id"],
  proposed_cursors: [{ field: "id", finds: "new_rows", is_indexed: true }],
  estimated_rows: 7,
  source_defined_primary_key: [["id"]],
  is_resumable: true,
  supports_row_filter: true,
};

/** Of the source `postgres`. */
const config = {
  host: "db.example.com",
  port: 5432,
  database: "shop",
  username: "reader",
  password: "secret",
  ssl_mode: "verify-full",
};

/** The document, and with each of its parts replaced, left out, or given something unknown. */
function variants(document: JsonValue): JsonValue[] {
  const whole = { document: structuredClone(document) };
  const found: JsonValue[] = [structuredClone(document)];
  const visit = (at: JsonValue) => {
    if (typeof at !== "object" || at === null) return;
    const holder = at as Record<string, JsonValue>;
    for (const name of Object.keys(holder)) {
      const part = holder[name] as JsonValue;
      for (const wrong of [null, 7, "x", { unknown: 1 }]) {
        holder[name] = wrong;
        found.push(structuredClone(whole.document));
      }
      delete holder[name];
      if (!Array.isArray(at)) found.push(structuredClone(whole.document));
      holder[name] = part;
      visit(part);
    }
  };
  visit(whole);
  return found;
}
