/** Valid configurations other than the one that the recordings were made with. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject, isSecret } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import { compileSchema } from "../derive/spec/schemas.ts";

export interface ConfigVariant {
  /** "page_size: 100". */
  readonly name: string;
  readonly config: JsonObject;
}

/**
 * Each optional setting left out, at its default, at its limits, at each of its values; one at a
 * time. Texts of no listed value are left alone.
 */
export function configVariants({
  spec,
  config,
}: Pick<Lab, "spec" | "config">): readonly ConfigVariant[] {
  const required = Array.isArray(spec.required) ? spec.required : [];
  const properties = Object.entries(isJsonObject(spec.properties) ? spec.properties : {});
  const variants = properties.flatMap(([name, schema]): ConfigVariant[] => {
    if (!isJsonObject(schema) || isSecret(schema)) return [];
    const { [name]: given, ...without } = config;
    const left =
      given === undefined || required.includes(name)
        ? []
        : [{ name: `without ${name}`, config: without }];
    const values = valuesOf(schema).filter(
      (value) => JSON.stringify(value) !== JSON.stringify(given),
    );
    return [
      ...left,
      ...values.map((value) => ({
        name: `${name}: ${JSON.stringify(value)}`,
        config: { ...config, [name]: value },
      })),
    ];
  });
  try {
    const compiled = compileSchema(spec);
    return variants.filter((one) => compiled.fault(one.config) === undefined);
  } catch {
    return []; // SPEC-02 says what is wrong with the schema
  }
}

function valuesOf({
  type,
  default: standard,
  minimum,
  maximum,
  enum: listed,
}: JsonObject): JsonValue[] {
  const values = [
    standard,
    minimum,
    maximum,
    ...(Array.isArray(listed) ? listed : []),
    ...(type === "boolean" ? [true, false] : []),
  ];
  const texts = values.flatMap((value) => (value === undefined ? [] : [JSON.stringify(value)]));
  return [...new Set(texts)].map((text) => JSON.parse(text) as JsonValue);
}
