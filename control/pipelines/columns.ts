/** Columns of a stream, and how they differ between two times. */
import type { CatalogStream, JsonValue } from "svc-connectors/host";
import { isJsonObject } from "svc-connectors/host";

type Schema = CatalogStream["json_schema"];

export interface ColumnChange {
  readonly type: "column_added" | "column_removed" | "column_type_changed";
  readonly column: string;
}

const propertiesOf = (schema: Schema) =>
  (schema.properties ?? {}) as Readonly<Record<string, JsonValue>>;

export const columnsOf = (schema: Schema): readonly string[] => Object.keys(propertiesOf(schema));

export const hasColumn = (schema: Schema, column: string): boolean =>
  Object.hasOwn(propertiesOf(schema), column);

/** The schema with these columns only. */
export function withColumns(schema: Schema, columns: readonly string[]): Schema {
  const isKept = (column: JsonValue) => columns.includes(String(column));
  const { required } = schema;
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(propertiesOf(schema)).filter(([column]) => isKept(column)),
    ),
    ...(Array.isArray(required) ? { required: required.filter(isKept) } : {}),
  };
}

/**
 * The changes of columns; that a column may now be null, or is described in other words, is no
 * change.
 */
export function columnChanges(before: Schema, after: Schema): ColumnChange[] {
  const [left, right] = [propertiesOf(before), propertiesOf(after)];
  const removed = Object.keys(left).filter((column) => !Object.hasOwn(right, column));
  const other = Object.keys(right).flatMap((column): ColumnChange[] => {
    if (!Object.hasOwn(left, column)) return [{ type: "column_added", column }];
    const isSame = typeText(left[column] ?? null) === typeText(right[column] ?? null);
    return isSame ? [] : [{ type: "column_type_changed", column }];
  });
  return [...removed.map((column) => ({ type: "column_removed" as const, column })), ...other];
}

/** Words of a schema that say nothing about its values. */
const remarks = ["title", "description", "examples", "default", "$comment"];

/** A schema's type as text: the same for schemas that allow the same values, null apart. */
function typeText(schema: JsonValue): string {
  return JSON.stringify(schema, (key, value: JsonValue) => {
    if (key === "type" && Array.isArray(value)) {
      const types = value.filter((type) => type !== "null").sort();
      return types.length === 1 ? types[0] : types;
    }
    if (!isJsonObject(value)) return value;
    const kept = Object.entries(value).filter(([name]) => !remarks.includes(name));
    return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
