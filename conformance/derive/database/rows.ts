/** Records against the rows of the database that they were read from. */

import { parseExact } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import type { DatabaseCopy } from "../../contract/database.ts";
import type { Cell, DatabaseSql, TableColumn } from "../../contract/database-sql.ts";
import type { StreamFacts } from "../../contract/lab.ts";
import type { OutputRow } from "../rows/rows.ts";

/**
 * Describes what the records lost, changed or made up, `label` being the stream's. Times may be
 * written in any zone, and binary data in base64.
 */
export async function compareWithTable(
  sql: DatabaseSql,
  database: DatabaseCopy,
  facts: Pick<StreamFacts, "stream" | "primaryKey">,
  records: readonly OutputRow[],
): Promise<readonly string[]> {
  const { columns, rows } = await sql.tableRows(database, facts.stream);
  const left = [...records];
  const lost: (readonly Cell[])[] = [];
  const changes: string[] = [];
  for (const row of rows) {
    const candidates = left.filter((record) => hasKey(sql, record, row, columns, facts.primaryKey));
    let found: OutputRow | undefined;
    let difference: string | undefined;
    for (const record of candidates) {
      const wrong = await firstDifference(sql, database, record, row, columns);
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
  sql: DatabaseSql,
  { data }: OutputRow,
  row: readonly Cell[],
  columns: readonly TableColumn[],
  primaryKey: readonly string[],
): boolean {
  return primaryKey.every((field) => {
    const cell = row[columns.findIndex(({ name }) => name === field)];
    return cell === undefined || isSameQuickly(sql, cell, data[field]);
  });
}

async function firstDifference(
  sql: DatabaseSql,
  database: DatabaseCopy,
  { data, key }: OutputRow,
  row: readonly Cell[],
  columns: readonly TableColumn[],
): Promise<string | undefined> {
  for (const [at, column] of columns.entries()) {
    const cell = row[at];
    const given = Object.hasOwn(data, column.name) ? data[column.name] : undefined;
    if (
      !cell ||
      isSameQuickly(sql, cell, given) ||
      (await isSameValue(sql, database, column, cell, given))
    )
      continue;
    const value = given === undefined ? "no such field" : cut(canonicalize(given));
    return `${column.name} (${column.type}) is ${cut(cell.text ?? "null")} in the database, and ${value} in record ${cut(key)}`;
  }
  return undefined;
}

function isSameQuickly(sql: DatabaseSql, { json, text }: Cell, given: unknown): boolean {
  if (text === null) return given === null;
  if (given === null) return sql.isUnwritable(text) || json === null;
  if (given === undefined) return false;
  if (canonicalize(given) === canonicalize(json) || given === text) return true;
  // Some numbers, as object ids, are texts in PostgreSQL's own JSON.
  if (typeof given !== "string" && /^-?\d+(?:\.\d+)?$/.test(text))
    return canonicalize(given) === canonicalize(parseExact(text));
  if (typeof given === "string" && text.startsWith("\\x"))
    return Buffer.from(given, "base64").toString("hex") === text.slice(2);
  if (!Array.isArray(json) || !Array.isArray(given) || json.length !== given.length) return false;
  return json.every((part, at) =>
    isSameQuickly(sql, { json: part, text: textOf(part) }, given[at]),
  );
}

const textOf = (part: unknown) =>
  part === null ? null : typeof part === "string" ? part : canonicalize(part);

async function isSameValue(
  sql: DatabaseSql,
  database: DatabaseCopy,
  column: TableColumn,
  { text }: Cell,
  given: unknown,
): Promise<boolean> {
  if (typeof given !== "string" || text === null || given.includes("\0")) return false;
  return await sql.isSameValue(database, column, text, given);
}

const rowText = (row: readonly Cell[]) => cut(row.map(({ text }) => text ?? "null").join(" | "));
const cut = (text: string) => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
