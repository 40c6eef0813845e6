import type { CatalogStream, StreamDescriptor } from "svc-connectors/host";

export const namespaceDefinitions = ["source", "destination", "custom_format"] as const;

/** Stands in a namespace_format for the stream's namespace. */
export const namespacePlaceholder = "$" + "{SOURCE_NAMESPACE}";

/** How the tables of a pipeline are called. */
export interface TableNaming {
  readonly prefix: string;
  /**
   * Schema of the tables: the stream's namespace, the one of the destination's settings, or one
   * made from a format.
   */
  readonly namespaceDefinition: (typeof namespaceDefinitions)[number];
  /** With {@link namespacePlaceholder} in it. */
  readonly namespaceFormat: string | null;
}

export const namingOf = (row: {
  readonly prefix: string;
  readonly namespace_definition: TableNaming["namespaceDefinition"];
  readonly namespace_format: string | null;
}): TableNaming => ({
  prefix: row.prefix,
  namespaceDefinition: row.namespace_definition,
  namespaceFormat: row.namespace_format,
});

/** Every table in a warehouse that svc writes begins with this. @see docs/decisions/0018 */
export const ownPrefix = "_svc_";

/**
 * Schema and table in which the rows of a stream go. Without a schema, it is the one of the
 * destination's settings.
 */
export function tableOf(
  naming: TableNaming,
  { name, namespace }: StreamDescriptor,
): { readonly table: string; readonly schema?: string } {
  const schema = schemaOf(naming, namespace ?? "");
  return { table: `${ownPrefix}${naming.prefix}${name}`, ...(schema === "" ? {} : { schema }) };
}

function schemaOf(
  { namespaceDefinition, namespaceFormat }: TableNaming,
  namespace: string,
): string {
  if (namespaceDefinition === "source") return namespace;
  if (namespaceDefinition === "destination") return "";
  return (namespaceFormat ?? "").replaceAll(namespacePlaceholder, () => namespace);
}

/**
 * Positions of streams whose tables a stream before them would have as well. Databases tell names
 * apart without case.
 * @returns pairs: the first of that name, and the one that collides with it
 */
export function collisionsOf(
  naming: TableNaming,
  streams: readonly Pick<CatalogStream, "name" | "namespace">[],
): readonly (readonly [number, number])[] {
  const firsts = new Map<string, number>();
  return streams.flatMap((stream, index) => {
    const { schema = "", table } = tableOf(naming, stream);
    const key = JSON.stringify([schema, table]).toLowerCase();
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, index);
    return first === undefined ? [] : [[first, index] as const];
  });
}
