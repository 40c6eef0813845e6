/** TypeScript types of an OpenAPI document, as a generator of clients makes them. */
import { answersOf, type Described, operationsOf, type Schema } from "./openapi.ts";

/** `Operations`: for each operation its method, path, what it takes and what it gives. */
export function toTypeScript(document: Described): string {
  const lines = operationsOf(document).map(({ path, method, operation }) => {
    const place = (name: "path" | "query") => {
      const named = operation.parameters.filter((one) => one.in === name);
      return `{ ${named.map((one) => `${key(one.name)}${one.required ? "" : "?"}: ${typeOf(one.schema)}`).join("; ")} }`;
    };
    const body = operation.requestBody?.content["application/json"].schema;
    const data = answersOf(document, operation)
      .filter(([status]) => status.startsWith("2"))
      .map(([status, { content }]) => {
        const { properties } = content["application/json"].schema as {
          properties: { data: Schema };
        };
        return `{ status: ${status}; data: ${typeOf(properties.data)} }`;
      });
    return `  ${key(operation.operationId)}: {
    method: ${JSON.stringify(method)}; path: ${JSON.stringify(path)};
    params: ${place("path")}; query: ${place("query")}; body: ${body ? typeOf(body) : "undefined"};
    answer: ${data.join(" | ")};
  };`;
  });
  const components = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  return [...components, "export interface Operations {", ...lines, "}", ""].join("\n");
}

const key = (name: string) => JSON.stringify(name);

function typeOf(schema: Schema): string {
  const {
    $ref,
    enum: words,
    const: only,
    anyOf,
    oneOf,
    type,
    items,
    properties,
    required,
  } = schema as {
    readonly $ref?: string;
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly anyOf?: readonly Schema[];
    readonly oneOf?: readonly Schema[];
    readonly type?: string | readonly string[];
    readonly items?: Schema;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? "never";
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
