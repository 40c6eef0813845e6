/**
 * Types of PostgreSQL that a stream's schema has no words for. A source of this database names them
 * beside (`native_type`). Their values travel as texts or JSON, are gathered so, and are cast on
 * their way into the table.
 */
import type { Client } from "pg";
import {
  quoteName,
  quoteText,
  type StreamColumn,
  type TypesByName,
} from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import { sqlState } from "./failures.ts";
import type { ColumnType } from "./types.ts";

/** Types of every supported server, as format_type() names them, that read back their own text. */
const scalars = [
  "bit varying",
  "box",
  "cidr",
  "circle",
  "daterange",
  "inet",
  "int4range",
  "int8range",
  "interval",
  "jsonpath",
  "line",
  "lseg",
  "macaddr",
  "macaddr8",
  "numrange",
  "path",
  "pg_lsn",
  "point",
  "polygon",
  "tid",
  "time with time zone",
  "tsquery",
  "tsrange",
  "tstzrange",
  "tsvector",
  "xid",
];

/** Types of which there are arrays: those above, and others that JSON holds as they are. */
const elements = [
  ...scalars,
  "bigint",
  "boolean",
  "date",
  "double precision",
  "integer",
  "numeric",
  "real",
  "smallint",
  "text",
  "time without time zone",
  "timestamp with time zone",
  "timestamp without time zone",
  "uuid",
];

/** The types in which values of a native type are written. */
const writtenAs: ReadonlyMap<string, ColumnType> = new Map([
  ...scalars.map((name) => [name, "text"] as const),
  ...elements.map((name) => [`${name}[]`, "jsonb"] as const),
]);

/** The native type of a stream's column; undefined where it has none that is known here. */
export function nativeTypeOf({ type, nativeTypes }: StreamColumn): string | undefined {
  const name = nativeTypes?.postgresql;
  const written = name === undefined ? undefined : writtenAs.get(name);
  return (type.kind === "json" ? "jsonb" : type.kind) === written ? name : undefined;
}

/** The type of the column in its table: the native one, as long as values are written for it. */
export const tableType = ({ type, native }: Pick<Column, "type" | "native">): string =>
  native !== undefined && writtenAs.get(native) === type ? native : type;

/** The type that holds what is in a column of a native type, and values of another. */
export const commonTypeOfNative = (native: string, type: string): ColumnType =>
  type === "jsonb" && writtenAs.get(native) === "jsonb" ? "jsonb" : "text";

/** The values of a native column as another type. */
export const nativeConversion = (column: string, native: string, to: string): string =>
  to === "jsonb" && writtenAs.get(native) === "jsonb"
    ? `pg_catalog.to_jsonb(${column})`
    : `${column}::${to}`;

/** Columns that are gathered as they are written. */
export const asWritten = (columns: readonly Column[]): Column[] =>
  columns.map(({ native: _, ...column }) => column);

/** PostgreSQL's functions take a hundred arguments. */
const mostPairs = 50;

/**
 * The gathered rows with the types of the target, as what follows FROM.
 * @param names of columns, in order
 */
export function castRows(
  stage: string,
  target: string,
  types: TypesByName,
  names: readonly string[],
): string {
  const arrays = names.filter((name) => writtenAs.get(types.get(name) ?? "") === "jsonb");
  const values = names.map((name) => {
    const quoted = quoteName(name);
    const type = types.get(name) ?? "";
    const written = writtenAs.get(type);
    if (written === undefined) return `s.${quoted}`;
    return written === "jsonb" ? `a.${quoted}` : `s.${quoted}::${type} AS ${quoted}`;
  });
  const objects: string[] = [];
  for (let at = 0; at < arrays.length; at += mostPairs) {
    const pairs = arrays
      .slice(at, at + mostPairs)
      .map((name) => `${quoteText(name)}, s.${quoteName(name)}`);
    objects.push(`pg_catalog.jsonb_build_object(${pairs.join(", ")})`);
  }
  const read =
    objects.length === 0
      ? ""
      : ` CROSS JOIN LATERAL pg_catalog.jsonb_populate_record(NULL::${target}, ${objects.join(" || ")}) a`;
  return `(SELECT ${values.join(", ")} FROM ${stage} s${read}) cast_rows`;
}

/** The names of the columns of a native type that some gathered value is none of. */
export async function findMisfits(
  client: Client,
  stage: string,
  target: string,
  types: TypesByName,
): Promise<readonly string[]> {
  const misfits: string[] = [];
  const natives = [...types].filter(([, type]) => writtenAs.has(type)).map(([name]) => name);
  for (const name of natives) {
    await client.query("SAVEPOINT svc_misfit");
    try {
      await client.query(
        `SELECT pg_catalog.count(${quoteName(name)}) FROM ${castRows(stage, target, types, [name])}`,
      );
    } catch (error) {
      if (!isDataException(error)) throw error;
      await client.query("ROLLBACK TO SAVEPOINT svc_misfit");
      misfits.push(name);
    }
  }
  return misfits;
}

/** True for the server's word that a value is none of its type. */
export const isDataException = (error: unknown): boolean =>
  sqlState(error)?.startsWith("22") === true;
