/** Queries of PostgreSQL's catalog about tables: as few, however many tables there are. */
import { escapeLiteral } from "pg";
import type { DatabaseColumn, DatabaseTable } from "svc-connectors/database";
import type { Session } from "./api.ts";
import type { Config } from "./spec.ts";
import { type KnownTypes, learnTypes, typeOf } from "./type-names.ts";
import type { ValueType } from "./types.ts";

export interface Column extends DatabaseColumn {
  readonly type: ValueType;
  /** The schema of the type, where its operators are. */
  readonly typeSchema: string;
}

export type Table = DatabaseTable<Column>;

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

function selectNamed(schema: string, name: string): string {
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

/** Tables that are asked for at once: of 1,600 columns at most. */
const pageTables = 200;

/** The tables with their columns, in the order of their names. Needs a transaction. */
export async function* listTables(session: Session, tables: string): AsyncGenerator<Table> {
  await session.client.query(
    `DECLARE svc_tables NO SCROLL CURSOR FOR ${selectColumns(tables)} ORDER BY t.schema COLLATE "C", t.name COLLATE "C"`,
  );
  const fetch = () => {
    const page = listed(session, `FETCH FORWARD ${pageTables} FROM svc_tables`);
    page.catch(() => {}); // it is thrown where the page is waited for, if it still is
    return page;
  };
  // The next page comes while the last one is in work.
  for (let coming: Promise<ListedTable[]> | undefined = fetch(); coming; ) {
    const rows: ListedTable[] = await coming;
    coming = rows.length < pageTables ? undefined : fetch();
    yield* await toTables(session, rows);
  }
  await session.client.query("CLOSE svc_tables");
}

/**
 * Asks for one table.
 * @param steps statements that are sent before, in the same message
 */
export const askForTable = (
  session: Session,
  schema: string,
  name: string,
  steps = "",
): TableAnswer =>
  listed(session, `${steps}${steps && "; "}${selectColumns(selectNamed(schema, name))}`);

/** The server's answer. */
export type TableAnswer = Promise<readonly ListedTable[]>;

/** The table that was asked for; undefined when there is none of the name. */
export async function toAskedTable(
  session: Session,
  rows: readonly ListedTable[],
): Promise<Table | undefined> {
  return (await toTables(session, rows))[0];
}

async function listed({ client }: Session, text: string): Promise<ListedTable[]> {
  const getTypeParser = () => (value: string) => value;
  const results: unknown = await client.query<ListedTable>({
    rowMode: "array",
    types: { getTypeParser },
    text,
  });
  // Of several statements each has a result.
  const [last] = (Array.isArray(results) ? results : [results]).slice(-1) as Listed[];
  return last?.rows ?? [];
}

interface Listed {
  readonly rows: ListedTable[];
}

async function toTables(session: Session, rows: readonly ListedTable[]): Promise<Table[]> {
  const parsed = rows.map((row) => ({
    row,
    columns: JSON.parse(row[5] ?? "[]") as ListedColumn[],
  }));
  const oids = new Set<number>();
  for (const { columns } of parsed) for (const [, , , oid] of columns) oids.add(oid);
  await learnTypes(session, oids);
  return parsed.map(({ row, columns }) => toTable(row, columns, session.types));
}

/** One row per table: its columns as JSON, which is less than half the work of a row per column. */
const selectColumns = (tables: string) => `
  WITH tables AS (${tables})
  SELECT t.schema, t.name, t."isReadable", i.indkey, i.indnkeyatts, columns.list, t.rows
  FROM tables t
  LEFT JOIN pg_catalog.pg_index i ON i.indrelid = t.oid AND i.indisprimary
  CROSS JOIN LATERAL (
    SELECT COALESCE(pg_catalog.array_agg(x.indkey[0]), '{}') AS heads FROM pg_catalog.pg_index x
    WHERE x.indrelid = t.oid AND x.indisvalid AND x.indpred IS NULL
  ) indexed
  CROSS JOIN LATERAL (
    SELECT pg_catalog.json_agg(pg_catalog.json_build_array(a.attnum, a.attname, a.attnotnull, a.atttypid::pg_catalog.int8,
      a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod),
      a.attnum = ANY (indexed.heads),
      a.attidentity <> '' OR (a.atthasdef AND EXISTS (SELECT FROM pg_catalog.pg_attrdef d
        WHERE d.adrelid = t.oid AND d.adnum = a.attnum AND pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%'))) ORDER BY a.attnum) AS list
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND (t.whole OR (t."isReadable" AND pg_catalog.has_column_privilege(t.oid, a.attnum, 'SELECT')))
  ) columns`;

type ListedTable = [
  schema: string,
  name: string,
  isReadable: string,
  indkey: string | null,
  indnkeyatts: string | null,
  columns: string | null,
  rows: string | null,
];

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
  [schema, name, isReadable, indkey, indnkeyatts, , rows]: ListedTable,
  listed: readonly ListedColumn[],
  types: KnownTypes,
): Table {
  // The key's columns come first; what an index merely includes follows.
  const keyNumbers = (indkey ?? "")
    .split(" ")
    .slice(0, Number(indnkeyatts ?? 0))
    .map(Number);
  const key = keyNumbers.map((number) => listed.find(([attnum]) => attnum === number)?.[1]);
  const columns = listed.map((one): Column => {
    const [attnum, column, notNull, oid, modifier, typeName, isIndexed, isNumbered] = one;
    const { schema: typeSchema, type } = typeOf(types, oid, modifier);
    return {
      name: column,
      type,
      schema: keyNumbers.includes(attnum) ? type.schema : type.nullableSchema,
      typeName,
      typeSchema,
      isNullable: !notNull,
      isIndexed,
      isNumbered,
    };
  });
  const primaryKey = key.filter((column) => column !== undefined);
  return {
    schema,
    name,
    isReadable: isReadable === "t",
    columns,
    primaryKey: primaryKey.length === key.length ? primaryKey : [],
    estimatedRows: Number(rows) > 0 ? Number(rows) : undefined,
  };
}
