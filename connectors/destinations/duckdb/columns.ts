import { ownColumns, quoteName, type StreamColumn } from "svc-connectors/destination";
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
