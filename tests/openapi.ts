/**
 * Reads an OpenAPI document as a client would: from the text, with nothing known of how it was
 * made.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

export type Schema = Readonly<Record<string, unknown>>;

export interface DescribedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly parameters: readonly DescribedParameter[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, DescribedAnswer | { readonly $ref: string }>>;
}

export interface DescribedAnswer {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: { readonly "application/json": { readonly schema: Schema } };
}

export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** All operations with their method and path. */
export const operationsOf = (document: Described) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );

/** The part of the document that a reference names; undefined: none. */
export function resolveReference(document: object, reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>((at, name) => (at as Schema | undefined)?.[name], document);
}

/** The answers of an operation by their status, references followed. */
export function answersOf(
  document: object,
  { responses }: DescribedOperation,
): [string, DescribedAnswer][] {
  return Object.entries(responses).map(([status, answer]) => [
    status,
    ("$ref" in answer ? resolveReference(document, answer.$ref) : answer) as DescribedAnswer,
  ]);
}

/** A schema that stands for itself: what it refers to comes with it. */
export function schemaAlone({ components }: Described, schema: Schema): Schema {
  const text = JSON.stringify({ ...schema, $defs: components.schemas });
  return JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/'));
}

export function createSchemaCompiler(document: Described): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    keywords: ["x-svc-secret"],
  });
  (formats as unknown as (one: Ajv2020) => void)(ajv);
  return (schema) => ajv.compile(schemaAlone(document, schema));
}
