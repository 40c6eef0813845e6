import type { JsonObject } from "svc-connectors";
import { defineRule } from "../contract/rule.ts";
import { textEvidence } from "../evidence.ts";
import { specProperties } from "./spec-properties.ts";

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
  async run(lab, look) {
    for (const { path, schema } of specProperties(lab.spec)) {
      look.at(path);
      for (const name of ["title", "description"] as const) {
        const text = schema[name];
        if (typeof text !== "string" || text.trim() === "")
          look.fail(`The setting ${path} has no ${name}.`, textEvidence("Its schema", JSON.stringify(schema, null, 2)));
      }
    }
    for (const { path, schema } of [{ path: "the spec", schema: lab.spec }, ...specProperties(lab.spec)]) {
      const required = Array.isArray(schema.required) ? schema.required : [];
      const properties = (schema.properties ?? {}) as JsonObject;
      for (const name of required) {
        look.at(`${path}: required ${String(name)}`);
        if (!Object.hasOwn(properties, String(name)))
          look.fail(`${path} requires "${String(name)}", which is no property: it has ${Object.keys(properties).join(", ")}.`, textEvidence("required", JSON.stringify(required)));
      }
    }
  },
});
