/**
 * Names and values that end a quotation, a statement or a format, in a database where they are
 * harmless data.
 */
import { identifier, literal } from "../../target/database.ts";

/** As tables and columns may be called: up to 63 bytes of anything but NUL. */
export const hostileNames = [
  `it's "quoted"`,
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

/** As keys: what a resumed read puts into its condition. */
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

/**
 * A table of each name, whose columns have the other names, and one whose keys are the values.
 * `kept` must outlive all of it.
 */
export function hostileTables(): string {
  const tables = hostileNames.map((name, at) => {
    const other = hostileNames[(at + 1) % hostileNames.length] ?? "";
    const key = `${other.slice(0, 20)} key`;
    return `CREATE TABLE public.${identifier(name)} (${identifier(key)} text PRIMARY KEY, ${identifier(other)} text);
      INSERT INTO public.${identifier(name)} VALUES ${hostileValues.map((value, index) => `(${literal(value)}, ${literal(hostileValues.at(-index - 1) ?? "")})`).join(", ")};`;
  });
  return [
    "CREATE TABLE public.kept (id int PRIMARY KEY); INSERT INTO public.kept VALUES (1);",
    ...tables,
  ].join("\n");
}
