import type { Column } from "./columns.ts";
import type { ColumnType } from "./types.ts";

/** Encoded rows for COPY, and the types of the columns that they were encoded for. */
export interface Rows {
  readonly bytes: Buffer;
  readonly types: readonly ColumnType[];
  /** Values that are null because the type of their column has none like them. */
  readonly nulledCount?: number;
}

/** The columns with the types that rows were encoded for. */
export const columnsFor = (columns: readonly Column[], { types }: Rows): Column[] =>
  columns.map((column, index) => ({ ...column, type: types[index] ?? column.type }));
