/** Streams' schemas, compiled as destinations understand them. */
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";

const addFormats = formatsPlugin as unknown as (ajv: Ajv) => void;

export interface CompiledStreamSchema {
  /** Why the schema is not valid; one phrase. */
  readonly problem?: string | undefined;
  /** The faults of a record: "/updated_at must match format \"date-time\"". */
  faults(record: unknown): readonly { readonly path: string; readonly problem: string }[];
}

/** Of all schemas: compiling what they are checked with takes longer than any of them. */
const checkers = new Map<boolean, Ajv>();

function checkerFor(isDraft7: boolean): Ajv {
  const checker = checkers.get(isDraft7) ?? createAjv(isDraft7);
  checkers.set(isDraft7, checker);
  return checker;
}

function createAjv(isDraft7: boolean, own: Options = {}): Ajv {
  const options: Options = { strict: false, allErrors: true, logger: false, ...own };
  const ajv = isDraft7 ? new Ajv(options) : (new Ajv2020(options) as unknown as Ajv);
  addFormats(ajv);
  ajv.addFormat(localTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/);
  return ajv;
}

/** Draft-07 where the schema says so, else 2020-12; unknown keywords annotate. */
export function compileStreamSchema(schema: unknown): CompiledStreamSchema {
  const isDraft7 = /draft-0[4-7]/.test(
    String((schema as { $schema?: unknown } | null)?.$schema ?? ""),
  );
  try {
    const known = withLocalTimes(withoutDialect(schema)) as object;
    checkerFor(isDraft7).validateSchema(known, true);
    // One of its own: two schemas may have the same $id.
    const validate = createAjv(isDraft7, { validateSchema: false }).compile(known);
    return {
      faults: (record) => (validate(record) ? [] : (validate.errors ?? []).map(toFault)),
    };
  } catch (error) {
    return {
      problem:
        error instanceof Error
          ? error.message.replace(/^schema is invalid: /, "")
          : "it cannot be compiled",
      faults: () => [],
    };
  }
}

const localTime = "local-date-time";

/**
 * Gives `airbyte_type` "timestamp_without_timezone" the meaning that Airbyte gives it: a date-time
 * without an offset.
 * @see Airbyte's reference of data types
 */
function withLocalTimes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withLocalTimes);
  if (typeof schema !== "object" || schema === null) return schema;
  const changed = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, withLocalTimes(part)]),
  );
  const isLocal =
    changed.airbyte_type === "timestamp_without_timezone" && changed.format === "date-time";
  return isLocal ? { ...changed, format: localTime } : changed;
}

/** A dialect that Ajv does not hold would be fetched. */
function withoutDialect(schema: unknown): object {
  if (typeof schema !== "object" || schema === null) throw new Error("it is no object");
  const { $schema: _, ...rest } = schema as { $schema?: unknown };
  return rest;
}

const toFault = ({ instancePath, message, params, keyword }: ErrorObject) => ({
  path:
    keyword === "required"
      ? `${instancePath}/${(params as { missingProperty: string }).missingProperty}`
      : instancePath,
  problem: message ?? "is not valid",
});

/** The schema at a path of property names and indices; undefined when it is not declared. */
export function schemaAt(
  schema: unknown,
  path: readonly string[],
): { readonly [keyword: string]: unknown } | undefined {
  let at = schema as { properties?: { [name: string]: unknown }; items?: unknown } | undefined;
  for (const name of path) {
    if (/^\d+$/.test(name) && typeof at?.items === "object") {
      at = (at.items ?? undefined) as typeof at;
      continue;
    }
    const properties = at?.properties;
    if (typeof properties !== "object" || properties === null || !Object.hasOwn(properties, name))
      return undefined;
    at = properties[name] as typeof at;
  }
  return at as { readonly [keyword: string]: unknown } | undefined;
}

/** The types that a schema admits, also through anyOf and oneOf. */
export function typesOf(
  schema: { readonly [keyword: string]: unknown } | undefined,
): readonly string[] {
  const own = schema?.type;
  const named = typeof own === "string" ? [own] : Array.isArray(own) ? own.map(String) : [];
  const inner = [schema?.anyOf, schema?.oneOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((one) => typesOf(one as never)) : [],
  );
  return [...named, ...inner];
}

/**
 * Says in so many words that records may have other fields: JSON Schema's own default is open, and
 * no destination takes it so.
 */
export function isOpenSchema(schema: unknown): boolean {
  const { additionalProperties } = (schema ?? {}) as { additionalProperties?: unknown };
  return (
    additionalProperties === true ||
    (typeof additionalProperties === "object" && additionalProperties !== null)
  );
}
