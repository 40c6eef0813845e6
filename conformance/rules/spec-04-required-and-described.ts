import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { inlined, specObjects, specProperties } from "../derive/spec/properties.ts";

export default defineRule({
  id: "SPEC-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Every required setting exists, and every setting has a title and a description.",
  why: "A misspelt name in `required` enforces nothing: the missing setting is only noticed in the middle of a sync. A setting without a description is a question to support.",
  fix: "Spell the names in `required` as in `properties`; give each property a title and a description that a user understands.",
  good: 'required: ["api_key"], properties: { api_key: { title: "API key", description: "Settings → API." } }',
  bad: 'required: ["api_kay"], properties: { api_key: { type: "string" } }',
  needsProvider: false,
  async run(lab, report) {
    const spec = inlined(lab.spec);
    // A setting may be declared in one place and narrowed in another (allOf): it needs its texts
    // once.
    const byPath = Map.groupBy(specProperties(spec), ({ path }) => path);
    for (const [path, declared] of byPath) {
      report.checked(path);
      for (const name of ["title", "description"] as const) {
        if (
          declared.some(
            ({ schema }) => typeof schema[name] === "string" && schema[name].trim() !== "",
          )
        )
          continue;
        report.fail(
          `The setting ${path} has no ${name}.`,
          textEvidence("Its schema", JSON.stringify(declared[0]?.schema, null, 2)),
        );
      }
    }
    for (const { path, required, known } of specObjects(spec)) {
      for (const name of required) {
        const owner = path === "" ? "The spec" : path;
        report.checked(`${owner}: required ${name}`);
        if (!known.includes(name))
          report.fail(
            `${owner} requires "${name}", which is no property: it has ${known.join(", ") || "none"}.`,
            textEvidence("required", JSON.stringify(required)),
          );
      }
    }
  },
});
