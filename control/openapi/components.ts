/**
 * The named parts of the OpenAPI document. Each stands there once; whatever uses it refers to it.
 * Generated clients have a type for each of them.
 */
import { isJsonObject } from "svc-connectors/host";
import type { TSchema } from "typebox";
import { nameOfEnum } from "./enums.ts";

export type DocumentPart = { readonly [name: string]: unknown };
export type DocumentParts = { readonly [name: string]: DocumentPart };

/** A place that refers to a schema, with the words that it has for it there. */
interface Use {
  readonly name: string;
  readonly reference: { $ref: string; description?: unknown };
}

/** Keywords whose value is a schema, or several in a list. */
const nestedIn = ["items", "additionalProperties", "anyOf", "oneOf", "allOf"] as const;

export interface Components {
  /** As the document has it: parts that have a title stand among the components. */
  schemaOf(schema: TSchema | DocumentPart): DocumentPart;
  /** Under this name, unless it has one of its own. */
  schemaAs(name: string, schema: TSchema | DocumentPart): DocumentPart;
  /** A component of the kind and name, for many places. @throws when another has the name */
  shared(
    kind: "parameters" | "responses" | "headers",
    name: string,
    part: DocumentPart,
  ): DocumentPart;
  all(): { readonly schemas: DocumentParts; readonly [kind: string]: DocumentPart };
}

export function createComponents(): Components {
  const schemas = new Map<string, { readonly shape: string; readonly schema: DocumentPart }>();
  const uses: Use[] = [];
  const others = { parameters: {}, responses: {}, headers: {} } as Record<
    "parameters" | "responses" | "headers",
    Record<string, DocumentPart>
  >;

  const refer = (name: string, schema: DocumentPart): DocumentPart => {
    const { description, default: usual, deprecated, ...rest } = schema;
    const shape = JSON.stringify(rest);
    const known = schemas.get(name);
    if (known && known.shape !== shape)
      throw new Error(`two schemas are called ${name}: give one of them another title`);
    if (!known) schemas.set(name, { shape, schema: rest });
    const reference = {
      $ref: `#/components/schemas/${name}`,
      description,
      default: usual,
      deprecated,
    };
    uses.push({ name, reference });
    return reference;
  };
  const convert = (schema: DocumentPart, ownName?: string): DocumentPart => {
    const { title, ...rest } = schema;
    const converted: Record<string, unknown> = { ...rest };
    for (const keyword of nestedIn) {
      const inner = rest[keyword];
      if (Array.isArray(inner)) converted[keyword] = inner.map((one) => convert(one));
      else if (isJsonObject(inner)) converted[keyword] = convert(inner);
    }
    if (isJsonObject(rest.properties))
      converted.properties = Object.fromEntries(
        Object.entries(rest.properties).map(([name, one]) => [name, convert(one as DocumentPart)]),
      );
    const name = typeof title === "string" ? title : (nameOfEnum(rest.enum) ?? ownName);
    return name === undefined ? converted : refer(name, converted);
  };
  return {
    schemaOf: (schema) => convert(plain(schema)),
    schemaAs: (name, schema) => convert(plain(schema), name),
    shared(kind, name, part) {
      const known = others[kind][name];
      if (known && JSON.stringify(known) !== JSON.stringify(part))
        throw new Error(`two ${kind} are called ${name}`);
      others[kind][name] = part;
      return { $ref: `#/components/${kind}/${name}` };
    },
    all: () => ({ ...others, schemas: described(schemas, uses) }),
  };
}

/** Moves a description that all places of a schema share to the schema itself. */
function described(
  schemas: ReadonlyMap<string, { readonly schema: DocumentPart }>,
  uses: readonly Use[],
): DocumentParts {
  const byName = Map.groupBy(uses, ({ name }) => name);
  return Object.fromEntries(
    [...schemas]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, { schema }]) => {
        const references = (byName.get(name) ?? []).map(({ reference }) => reference);
        const [description, ...more] = new Set(references.map((one) => one.description));
        if (description === undefined || more.length > 0) return [name, schema];
        for (const reference of references) delete reference.description;
        return [name, { ...schema, description }];
      }),
  );
}

/** Through JSON: what TypeBox notes in its schemas for itself stays behind. */
const plain = (schema: TSchema | DocumentPart): DocumentPart => JSON.parse(JSON.stringify(schema));
