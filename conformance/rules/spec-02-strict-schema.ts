import type { JsonValue } from "svc-connectors";
import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { pathOf, subschemas } from "../derive/spec/properties.ts";
import { type CompiledSchema, compileSchema } from "../derive/spec/schemas.ts";

export default defineRule({
  id: "SPEC-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "The spec is a valid JSON Schema that a strict validator accepts, refers to nothing outside, and its defaults and examples fit it.",
  why: "A misspelt keyword constrains nothing, so that wrong settings get through. A default or example that the schema itself refuses sends every user who trusts it into an error.",
  fix: "Compile the schema strictly (ajv, strict: true) while you write it; put shared parts into $defs; make defaults and examples fit their own type, range and pattern.",
  good: 'page_size: { type: "integer", minimum: 1, maximum: 100, default: 50 }',
  bad: 'page_size: { type: "integer", minimun: 1, maximum: 100, default: "50" }',
  needsProvider: false,
  async run(lab, report) {
    const schemas = subschemas(lab.spec);
    report.checked("the spec");
    const remote = schemas.flatMap(({ pointer, schema }) =>
      ["$ref", "$dynamicRef"].flatMap((name) => {
        const target = schema[name];
        return typeof target === "string" && !target.startsWith("#")
          ? [{ pointer, name, target }]
          : [];
      }),
    );
    for (const { pointer, name, target } of remote)
      report.fail(
        `${pathOf(pointer)} refers to "${target}" (${name}), which lies outside the spec: copy it into $defs.`,
        textEvidence("Where", pointer || "/"),
      );
    if (remote.length > 0) return;

    let compiled: CompiledSchema;
    try {
      compiled = compileSchema(lab.spec);
    } catch (error) {
      report.fail(
        `The spec is no JSON Schema that can be compiled strictly: ${error instanceof Error ? error.message : String(error)}.`,
        textEvidence("The spec", JSON.stringify(lab.spec, null, 2)),
      );
      return;
    }
    for (const { pointer, schema } of schemas) {
      const { examples, example } = schema;
      const shown: readonly (readonly [string, JsonValue])[] = [
        ...(schema.default === undefined ? [] : [["default", schema.default] as const]),
        ...(example === undefined ? [] : [["example", example] as const]),
        ...(Array.isArray(examples)
          ? examples.map((one, index) => [`example ${index + 1}`, one] as const)
          : []),
      ];
      for (const [name, value] of shown) {
        report.checked(`${pathOf(pointer)}: ${name}`);
        const fault = compiled.fault(value, pointer);
        if (fault !== undefined)
          report.fail(
            `The ${name} of ${pathOf(pointer)} does not fit its own schema: ${fault}.`,
            textEvidence(name, JSON.stringify(value)),
            textEvidence("Its schema", JSON.stringify(schema, null, 2)),
          );
      }
    }
  },
});
