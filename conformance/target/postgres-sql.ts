/** PostgreSQL's words for what rules need. */
import type { JsonObject } from "svc-connectors";
import type { DatabaseCopy } from "../contract/database.ts";
import type {
  DatabaseSql,
  DatabaseStatements,
  TableColumn,
  TableRows,
  TableStream,
} from "../contract/database-sql.ts";
import { postgresFaults } from "./postgres-faults.ts";
import { postgresLog } from "./postgres-log.ts";
import { numberTable, textTable, uncommonTables } from "./postgres-values.ts";

const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
const tableName = ({ namespace = "public", name }: TableStream) =>
  `${identifier(namespace)}.${identifier(name)}`;

const ownSchemas = "nspname !~ '^pg_' AND nspname <> 'information_schema'";
/** A role within a format. */
const inFormat = (role: string) => identifier(role).replaceAll("'", "''");

const statements: DatabaseStatements = {
  empty: `
  SELECT pg_catalog.format('TRUNCATE %I.%I CASCADE', n.nspname, c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND ${ownSchemas} \\gexec
  SELECT pg_catalog.format('REFRESH MATERIALIZED VIEW %I.%I', n.nspname, c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' \\gexec`,
  unchecked: "SET session_replication_role = replica;",
  revoke: (table, role) => `REVOKE ALL ON ${table} FROM PUBLIC, ${identifier(role)};`,
  revokeAll: (role) => `
  SELECT pg_catalog.format('REVOKE ALL ON ALL TABLES IN SCHEMA %1$I FROM PUBLIC, ${inFormat(role)}', nspname)
  FROM pg_catalog.pg_namespace WHERE ${ownSchemas} \\gexec`,
  revokeAccess: (role) => `REVOKE CONNECT ON DATABASE :"DBNAME" FROM PUBLIC, ${identifier(role)};`,
  grantAll: (role) => `
  SELECT pg_catalog.format('GRANT ALL ON SCHEMA %1$I TO ${inFormat(role)}; GRANT ALL ON ALL TABLES IN SCHEMA %1$I TO ${inFormat(role)}', nspname)
  FROM pg_catalog.pg_namespace WHERE ${ownSchemas} \\gexec
  GRANT ALL ON DATABASE :"DBNAME" TO ${identifier(role)};`,
  grantTables: (role) => `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${identifier(role)};`,
  grantLater: (role) =>
    `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ${identifier(role)};`,
  makeTables: (prefix, first, last) => `
  DO $batch$ BEGIN FOR number IN ${first}..${last} LOOP
    EXECUTE pg_catalog.format('CREATE TABLE public.%I (id bigint PRIMARY KEY, %s)', '${prefix}' || pg_catalog.lpad(number::text, 5, '0'),
      (SELECT pg_catalog.string_agg(pg_catalog.format('column_%s %s', c, (ARRAY['text', 'int', 'timestamptz', 'numeric(12, 2)'])[c % 4 + 1]), ', ') FROM pg_catalog.generate_series(2, 20) c));
  END LOOP; END $batch$;`,
};

export const postgresSql: DatabaseSql = {
  identifier,
  literal,
  canName: (name) => Buffer.byteLength(name) <= 63 && !name.includes("\0"),
  tableName,
  ownTable: (name) => tableName({ name }),
  patternPrefix: "public.",
  keyType: "text",
  statements,
  faults: postgresFaults,
  values: { numbers: numberTable, texts: textTable },
  uncommonTables,
  log: postgresLog,

  async baseTables(copy) {
    const found = await copy.rows(
      `SELECT pg_catalog.format('%s.%s', '"' || pg_catalog.replace(n.nspname, '"', '""') || '"', '"' || pg_catalog.replace(c.relname, '"', '""') || '"') AS name
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p') AND ${ownSchemas}`,
    );
    return new Set(found.map(({ name }) => String(name)));
  },

  async hasOwnTable(copy, name) {
    const table = literal(tableName({ name }));
    const [row] = await copy.rows(`SELECT pg_catalog.to_regclass(${table}) IS NOT NULL AS there`);
    return row?.there === true;
  },

  /** A database gives a transaction number to whoever writes, and to nobody else. */
  async countWrites(copy) {
    const [row] = await copy.rows(
      "SELECT pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())::text AS next",
    );
    return BigInt(String(row?.next));
  },

  tableRows,

  /** The database itself says whether a text is the same value of the column's type. */
  async isSameValue(copy, { type }, text, given) {
    const sql = `SELECT ${literal(given)}::${type} IS NOT DISTINCT FROM ${literal(text)}::${type} AS same`;
    return await copy.rows(sql).then(
      ([answer]) => answer?.same === true,
      () => false,
    );
  },

  isUnwritable: (text) => /^-?infinity$|^nan$|\bBC$|^\d{5,}-/i.test(text),
};

async function tableRows(copy: DatabaseCopy, stream: TableStream): Promise<TableRows> {
  const table = tableName(stream);
  const columns = (await copy.rows(
    `SELECT attname AS name, pg_catalog.format_type(atttypid, atttypmod) AS type FROM pg_catalog.pg_attribute
     WHERE attrelid = ${literal(table)}::pg_catalog.regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  )) as unknown as readonly TableColumn[];
  if (columns.length === 0) return { columns, rows: [] };
  const texts = columns.map(({ name }) => `t.${identifier(name)}::text`);
  const rows = await copy.rows(
    `SELECT pg_catalog.row_to_json(t) AS json, ARRAY[${texts}]::text[] AS texts FROM ${table} t`,
  );
  return {
    columns,
    rows: rows.map(({ json, texts: own }) =>
      columns.map(({ name }, at) => ({
        json: (json as JsonObject)[name],
        text: (own as readonly (string | null)[])[at] ?? null,
      })),
    ),
  };
}
