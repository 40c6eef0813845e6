/** JSON Schemas as a validator reads them: strictly, in the draft that they name. */
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import type { JsonObject, JsonValue } from "svc-connectors";

/** A schema that can be compiled. */
export interface CompiledSchema {
  /**
   * Describes what is wrong with a value at the schema of that JSON pointer ("" = the whole), as
   * "/page_size must be integer"; undefined = nothing.
   */
  fault(value: JsonValue, pointer?: string): string | undefined;
}

type AnyAjv = Ajv | Ajv2019 | Ajv2020;
const addFormats = formatsPlugin as unknown as (ajv: AnyAjv) => void;

/**
 * Keywords that annotate and do not constrain: of user interfaces, of OpenAPI, of Airbyte's specs.
 * Those that begin with x- or airbyte_ too.
 */
const annotations = [
  "order",
  "multiline",
  "always_show",
  "group",
  "groups",
  "pattern_descriptor",
  "display_type",
  "example",
  "enumNames",
  "min",
  "max",
  "discriminator",
];

/** @throws Error that says what in the schema is wrong */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const { $schema, $id: _, ...rest } = schema;
  const ajv = validatorsFor(typeof $schema === "string" ? $schema : "").reduce<
    AnyAjv | Error | undefined
  >(
    (found, create) => (found && !(found instanceof Error) ? found : tryCompile(create, rest)),
    undefined,
  );
  if (!ajv || ajv instanceof Error)
    throw ajv ?? new Error("it names a draft of JSON Schema that is not known");
  const compiled = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string): ValidateFunction =>
    ajv.compile({ $ref: `${root}#${pointer.split("/").map(encodeURIComponent).join("/")}` });
  return {
    fault(value, pointer = "") {
      const validate = compiled.get(pointer) ?? validatorAt(pointer);
      compiled.set(pointer, validate);
      if (validate(value)) return undefined;
      const error = validate.errors?.[0];
      return `${error?.instancePath ?? ""} ${error?.message ?? "is not valid"}`.trim();
    },
  };
}

const root = "https://schema.invalid/spec";
const options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  ownProperties: true,
  allErrors: false,
  addUsedSchema: false,
  logger: false,
} as const;

/**
 * Those that a schema of this `$schema` may be meant for; without one, today's draft and the one of
 * most specs.
 */
function validatorsFor($schema: string): readonly (() => AnyAjv)[] {
  const today = () => new Ajv2020(options);
  const draft7 = () => new Ajv(options);
  if ($schema === "") return [today, draft7];
  if ($schema.includes("2020-12")) return [today];
  if ($schema.includes("2019-09")) return [() => new Ajv2019(options)];
  return /draft-0[4-7]/.test($schema) ? [draft7] : [];
}

function tryCompile(create: () => AnyAjv, schema: JsonObject): AnyAjv | Error {
  const ajv = create();
  addFormats(ajv);
  for (const keyword of new Set([...annotations, ...extensionsIn(schema)]))
    if (!ajv.getKeyword(keyword)) ajv.addKeyword({ keyword });
  try {
    ajv.addSchema({ ...schema, $id: root });
    ajv.compile({ $ref: root });
    return ajv;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function extensionsIn(value: JsonValue): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(extensionsIn);
  return Object.entries(value).flatMap(([name, part]) => [
    ...(/^(?:x-|airbyte_)/.test(name) ? [name] : []),
    ...extensionsIn(part),
  ]);
}
