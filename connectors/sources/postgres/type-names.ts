/** The definitions of column types: asked for once in a session, each by its OID. */
import type { Client } from "pg";
import { toValueType, type ValueType } from "./types.ts";

interface KnownType {
  /** The schema of the type, where its operators are. */
  readonly schema: string;
  readonly isEnum: boolean;
  /** OID of a domain's base type. */
  readonly base: number;
  readonly baseModifier: number;
  /** OID of an array's elements; 0 for other types. */
  readonly element: number;
  /** The delimiter between values of the type in an array. */
  readonly delimiter: string;
  /** Set once a column of it was seen: without a modifier of the column's own. */
  valueType?: ValueType;
}

export type KnownTypes = Map<number, KnownType>;

/** A type with domains and arrays taken off. */
interface ResolvedType {
  readonly oid: number;
  readonly delimiter: string | null;
  /** Modifier of the outermost domain that has one; -1 = none. */
  readonly modifier: number;
  readonly isEnum: boolean;
}

/** Asks for types that are not known yet, and for those that they are made of. */
export async function learnTypes(
  { client, types }: { readonly client: Client; readonly types: KnownTypes },
  oids: Iterable<number>,
): Promise<void> {
  const unknown = [...new Set(oids)].filter((oid) => !types.has(oid));
  if (unknown.length === 0) return;
  // Each step finds a type by its OID: there are two types for every table.
  const { rows } = await client.query<string[]>({
    rowMode: "array",
    types: { getTypeParser: () => (text: string) => text },
    text: `
      WITH RECURSIVE used (oid) AS (
        SELECT pg_catalog.unnest('{${unknown}}'::pg_catalog.oid[])
        UNION
        SELECT part.oid FROM used JOIN pg_catalog.pg_type t ON t.oid = used.oid
        CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) part (oid) WHERE part.oid <> 0
      )
      SELECT t.oid, n.nspname, t.typtype = 'e', t.typbasetype, t.typtypmod, COALESCE(e.oid, 0), t.typdelim
      FROM used JOIN pg_catalog.pg_type t ON t.oid = used.oid
      JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
      LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid`,
  });
  for (const [oid, schema = "", isEnum, base, modifier, element, delimiter = ","] of rows)
    types.set(Number(oid), {
      schema,
      isEnum: isEnum === "t",
      base: Number(base),
      baseModifier: Number(modifier),
      element: Number(element),
      delimiter,
    });
}

/** The schema and the type of a column's values. */
export function typeOf(
  types: KnownTypes,
  oid: number,
  modifier: number,
): { readonly schema: string; readonly type: ValueType } {
  const known = types.get(oid);
  const schema = known?.schema ?? "pg_catalog";
  if (modifier !== -1) return { schema, type: toValueType({ ...resolve(types, oid), modifier }) };
  const type = known?.valueType ?? toValueType(resolve(types, oid));
  if (known) known.valueType = type;
  return { schema, type };
}

/** The type itself, without domains; undefined for arrays, whose text is all there is to them. */
export function scalarOf(types: KnownTypes, oid: number): number | undefined {
  const { oid: scalar, delimiter } = resolve(types, oid);
  return delimiter === null ? scalar : undefined;
}

function resolve(types: KnownTypes, oid: number): ResolvedType {
  const outer = withoutDomains(types, oid);
  const type = types.get(outer.oid);
  if (!type || type.element === 0)
    return { ...outer, delimiter: null, isEnum: type?.isEnum === true };
  const { delimiter = "," } = types.get(type.element) ?? {};
  const element = withoutDomains(types, type.element);
  const isEnum = types.get(element.oid)?.isEnum === true;
  return { oid: element.oid, modifier: outer.modifier, delimiter, isEnum };
}

function withoutDomains(types: KnownTypes, oid: number): { oid: number; modifier: number } {
  let modifier = -1;
  let at = oid;
  for (let type = types.get(at); type && type.base !== 0; type = types.get(at)) {
    if (modifier === -1) modifier = type.baseModifier;
    at = type.base;
  }
  return { oid: at, modifier };
}
