import type { JsonObject, JsonValue } from "svc-connectors";

export interface SpecProperty {
  /** Dotted: "credentials.api_token". */
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** Every property of a spec at any depth, also inside the alternatives of oneOf, anyOf and allOf; constants that tell alternatives apart are left out. */
export function specProperties(spec: JsonObject, prefix = ""): SpecProperty[] {
  const required = Array.isArray(spec.required) ? spec.required : [];
  const own = Object.entries((spec.properties ?? {}) as { [name: string]: JsonValue }).flatMap(([name, schema]) => {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema) || Object.hasOwn(schema, "const")) return [];
    const path = prefix === "" ? name : `${prefix}.${name}`;
    return [{ path, schema, isRequired: required.includes(name) }, ...specProperties(schema, path)];
  });
  const alternatives = [spec.oneOf, spec.anyOf, spec.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...own, ...alternatives.flatMap((one) => specProperties(one as JsonObject, prefix))];
}
