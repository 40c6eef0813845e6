import {
  type MergeKeys,
  ownColumns,
  quoteName,
  type StreamColumn,
} from "svc-connectors/destination";
import { nativeType } from "./native-types.ts";
import { settled, sqlType } from "./types.ts";

/** A property of a stream and the column that holds it. */
export interface Column {
  readonly property: string;
  readonly name: string;
  /** An SQL type. Widened when a value does not fit it. */
  type: string;
}

export const toColumn = ({ property, name, type }: StreamColumn): Column => ({
  property,
  name,
  type: sqlType(type),
});

/**
 * All columns of a stream. Those by which rows are compared are texts where the schema has no word
 * for their type: a month is as long as 30 days in DuckDB, and another key.
 */
export function toColumns(
  columns: readonly StreamColumn[],
  { keys, cursor, deletedAt }: MergeKeys,
): Column[] {
  const compared = new Set([...keys, cursor, deletedAt]);
  return columns.map((column) => {
    const own = compared.has(column.property) ? undefined : nativeType(column);
    return own === undefined ? toColumn(column) : { ...toColumn(column), type: own };
  });
}

/** Where a row comes from, besides the provider. */
export interface Stamp {
  readonly extractedAtMs: number;
  readonly jobId: string;
}

/** A column of a table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
}

const ownTypes: readonly TableColumn[] = [
  { name: ownColumns.id, type: "UUID" },
  { name: ownColumns.extractedAt, type: "TIMESTAMPTZ" },
  { name: ownColumns.jobId, type: "VARCHAR" },
  { name: ownColumns.meta, type: "JSON" },
];

/** All columns of a new table, in its order. */
export const columnTypes = (columns: readonly Column[]): readonly TableColumn[] => [
  ...columns.map(({ name, type }) => ({ name, type: settled(type) })),
  ...ownTypes,
];

/** Their names, for an INSERT and a SELECT. */
export const columnList = (columns: readonly Column[]): string =>
  columnTypes(columns)
    .map(({ name }) => quoteName(name))
    .join(", ");

export const columnDefinitions = (columns: readonly Column[]): string =>
  columnTypes(columns)
    .map(({ name, type }) => `${quoteName(name)} ${type}`)
    .join(", ");
