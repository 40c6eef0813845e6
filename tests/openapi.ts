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
  /** The operation's id in proposals and the audit log. */
  readonly "x-svc-operation": string;
  /** Reasons of its refusals, besides those that every operation has. */
  readonly "x-svc-reasons": readonly string[];
  readonly parameters: readonly DescribedParameter[];
  readonly requestBody?: {
    readonly content: {
      readonly "application/json": { readonly schema: Schema; readonly example?: unknown };
    };
  };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

export interface DescribedAnswer {
  readonly description: string;
  /** Of the default answer: reasons that every operation has. */
  readonly "x-svc-reasons"?: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, DescribedContent>>;
}

export interface DescribedContent {
  readonly schema: Schema;
  /** Of a stream: the form of its items. */
  readonly "x-svc-item"?: Schema;
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

/** The document with everything that it refers to where it is referred to. */
export function dereference(document: object): Described {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...beside } = value as { readonly $ref?: unknown };
    if (typeof $ref !== "string")
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one)]));
    return { ...(resolve(resolveReference(document, $ref)) as object), ...beside };
  };
  return resolve(document) as Described;
}

/** The answers of an operation by their status. */
export const answersOf = ({ responses }: DescribedOperation): [string, DescribedAnswer][] =>
  Object.entries(responses);

/** The form of an answer in JSON; undefined: it is a stream. */
export const jsonSchemaOf = ({ content }: DescribedAnswer): Schema | undefined =>
  content["application/json"]?.schema;

/** Compiles schemas, what stands in several places once. */
export function createSchemaCompiler(): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    keywords: ["x-svc-secret", "x-extensible-enum"],
    // Each is used a few times: shorter code takes longer to make than it saves.
    code: { optimize: false },
  });
  (formats as unknown as (one: Ajv2020) => void)(ajv);
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, validate);
    return validate;
  };
}
