import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import mailer from "../connectors/sources/mailer/index.ts";
import postgres from "../connectors/sources/postgres/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../runtime/contract/json.ts";
import { createValidator, digestOf, metaschema, ownSchemas } from "../runtime/spec/validation.ts";
import { describeSource } from "../runtime/worker/load.ts";

type Validators = Readonly<
  Record<string, ((value: unknown) => boolean) & { readonly errors?: readonly object[] | null }>
>;

test("what the build compiles finds the same faults, and fills in the same defaults, as what is compiled at a start", async () => {
  // Rolldown is native: whoever runs one test of these pays for it.
  const { compileValidators } = await import("../build/validators.ts");
  const code = await compileValidators();
  const { compiledAhead } = (await import(
    `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`
  )) as { readonly compiledAhead: Validators };
  expect(Object.keys(compiledAhead).toSorted()).toEqual(
    [metaschema, ...ownSchemas.map(digestOf)].toSorted(),
  );
  const atStart = createValidator();
  const whole = [mailer, postgres].map(
    (source) => JSON.parse(JSON.stringify(describeSource(source))) as JsonObject,
  );
  const documents = [
    ...variants([stream]),
    ...variants({ streams: [{ stream, sync_mode: "full_refresh", primary_key: [["id"]] }] }),
    ...whole.flatMap(({ spec, egress, ...rest }) => [
      ...variants({ ...rest, spec: { type: "object" }, egress: {} }),
      ...variants(egress as JsonValue),
      ...variants(spec as JsonValue),
    ]),
  ];
  const verdicts = new Set<boolean>();
  const different = documents.filter((document) => {
    const isSame = ownSchemas.every((schema) => {
      const validate = atStart.compile(schema);
      const ahead = compiledAhead[digestOf(schema)];
      const [before, after] = [structuredClone(document), structuredClone(document)];
      const isValid = validate(before);
      verdicts.add(isValid);
      return (
        ahead?.(after) === isValid &&
        isDeepStrictEqual(ahead.errors, validate.errors) &&
        isDeepStrictEqual(after, before)
      );
    });
    if (!isSame || !isJsonObject(document)) return !isSame;
    const isSchema = atStart.validateSchema(document);
    const ahead = compiledAhead[metaschema];
    return ahead?.(document) !== isSchema || !isDeepStrictEqual(ahead.errors, atStart.errors);
  });
  expect(different).toEqual([]);
  expect(verdicts.size).toBe(2);
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
