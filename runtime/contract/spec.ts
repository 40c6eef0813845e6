import { type Static, type TObject, type TSchema, type TString, type TUnsafe, Type } from "typebox";
import { isJsonObject, type JsonObject } from "./json.ts";

declare const secretBrand: unique symbol;
/** The type of a secret's value: a string that no connector code ever holds. */
export type Secret = string & { readonly [secretBrand]: true };

/**
 * JSON Schema keyword that marks a secret (with Airbyte's `airbyte_secret` beside it for its
 * ecosystem).
 */
export const secretKeyword = "x-svc-secret";

/**
 * Marks a setting as secret: stored encrypted, write-only, used by the host alone.
 * `secret(Type.String({ title: "API token", description: "…" }))`
 */
export function secret(schema: TString): TUnsafe<Secret> {
  return {
    ...schema,
    [secretKeyword]: true,
    airbyte_secret: true,
    writeOnly: true,
  } as unknown as TUnsafe<Secret>;
}

/**
 * A setting that may be left out: the host fills in `value` before the connector sees it, so it is
 * never missing there, and its type is not optional.
 * `withDefault(Type.Integer({ title: "Page size", description: "…", minimum: 1 }), 100)`
 */
export function withDefault<Schema extends TSchema>(schema: Schema, value: Static<Schema>): Schema {
  // The schema says that it may be left out, the type that it arrives.
  return Type.Optional({ ...schema, default: value }) as unknown as Schema;
}

/** JSON Schema keyword of settings that {@link exclusive} marks. */
export const exclusiveKeyword = "x-svc-exclusive";

/** JSON Schema keyword: what gives free at the source what an exclusive setting names. */
export const releaseKeyword = "x-svc-release";

/**
 * A setting that names what one reader alone may use, such as a replication slot: the service lets
 * no two active pipelines name the same one at the same server or base URL.
 * `exclusive(Type.String({ title: "Slot", description: "…" }))`
 * @param release a statement for the source's administrator that removes it, where it costs
 *   something as long as nobody reads it; `{}` stands for the name, which needs a `pattern` then
 *   that leaves out quotes. The service shows it with a pipeline that is paused or deleted.
 */
export function exclusive<Schema extends TString>(schema: Schema, release?: string): Schema {
  return {
    ...schema,
    [exclusiveKeyword]: true,
    ...(release === undefined ? {} : { [releaseKeyword]: release }),
  };
}

/** Keywords of JSON Schema under which a value may have one of several forms. */
export const schemaAlternatives = ["anyOf", "oneOf", "allOf"] as const;

/**
 * True when a property of this schema holds a secret: by our mark, Airbyte's or JSON Schema's own,
 * also as one of several alternatives.
 */
export function isSecret(schema: JsonObject): boolean {
  if (schema[secretKeyword] === true || schema.airbyte_secret === true || schema.writeOnly === true)
    return true;
  return schemaAlternatives.some((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list) && list.some((one) => isJsonObject(one) && isSecret(one));
  });
}

/** A schema that also accepts null; the usual form of a field that a provider may leave empty. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/**
 * An RFC 3339 date and time with offset, as text; precision and offset are kept as the provider
 * gave them.
 */
export function Timestamp() {
  return Type.String({ format: "date-time" });
}

/**
 * The configuration that a connector sees: every secret is left out, at any depth, and a setting
 * that is declared {@link withDefault} is there.
 */
export type PublicConfig<Spec extends TObject> = WithoutSecrets<Static<Spec>>;

type WithoutSecrets<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? {
        [Key in keyof T as Exclude<T[Key], undefined> extends Secret ? never : Key]: WithoutSecrets<
          T[Key]
        >;
      }
    : T;
