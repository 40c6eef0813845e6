/** Queries of PostgreSQL's catalog about tables: three, however many tables there are. */
import { escapeLiteral } from "pg";
import { type Fields, fetchPages, type Session } from "./api.ts";
import type { Config } from "./spec.ts";
import { type Conversion, toConversion } from "./values.ts";

export interface Column extends Conversion {
  readonly name: string;
  /** The type in SQL, for casts. */
  readonly typeName: string;
  /** The schema of the type, where its operators are. */
  readonly typeSchema: string;
  readonly isNullable: boolean;
  /** An index of all rows begins with it. */
  readonly isIndexed: boolean;
  /** The server numbers new rows with it: an identity, or a default from a sequence. */
  readonly isNumbered: boolean;
}

export interface Table {
  readonly schema: string;
  readonly name: string;
  /** False when the role may not even read one column. */
  readonly isReadable: boolean;
  /** Columns that the role may read. */
  readonly columns: readonly Column[];
  /** Names; empty when there is none, or part of it may not be read. */
  readonly primaryKey: readonly string[];
  /** As the server counted them when it last looked; undefined when it never did. */
  readonly estimatedRows?: number | undefined;
}

/** The tables that the configuration chooses, for the functions below. */
export function selectChosen({ schemas, include_tables, exclude_tables }: Config): string {
  const label = "(n.nspname || '.' || c.relname)";
  const conditions = ["n.nspname NOT LIKE 'pg\\_%'", "n.nspname <> 'information_schema'"];
  if (schemas.length > 0) conditions.push(`n.nspname = ANY (${textArray(schemas)})`);
  if (include_tables.length > 0)
    conditions.push(`${label} LIKE ANY (${textArray(include_tables.map(toLike))})`);
  if (exclude_tables.length > 0)
    conditions.push(`NOT ${label} LIKE ANY (${textArray(exclude_tables.map(toLike))})`);
  return selectTables(conditions.join(" AND "));
}

/** One table. */
export function selectNamed(schema: string, name: string): string {
  return selectTables(
    `n.nspname = ${escapeLiteral(schema)} AND c.relname = ${escapeLiteral(name)}`,
  );
}

const textArray = (values: readonly string[]) =>
  `ARRAY[${values.map(escapeLiteral)}]::pg_catalog.text[]`;

/** A pattern with * and ? in the words of LIKE; one without a schema is for every schema. */
function toLike(pattern: string): string {
  const whole = pattern.includes(".") ? pattern : `*.${pattern}`;
  return whole
    .replace(/[\\%_]/g, "\\$&")
    .replaceAll("*", "%")
    .replaceAll("?", "_");
}

/**
 * Tables, partitioned tables (their partitions are read with them), views, materialised views and
 * foreign tables.
 */
const selectTables = (filter: string) => `
  SELECT c.oid, n.nspname AS schema, c.relname AS name, readable.whole,
    readable.whole OR (readable.schema AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')) AS "isReadable",
    CASE c.relkind WHEN 'v' THEN NULL WHEN 'p' THEN (
      SELECT sum(leaf.reltuples) FROM pg_catalog.pg_partition_tree(c.oid) part
      JOIN pg_catalog.pg_class leaf ON leaf.oid = part.relid WHERE part.isleaf AND leaf.reltuples > 0
    ) ELSE c.reltuples END::pg_catalog.int8 AS rows
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (
    SELECT r.schema, r.schema AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AS whole
    FROM (SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS schema) r
  ) readable
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND ${filter}`;

/** How many of the tables can be read. */
export async function countTables({ client }: Session, tables: string): Promise<number> {
  const count = `WITH tables AS (${tables}) SELECT count(*) FILTER (WHERE "isReadable") AS found FROM tables`;
  const { rows } = await client.query<{ found: string }>(count);
  return Number(rows[0]?.found);
}

/** The tables with their columns, in the order of their names. Needs a transaction. */
export async function* listTables(session: Session, tables: string): AsyncGenerator<Table> {
  const types = await readTypes(session, tables);
  const toRow = (fields: Fields) => ({ table: toTable(fields, types) });
  for await (const page of fetchPages(session, selectColumns(tables), { maxRows: 1_000, toRow })) {
    for (const { table } of page.rows as readonly { readonly table: Table }[]) yield table;
  }
}

/** One row per table: its columns as JSON, which is less than half the work of a row per column. */
const selectColumns = (tables: string) => `
  WITH tables AS (${tables})
  SELECT t.schema, t.name, t."isReadable", i.indkey, i.indnkeyatts, columns.list, t.rows
  FROM tables t
  LEFT JOIN pg_catalog.pg_index i ON i.indrelid = t.oid AND i.indisprimary
  CROSS JOIN LATERAL (
    SELECT pg_catalog.json_agg(pg_catalog.json_build_array(a.attnum, a.attname, a.attnotnull, a.atttypid::pg_catalog.int8,
      a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod),
      EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = t.oid AND x.indisvalid AND x.indpred IS NULL AND x.indkey[0] = a.attnum),
      a.attidentity <> '' OR (a.atthasdef AND EXISTS (SELECT FROM pg_catalog.pg_attrdef d
        WHERE d.adrelid = t.oid AND d.adnum = a.attnum AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%'))) ORDER BY a.attnum) AS list
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND (t.whole OR (t."isReadable" AND pg_catalog.has_column_privilege(t.oid, a.attnum, 'SELECT')))
  ) columns
  ORDER BY t.schema COLLATE "C", t.name COLLATE "C"`;

type ListedColumn = readonly [
  attnum: number,
  name: string,
  notNull: boolean,
  type: number,
  modifier: number,
  typeName: string,
  isIndexed: boolean,
  isNumbered: boolean,
];

function toTable(
  [schema, name, isReadable, indkey, indnkeyatts, list, rows]: Fields,
  types: Types,
): Table {
  const listed = list == null ? [] : (JSON.parse(list) as readonly ListedColumn[]);
  // The key's columns come first; what an index merely includes follows.
  const keyNumbers = (indkey ?? "")
    .split(" ")
    .slice(0, Number(indnkeyatts ?? 0))
    .map(Number);
  const key = keyNumbers.map((number) => listed.find(([attnum]) => attnum === number)?.[1]);
  const columns = listed.map((one): Column => {
    const [attnum, column, notNull, oid, modifier, typeName, isIndexed, isNumbered] = one;
    const type = types.get(oid);
    const isKey = keyNumbers.includes(attnum);
    return {
      ...toConversion(
        type
          ? { ...type, modifier: modifier === -1 ? type.modifier : modifier }
          : { oid, delimiter: null, modifier },
        !isKey,
      ),
      name: column,
      typeName,
      typeSchema: type?.schema ?? "pg_catalog",
      isNullable: !notNull,
      isIndexed,
      isNumbered,
    };
  });
  const primaryKey = key.filter((column) => column !== undefined);
  return {
    schema: schema ?? "",
    name: name ?? "",
    isReadable: isReadable === "t",
    columns,
    primaryKey: primaryKey.length === key.length ? primaryKey : [],
    estimatedRows: Number(rows) > 0 ? Number(rows) : undefined,
  };
}

/** By OID: what a type is made of, with domains and arrays taken off. */
type Types = ReadonlyMap<
  number,
  {
    readonly schema: string;
    readonly oid: number;
    readonly delimiter: string | null;
    readonly modifier: number;
  }
>;

/** The types that the columns of the tables have. */
async function readTypes({ client }: Session, tables: string): Promise<Types> {
  const { rows } = await client.query<[string, string, string, string | null, string]>({
    rowMode: "array",
    types: { getTypeParser: () => (text: string) => text },
    text: `
      WITH RECURSIVE tables AS (${tables}),
      domains AS (
        SELECT oid, typbasetype AS base, typtypmod AS modifier FROM pg_catalog.pg_type WHERE typtype = 'd'
        UNION ALL
        SELECT d.oid, t.typbasetype, t.typtypmod
        FROM domains d JOIN pg_catalog.pg_type t ON t.oid = d.base AND t.typtype = 'd'
      ),
      bases AS (SELECT d.* FROM domains d JOIN pg_catalog.pg_type t ON t.oid = d.base AND t.typtype <> 'd')
      SELECT type.oid, n.nspname, COALESCE(element_base.base, element.oid, base.base, type.oid), element.typdelim,
        COALESCE(base.modifier, -1)
      FROM pg_catalog.pg_type type
      JOIN pg_catalog.pg_namespace n ON n.oid = type.typnamespace
      LEFT JOIN bases base ON base.oid = type.oid
      LEFT JOIN pg_catalog.pg_type element ON element.typarray = COALESCE(base.base, type.oid)
      LEFT JOIN bases element_base ON element_base.oid = element.oid
      WHERE type.oid IN (SELECT a.atttypid FROM tables t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid)`,
  });
  return new Map(
    rows.map(([oid, schema, base, delimiter, modifier]) => [
      Number(oid),
      { schema, oid: Number(base), delimiter, modifier: Number(modifier) },
    ]),
  );
}
