/** Tables, and the results of queries, as a source of a database knows them. */
import type { JsonSchema } from "../contract/json.ts";
import type { Stream } from "../contract/stream.ts";
import { proposeCursors } from "./cursors.ts";

export interface DatabaseColumn {
  readonly name: string;
  readonly type: {
    /** False when the server's order is not that of comparing with a saved value. */
    readonly isOrderable: boolean;
  };
  /** Its schema, with null unless it is part of the key. */
  readonly schema: JsonSchema;
  /** The type in SQL: `bigint`, `timestamp with time zone`, … */
  readonly typeName: string;
  readonly isNullable: boolean;
  /** An index of all rows begins with it. */
  readonly isIndexed: boolean;
  /** The server numbers new rows with it. */
  readonly isNumbered: boolean;
}

export interface DatabaseTable<Column extends DatabaseColumn = DatabaseColumn> {
  /** The schema or database of the table. Empty: it is the result of a query. */
  readonly schema: string;
  readonly name: string;
  /** False when the login may not even read one column. */
  readonly isReadable: boolean;
  /** Columns that the login may read. */
  readonly columns: readonly Column[];
  /** Names; empty when there is none, or part of it may not be read. */
  readonly primaryKey: readonly string[];
  /** The query whose result it is. */
  readonly sql?: string | undefined;
  /** The cursor that goes with the query. */
  readonly cursorField?: string | undefined;
  /** As the server counted or guesses them. */
  readonly estimatedRows?: number | undefined;
}

/** How messages and logs name it. */
export const labelOf = ({ schema, name }: Pick<DatabaseTable, "schema" | "name">): string =>
  schema === "" ? name : `${schema}.${name}`;

/** The columns of the primary key, in its order. */
export const keyColumns = <Column extends DatabaseColumn>({
  columns,
  primaryKey,
}: DatabaseTable<Column>): Column[] =>
  primaryKey.flatMap((name) => columns.filter((column) => column.name === name));

/**
 * The key along which a read can go on behind a row; empty where there is none. Nothing says
 * whether the key of a query is one, and its order may cost a sort of all.
 */
export function resumableKey<Column extends DatabaseColumn>(
  table: DatabaseTable<Column>,
): readonly Column[] {
  const key = keyColumns(table);
  const isWhole = key.length === table.primaryKey.length;
  return table.sql === undefined && isWhole && key.every(({ type }) => type.isOrderable) ? key : [];
}

/** The stream of a table, or of a query's result. */
export function toStream(table: DatabaseTable): Stream {
  const { schema, name, columns, primaryKey, sql, cursorField } = table;
  const canOrder = columns.some(({ type }) => type.isOrderable);
  return {
    name,
    ...(sql === undefined ? { namespace: schema } : {}),
    schema: {
      type: "object",
      properties: Object.fromEntries(columns.map((column) => [column.name, column.schema])),
    },
    primaryKey,
    syncModes: canOrder ? ["full_refresh", "incremental"] : ["full_refresh"],
    ...(cursorField === undefined ? { proposedCursors: proposeCursors(table) } : { cursorField }),
    estimatedRows: table.estimatedRows,
    isResumable: resumableKey(table).length > 0,
    supportsRowFilter: true,
  };
}

export interface TableNames {
  /** A column of what {@link TableNames.fromOf} names. */
  ofTable(column: string): string;
  /** The table, or the query, in a FROM. */
  fromOf(table: Pick<DatabaseTable, "schema" | "name" | "sql">): string;
}

/** Qualifies the columns of what is read: a name alone could be one of the select list. */
const alias = "svc_read";

/** @param quoteName a name in SQL, whatever stands in it */
export const createTableNames = (quoteName: (name: string) => string): TableNames => ({
  ofTable: (column) => `${alias}.${quoteName(column)}`,
  fromOf: ({ schema, name, sql }) =>
    `${sql === undefined ? `${quoteName(schema)}.${quoteName(name)}` : `(${sql}\n)`} AS ${alias}`,
});
