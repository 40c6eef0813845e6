/**
 * Writes the types of an OpenAPI document as openapi-fetch takes them: `paths`, with what each
 * request takes and each answer gives, and `schemas`. It knows the part of JSON Schema that our own
 * document uses, and throws at what it does not know.
 */
type Part = Readonly<Record<string, unknown>>;

interface OpenApi {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Part;
}

/** The module's text. */
export function renderPaths({ paths, components }: OpenApi): string {
  const resolve = (part: Part): Part => {
    const { $ref } = part;
    if (typeof $ref !== "string") return part;
    const [, , kind = "", name = ""] = $ref.split("/");
    return ((components[kind] ?? {}) as Record<string, Part>)[name] ?? fail($ref);
  };

  const contentOf = (part: Part): string => {
    const content = Object.entries((resolve(part).content ?? {}) as Record<string, Part>);
    if (content.length === 0) return "content?: never";
    const types = content.map(
      ([media, { schema }]) => `${quoted(media)}: ${typeOf((schema ?? {}) as Part)}`,
    );
    return `content: { ${types.join("; ")} }`;
  };

  const toOperation = (operation: Part): string => {
    const parameters = ((operation.parameters ?? []) as Part[]).map(
      (one) => resolve(one) as unknown as Parameter,
    );
    const given = ["query", "header", "path"].map((place) => {
      const own = parameters.filter((one) => one.in === place);
      if (own.length === 0) return `${place}?: never`;
      const isOptional = own.every(({ required }) => !required);
      const fields = own.map(
        ({ name, required, schema }) =>
          `${quoted(name)}${required ? "" : "?"}: ${typeOf(schema)}${required ? "" : " | undefined"}`,
      );
      return `${place}${isOptional ? "?" : ""}: { ${fields.join("; ")} }`;
    });
    const body = operation.requestBody as Part | undefined;
    const responses = Object.entries(operation.responses as Record<string, Part>).map(
      ([status, one]) => `      ${status}: { headers: Headers; ${contentOf(one)} };`,
    );
    return [
      "{",
      `      parameters: { ${given.join("; ")}; cookie?: never };`,
      body
        ? `      requestBody${body.required ? "" : "?"}: { ${contentOf(body)} };`
        : "      requestBody?: never;",
      "      responses: {",
      ...responses.map((line) => `  ${line}`),
      "      };",
      "    }",
    ].join("\n");
  };

  const schemas = Object.entries(components.schemas as Record<string, Part>).map(
    ([name, schema]) => `  ${name}: ${typeOf(schema)};`,
  );
  const addresses = Object.entries(paths as Record<string, Record<string, Part>>).map(
    ([path, methods]) => {
      const lines = Object.entries(methods).map(
        ([method, operation]) => `    ${method}: ${toOperation(operation)};`,
      );
      return [`  ${quoted(path)}: {`, ...lines, "  };"].join("\n");
    },
  );
  return [
    "/** Made from the registry of operations by `npm run docs`: the API, as its clients see it. */",
    "",
    "type Headers = Record<string, string | undefined>;",
    "",
    "export interface schemas {",
    ...schemas,
    "}",
    "",
    "export interface paths {",
    ...addresses,
    "}",
    "",
  ].join("\n");
}

const quoted = (name: string) => JSON.stringify(name);
const fieldName = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name));

function fail(what: string): never {
  throw new Error(`The document has something that console/api/paths.ts does not know: ${what}`);
}

function typeOf(schema: Part): string {
  const { $ref, const: only, enum: words, anyOf, type, items, properties } = schema;
  if (typeof $ref === "string") return `schemas[${quoted($ref.split("/").at(-1) ?? "")}]`;
  if (only !== undefined) return quoted(String(only));
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as Part)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `(${typeOf((items ?? {}) as Part)})[]`;
    case "object":
      return objectOf(schema, Object.entries((properties ?? {}) as Record<string, Part>));
    case undefined:
      return "unknown";
    default:
      return fail(JSON.stringify(schema).slice(0, 200));
  }
}

function objectOf(schema: Part, fields: readonly (readonly [string, Part])[]): string {
  const required = new Set((schema.required ?? []) as readonly string[]);
  const { additionalProperties: others } = schema;
  const valueType =
    typeof others === "object" && others !== null ? typeOf(others as Part) : "unknown";
  if (fields.length === 0) return `Record<string, ${valueType}>`;
  const lines = fields.map(([name, one]) => {
    const isRequired = required.has(name);
    return `${fieldName(name)}${isRequired ? "" : "?"}: ${typeOf(one)}${isRequired ? "" : " | undefined"}`;
  });
  return `{ ${lines.join("; ")} }`;
}
