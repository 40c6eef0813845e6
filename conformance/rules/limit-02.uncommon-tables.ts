/** Tables with rows as few databases have them: wide, long, deep. */
export interface UncommonTable {
  /** Of the table. */
  readonly name: string;
  /** "a row of 10 MB". */
  readonly what: string;
  readonly sql: string;
}

const columns = Array.from({ length: 999 }, (_, at) => `column_${at + 2}`);
const textBytes = 10 * 1_048_576;
const levels = 200;

export const uncommonTables: readonly UncommonTable[] = [
  {
    name: "svc_wide",
    what: "a table of 1,000 columns",
    sql: `CREATE TABLE public.svc_wide (id int PRIMARY KEY, ${columns.map((name) => `${name} int`).join(", ")});
      INSERT INTO public.svc_wide VALUES (1, ${columns.map((_, at) => at).join(", ")});`,
  },
  {
    name: "svc_long",
    what: "a row of 10 MB",
    sql: `CREATE TABLE public.svc_long (id int PRIMARY KEY, body text);
      INSERT INTO public.svc_long VALUES (1, 'short'), (2, pg_catalog.repeat('0123456789abcdef', ${textBytes / 16})), (3, 'short');`,
  },
  {
    name: "svc_deep",
    what: "a value of 200 levels",
    sql: `CREATE TABLE public.svc_deep (id int PRIMARY KEY, body jsonb);
      INSERT INTO public.svc_deep VALUES (1, '${"[".repeat(levels)}1${"]".repeat(levels)}'), (2, '${'{"a":'.repeat(levels)}1${"}".repeat(levels)}');`,
  },
];
