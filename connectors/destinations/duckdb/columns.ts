import {
  type ColumnType,
  ownColumns,
  quoteName,
  quoteText,
  type StreamColumn,
} from "svc-connectors/destination";
import type { Stage } from "./stage.ts";

/** A property of a stream and the column that holds it. */
export interface Column {
  readonly property: string;
  readonly name: string;
  /** An SQL type. Widened when a value does not fit it. */
  type: string;
  /** A number that a double would round. */
  readonly isExact: boolean;
}

export const toColumn = ({ property, name, type }: StreamColumn): Column => ({
  property,
  name,
  type: sqlType(type),
  isExact: type.kind === "decimal",
});

const sqlTypes = {
  boolean: "BOOLEAN",
  int16: "BIGINT",
  int32: "BIGINT",
  integer: "BIGINT",
  big_integer: "HUGEINT",
  number: "DOUBLE",
  timestamp: "TIMESTAMP",
  timestamptz: "TIMESTAMPTZ",
  date: "DATE",
  time: "VARCHAR",
  uuid: "VARCHAR",
  binary: "VARCHAR",
  text: "VARCHAR",
  json: "JSON",
} as const;

/** DuckDB's widest DECIMAL has 38 digits; numbers that may be wider are text. */
function sqlType(type: ColumnType): string {
  if (type.kind !== "decimal") return sqlTypes[type.kind];
  const { precision = 39, scale = 0 } = type;
  return precision <= 38 ? `DECIMAL(${precision},${scale})` : "VARCHAR";
}

/** Where a row comes from, besides the provider. */
export interface Stamp {
  readonly extractedAt: string;
  readonly jobId: string;
}

const ownTypes: readonly (readonly [name: string, type: string])[] = [
  [ownColumns.id, "UUID"],
  [ownColumns.extractedAt, "TIMESTAMPTZ"],
  [ownColumns.jobId, "VARCHAR"],
  [ownColumns.meta, "JSON"],
];

/** All columns of a table with their types. */
export const columnTypes = (
  columns: readonly Column[],
): readonly (readonly [name: string, type: string])[] => [
  ...columns.map(({ name, type }) => [name, type] as const),
  ...ownTypes,
];

/** The target columns of an INSERT, in the order of {@link selectRows}. */
export const columnList = (columns: readonly Column[]): string =>
  columnTypes(columns)
    .map(([name]) => quoteName(name))
    .join(", ");

/** The staged rows as a query, typed. */
export function selectRows(
  stage: Stage,
  columns: readonly Column[],
  { extractedAt, jobId }: Stamp,
): string {
  const { meta } = ownColumns;
  const stamp = `uuid(), ${quoteText(extractedAt)}::TIMESTAMPTZ, ${quoteText(jobId)}`;
  const ownNames = `${ownColumns.id}, ${ownColumns.extractedAt}, ${ownColumns.jobId}`.split(", ");
  const stamps = stamp.split(", ").map((value, index) => `${value} AS ${ownNames[index]}`);
  const from = (reader: string, options: string) =>
    `FROM ${reader}(${quoteText(stage.path)}, ${options}, maximum_object_size = ${stage.maxLineBytes})`;
  if (hasPlainNames(columns)) {
    const typed = [...columns, { property: meta, type: "JSON" }];
    const struct = typed
      .map(({ property, type }) => `${quoteText(property)}: ${quoteText(type)}`)
      .join(", ");
    const list = columns.map(
      ({ property, name }) => `${quoteName(property)} AS ${quoteName(name)}`,
    );
    return `SELECT ${[...list, ...stamps, meta].join(", ")} ${from("read_json", `columns = {${struct}}, format = 'newline_delimited'`)}`;
  }
  const picked = columns.map(
    ({ property, name, type }) => `${pick(property, type)} AS ${quoteName(name)}`,
  );
  const list = [...picked, ...stamps, `${pick(meta, "JSON")} AS ${meta}`];
  return `SELECT ${list.join(", ")} ${from("read_ndjson_objects", "ignore_errors = false")}`;
}

/**
 * read_json ignores case in names and takes no NUL. Properties that it could mistake are picked out
 * of the line one by one.
 */
function hasPlainNames(columns: readonly Column[]): boolean {
  const names = new Set(columns.map(({ property }) => property.toLowerCase()));
  const isPlain = ({ property }: Column) =>
    property !== "" && !property.includes("\0") && property.isWellFormed();
  return names.size === columns.length && !names.has(ownColumns.meta) && columns.every(isPlain);
}

function pick(property: string, type: string): string {
  const at = pointer(property);
  if (type === "JSON")
    return `CASE json_type(json, ${at}) WHEN 'NULL' THEN NULL ELSE json -> ${at} END`;
  return `CAST(json ->> ${at} AS ${type})`;
}

/** A JSON pointer as SQL text, which cannot hold a NUL. */
function pointer(property: string): string {
  const escaped = property.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
  return `(${`/${escaped}`.split("\0").map(quoteText).join(" || chr(0) || ")})`;
}

/** The text of a property of a staged line, or the type that its JSON has. */
export const pickText = (property: string, what: "text" | "type" = "text") =>
  what === "text" ? `json ->> ${pointer(property)}` : `json_type(json, ${pointer(property)})`;

/** The staged lines as rows of one column, `json`. */
export const readLines = ({ path, maxLineBytes }: Stage) =>
  `read_ndjson_objects(${quoteText(path)}, maximum_object_size = ${maxLineBytes})`;
