/**
 * Names and values that end a quotation, a statement or a format, in a database where they are
 * harmless data.
 */
import type { DatabaseSql } from "../../contract/database-sql.ts";

/** Names that tables and columns may have: up to 63 bytes of anything but NUL. */
const names = [
  `it's "quoted"`,
  "a `tick`",
  `x"; DROP TABLE public.kept; --`,
  `'); DROP TABLE public.kept; --`,
  "back\\slash\\",
  "line\nbreak",
  "%s %1$I %% $name $1 :name ?",
  "a.b.c",
  "select",
  "UPPER lower",
  "名前 \u{1f4d3} naïve",
  "__proto__",
  " space ",
  "/* no comment */ -- none",
] as const;

/** Values of keys, which a resumed read puts into its condition. */
const hostileValues = [
  "",
  "'",
  "''; DROP TABLE public.kept; --",
  "\\",
  "\\'; DROP TABLE public.kept; --",
  '"',
  "$1",
  "$$ $tag$",
  "%s",
  "{a,b}",
  "NULL",
  "E'\\x'",
  "line\nbreak\ttab",
  "☃ \u{1f4d3}",
] as const;

/** The names that the database takes. */
export const hostileNames = ({ canName }: DatabaseSql): readonly string[] => names.filter(canName);

/**
 * A table of each name, whose columns have the other names, and one whose keys are the values.
 * `kept` must outlive all of it.
 */
export function hostileTables(sql: DatabaseSql): string {
  const { identifier, literal, ownTable, keyType } = sql;
  const hostile = hostileNames(sql);
  const tables = hostile.map((name, at) => {
    const other = hostile[(at + 1) % hostile.length] ?? "";
    const key = `${other.slice(0, 20)} key`;
    return `CREATE TABLE ${ownTable(name)} (${identifier(key)} ${keyType} PRIMARY KEY, ${identifier(other)} text);
      INSERT INTO ${ownTable(name)} VALUES ${hostileValues.map((value, index) => `(${literal(value)}, ${literal(hostileValues.at(-index - 1) ?? "")})`).join(", ")};`;
  });
  return [
    `CREATE TABLE ${ownTable("kept")} (id int PRIMARY KEY); INSERT INTO ${ownTable("kept")} VALUES (1);`,
    ...tables,
  ].join("\n");
}
