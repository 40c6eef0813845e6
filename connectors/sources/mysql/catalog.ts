/** Queries of the server's catalog about tables: as few, however many tables there are. */
import { ConnectorError, type JsonSchema } from "svc-connectors";
import { type DatabaseColumn, type DatabaseTable, maxTables } from "svc-connectors/database";
import { quoteText, type Session } from "./api.ts";
import type { Config } from "./spec.ts";
import { typeOf, type ValueType } from "./types.ts";

export interface Column extends DatabaseColumn {
  readonly type: ValueType;
}

/** None of its columns may be read when the user may not read the table. */
export type Table = DatabaseTable<Column>;

/** Which tables of the session's database, as a condition on `table_name`. */
export type Chosen = string;

/** Compared by case, whatever the collation of the catalog. */
const exactName = "CONVERT(table_name USING utf8mb4) COLLATE utf8mb4_bin";

export function selectChosen({ include_tables, exclude_tables }: Config): Chosen {
  const matches = (patterns: readonly string[]) =>
    `(${patterns.map((pattern) => `${exactName} LIKE ${quoteText(toLike(pattern))} ESCAPE '|'`).join(" OR ")})`;
  const conditions = [
    ...(include_tables.length > 0 ? [matches(include_tables)] : []),
    ...(exclude_tables.length > 0 ? [`NOT ${matches(exclude_tables)}`] : []),
  ];
  return conditions.length === 0 ? "TRUE" : conditions.join(" AND ");
}

const selectNamed = (name: string): Chosen =>
  `table_name = ${quoteText(name)} AND ${exactName} = ${quoteText(name)}`;

/** A pattern with * and ? in the words of LIKE. */
const toLike = (pattern: string) =>
  pattern.replace(/[|%_]/g, "|$&").replaceAll("*", "%").replaceAll("?", "_");

/** The first condition alone lets MariaDB look no further than this database. */
const within = ({ database }: Session) =>
  `table_schema = ${quoteText(database)} AND CONVERT(table_schema USING utf8mb4) COLLATE utf8mb4_bin = ${quoteText(database)}`;
const kinds = "table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')";

/** How many of the tables the user knows of. */
export async function countTables(session: Session, chosen: Chosen): Promise<number> {
  const [row] = await session.client.query(
    `SELECT count(*) FROM information_schema.tables WHERE ${within(session)} AND ${kinds} AND ${chosen}`,
  );
  return Number(row?.[0]);
}

/** Whether there is a column that can be read. */
export async function hasReadableTable(session: Session, chosen: Chosen): Promise<boolean> {
  const rows = await session.client.query(
    `SELECT 1 FROM information_schema.columns WHERE ${within(session)} AND ${readable} AND ${chosen} LIMIT 1`,
  );
  return rows.length > 0;
}

const readable = "privileges LIKE '%select%'";

/** The tables with their columns, in the order of their names. */
export async function* listTables(session: Session, chosen: Chosen): AsyncGenerator<Table> {
  const { client } = session;
  const from = (view: string) =>
    `FROM information_schema.${view} WHERE ${within(session)} AND ${chosen}`;
  const tables = await client.query(
    `SELECT table_name, table_rows, table_type ${from("tables")} AND ${kinds} ORDER BY ${exactName}`,
  );
  if (tables.length === 0) return;
  if (tables.length > maxTables) throw tooMany();
  const indexes = groupByTable(
    await client.query(
      `SELECT table_name, column_name, index_name, seq_in_index, sub_part, index_type ${from("statistics")}
       AND (seq_in_index = 1 OR index_name = 'PRIMARY') ORDER BY seq_in_index`,
    ),
  );
  const documents = groupByTable(
    client.version.includes("MariaDB")
      ? await client.query(
          `SELECT table_name, constraint_name FROM information_schema.check_constraints
           WHERE constraint_schema = ${quoteText(session.database)} AND ${chosen}
           AND level = 'Column' AND check_clause LIKE 'json_valid(%)'`,
        )
      : [],
  );
  const places = new Map(tables.map(([name], place) => [name, place]));
  const tableAt = (place: number, columns: readonly Listed[]): Table => {
    const [name, rows, kind] = tables[place] as Listed;
    return toTable({
      database: session.database,
      name: name ?? "",
      rows: kind === "VIEW" ? null : (rows ?? null),
      columns,
      indexed: indexes.get(name ?? "") ?? [],
      documents: new Set((documents.get(name ?? "") ?? []).map(([, column]) => column)),
    });
  };
  let next = 0;
  for await (const columns of columnsByTable(session, from("columns"))) {
    const place = places.get(columns[0]?.[0] ?? null);
    // It was made meanwhile, or is none that is listed.
    if (place === undefined || place < next) continue;
    while (next < place) yield tableAt(next++, []);
    next++;
    yield tableAt(place, columns);
  }
  while (next < tables.length) yield tableAt(next++, []);
}

/** The columns that may be read, table by table. */
async function* columnsByTable(session: Session, from: string): AsyncGenerator<Listed[]> {
  const rows = session.client.rows(
    `SELECT table_name, column_name, data_type, column_type, numeric_precision, numeric_scale, is_nullable, extra
     ${from} AND ${readable} ORDER BY ${exactName}, ordinal_position`,
  );
  let group: Listed[] = [];
  for await (const some of rows)
    for (const fields of some) {
      const row = fields.map((field) => (field === null ? null : field.toString("utf8")));
      if (group.length > 0 && group[0]?.[0] !== row[0]) {
        yield group;
        group = [];
      }
      if (group.push(row) > maxColumns) throw tooMany();
    }
  if (group.length > 0) yield group;
}

/** Most columns of one table. */
const maxColumns = 4_096;
const tooMany = () =>
  new ConnectorError("DATABASE_UNUSABLE", { reason: "an answer about its tables is too large" });

/** One table; undefined when there is none of the name. */
export async function findTable(session: Session, name: string): Promise<Table | undefined> {
  let found: Table | undefined;
  for await (const table of listTables(session, selectNamed(name))) found = table;
  return found;
}

type Listed = readonly (string | null)[];

function groupByTable(rows: readonly Listed[]): Map<string, Listed[]> {
  const groups = new Map<string, Listed[]>();
  for (const row of rows) {
    const name = row[0] ?? "";
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return groups;
}

interface ListedTable {
  readonly database: string;
  readonly name: string;
  readonly rows: string | null;
  readonly columns: readonly Listed[];
  readonly indexed: readonly Listed[];
  readonly documents: ReadonlySet<string | null | undefined>;
}

function toTable({ database, name, rows, columns, indexed, documents }: ListedTable): Table {
  const key = indexed.flatMap(([, column, index]) => (index === "PRIMARY" ? [column ?? ""] : []));
  // The order of a part of a column, or of words in it, is another one.
  const heads = new Set(
    indexed.flatMap(([, column, , place, part, kind]) =>
      place === "1" && part === null && kind === "BTREE" ? [column] : [],
    ),
  );
  const found = columns.map(
    ([, column, dataType, columnType, precision, scale, isNullable, extra]): Column => {
      const typeName = (dataType ?? "").toLowerCase();
      const type = typeOf({
        name: typeName,
        isUnsigned: (columnType ?? "").includes("unsigned"),
        precision: Number(precision ?? 0),
        scale: Number(scale ?? 0),
        isJson: documents.has(column),
      });
      return {
        name: column ?? "",
        type,
        typeName,
        schema: key.includes(column ?? "") ? type.schema : orNull(type.schema),
        isNullable: isNullable === "YES",
        isIndexed: heads.has(column ?? null),
        isNumbered: (extra ?? "").includes("auto_increment"),
      };
    },
  );
  const isWhole = key.every((one) => found.some((column) => column.name === one));
  return {
    schema: database,
    name,
    isReadable: found.length > 0,
    columns: found,
    primaryKey: isWhole ? key : [],
    estimatedRows: Number(rows) > 0 ? Number(rows) : undefined,
  };
}

/** A schema without a type takes null already. */
export const orNull = (schema: JsonSchema): JsonSchema =>
  typeof schema.type === "string" ? { ...schema, type: [schema.type, "null"] } : schema;
