/** TypeScript types of an OpenAPI document, as a generator of clients makes them. */
import { answersOf, dereference, jsonSchemaOf, operationsOf, type Schema } from "./openapi.ts";

/** `Operations`: for each operation its method, path, what it takes and what it gives. */
export function toTypeScript(document: object): string {
  const lines = operationsOf(dereference(document)).map(({ path, method, operation }) => {
    const place = (name: "path" | "query") => {
      const named = operation.parameters.filter((one) => one.in === name);
      return `{ ${named.map((one) => `${key(one.name)}${one.required ? "" : "?"}: ${typeOf(one.schema)}`).join("; ")} }`;
    };
    const body = operation.requestBody?.content["application/json"].schema;
    const data = answersOf(operation)
      .filter(([status]) => status.startsWith("2"))
      .map(([status, answer]) => {
        const schema = jsonSchemaOf(answer);
        if (!schema) return `{ status: ${status}; data: string }`;
        const { properties } = schema as { properties: { data: Schema } };
        return `{ status: ${status}; data: ${typeOf(properties.data)} }`;
      });
    return `  ${key(operation.operationId)}: {
    method: ${JSON.stringify(method)}; path: ${JSON.stringify(path)};
    params: ${place("path")}; query: ${place("query")}; body: ${body ? typeOf(body) : "undefined"};
    answer: ${data.join(" | ")};
  };`;
  });
  return ["export interface Operations {", ...lines, "}", ""].join("\n");
}

const key = (name: string) => JSON.stringify(name);

function typeOf(schema: Schema): string {
  const {
    enum: words,
    const: only,
    anyOf,
    oneOf,
    type,
    items,
    properties,
    required,
  } = schema as {
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly anyOf?: readonly Schema[];
    readonly oneOf?: readonly Schema[];
    readonly type?: string | readonly string[];
    readonly items?: Schema;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  if (only !== undefined) return JSON.stringify(only);
  if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
  const choices = anyOf ?? oneOf;
  if (choices) return choices.map((choice) => `(${typeOf(choice)})`).join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(" | ");
  if (type === "array") return `(${typeOf(items ?? {})})[]`;
  if (type === "integer") return "number";
  if (type !== "object") return typeof type === "string" ? type : "unknown";
  if (!properties || Object.keys(properties).length === 0) return "Record<string, unknown>";
  const parts = Object.entries(properties).map(
    ([name, property]) => `${key(name)}${required?.includes(name) ? "" : "?"}: ${typeOf(property)}`,
  );
  return `{ ${parts.join("; ")} }`;
}
