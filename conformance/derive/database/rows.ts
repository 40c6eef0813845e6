/** Records against the rows of the database that they were read from. */

import { type JsonObject, parseExact } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import type { DatabaseCopy } from "../../contract/database.ts";
import type { StreamFacts } from "../../contract/lab.ts";
import { identifier, literal } from "../../target/database.ts";
import type { OutputRow } from "../rows/rows.ts";

interface Column {
  readonly name: string;
  /** In SQL. */
  readonly type: string;
}

/** A value as PostgreSQL writes it: as JSON and as text. */
interface Cell {
  readonly json: unknown;
  readonly text: string | null;
}

export interface TableRows {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Schema and name of a stream's table. */
export const tableOf = ({
  stream: { namespace = "public", name },
}: Pick<StreamFacts, "stream">) => ({
  schema: namespace,
  name,
});

/** In SQL. */
export const quoted = (facts: Pick<StreamFacts, "stream">) =>
  `${identifier(tableOf(facts).schema)}.${identifier(tableOf(facts).name)}`;

/** All rows and columns of a stream's table. */
export async function tableRows(
  database: DatabaseCopy,
  facts: Pick<StreamFacts, "stream">,
): Promise<TableRows> {
  const columns = (await database.rows(
    `SELECT attname AS name, pg_catalog.format_type(atttypid, atttypmod) AS type FROM pg_catalog.pg_attribute
     WHERE attrelid = ${literal(quoted(facts))}::pg_catalog.regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  )) as unknown as readonly Column[];
  if (columns.length === 0) return { columns, rows: [] };
  const texts = columns.map(({ name }) => `t.${identifier(name)}::text`);
  const rows = await database.rows(
    `SELECT pg_catalog.row_to_json(t) AS json, ARRAY[${texts}]::text[] AS texts FROM ${quoted(facts)} t`,
  );
  return {
    columns,
    rows: rows.map(({ json, texts: own }) =>
      columns.map((column, at) => cellOf(json, own, column, at)),
    ),
  };
}

const cellOf = (json: unknown, texts: unknown, { name }: Column, at: number): Cell => ({
  json: (json as JsonObject)[name],
  text: (texts as readonly (string | null)[])[at] ?? null,
});

/**
 * Describes what the records lost, changed or made up, `label` being the stream's. Times may be
 * written in any zone, and binary data in base64.
 */
export async function compareWithTable(
  database: DatabaseCopy,
  facts: Pick<StreamFacts, "stream" | "primaryKey">,
  records: readonly OutputRow[],
): Promise<readonly string[]> {
  const { columns, rows } = await tableRows(database, facts);
  const left = [...records];
  const lost: (readonly Cell[])[] = [];
  const changes: string[] = [];
  for (const row of rows) {
    const candidates = left.filter((record) => hasKey(record, row, columns, facts.primaryKey));
    let found: OutputRow | undefined;
    let difference: string | undefined;
    for (const record of candidates) {
      const wrong = await firstDifference(database, record, row, columns);
      if (wrong === undefined) {
        found = record;
        break;
      }
      difference ??= wrong;
    }
    if (found) left.splice(left.indexOf(found), 1);
    else if (facts.primaryKey.length > 0 && candidates[0]) {
      left.splice(left.indexOf(candidates[0]), 1);
      changes.push(difference ?? "");
    } else lost.push(row);
  }
  return [
    ...(lost.length > 0
      ? [
          `${lost.length} of the table's ${rows.length} rows did not come, the first ${rowText(lost[0] ?? [])}`,
        ]
      : []),
    ...changes.slice(0, 5),
    ...(left.length > 0
      ? [
          `${left.length} records are no rows of the table, or came twice, the first ${cut(left[0]?.content ?? "")}`,
        ]
      : []),
  ];
}

function hasKey(
  { data }: OutputRow,
  row: readonly Cell[],
  columns: readonly Column[],
  primaryKey: readonly string[],
): boolean {
  return primaryKey.every((field) => {
    const cell = row[columns.findIndex(({ name }) => name === field)];
    return cell === undefined || isSameQuickly(cell, data[field]);
  });
}

async function firstDifference(
  database: DatabaseCopy,
  { data, key }: OutputRow,
  row: readonly Cell[],
  columns: readonly Column[],
): Promise<string | undefined> {
  for (const [at, column] of columns.entries()) {
    const cell = row[at];
    const given = Object.hasOwn(data, column.name) ? data[column.name] : undefined;
    if (!cell || isSameQuickly(cell, given) || (await isSameValue(database, column, cell, given)))
      continue;
    const value = given === undefined ? "no such field" : cut(canonicalize(given));
    return `${column.name} (${column.type}) is ${cut(cell.text ?? "null")} in the database, and ${value} in record ${cut(key)}`;
  }
  return undefined;
}

/** Values that JSON or RFC 3339 cannot write may become null. */
const unwritable = /^-?infinity$|^nan$|\bBC$|^\d{5,}-/i;

function isSameQuickly({ json, text }: Cell, given: unknown): boolean {
  if (text === null) return given === null;
  if (given === null) return unwritable.test(text) || json === null;
  if (given === undefined) return false;
  if (canonicalize(given) === canonicalize(json) || given === text) return true;
  // Some numbers, as object ids, are texts in PostgreSQL's own JSON.
  if (typeof given !== "string" && /^-?\d+(?:\.\d+)?$/.test(text))
    return canonicalize(given) === canonicalize(parseExact(text));
  if (typeof given === "string" && text.startsWith("\\x"))
    return Buffer.from(given, "base64").toString("hex") === text.slice(2);
  if (!Array.isArray(json) || !Array.isArray(given) || json.length !== given.length) return false;
  return json.every((part, at) => isSameQuickly({ json: part, text: textOf(part) }, given[at]));
}

const textOf = (part: unknown) =>
  part === null ? null : typeof part === "string" ? part : canonicalize(part);

/** The database itself says whether a text is the same value of the column's type. */
async function isSameValue(
  database: DatabaseCopy,
  { type }: Column,
  { text }: Cell,
  given: unknown,
): Promise<boolean> {
  if (typeof given !== "string" || text === null || given.includes("\0")) return false;
  const sql = `SELECT ${literal(given)}::${type} IS NOT DISTINCT FROM ${literal(text)}::${type} AS same`;
  return await database.rows(sql).then(
    ([answer]) => answer?.same === true,
    () => false,
  );
}

const rowText = (row: readonly Cell[]) => cut(row.map(({ text }) => text ?? "null").join(" | "));
const cut = (text: string) => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
