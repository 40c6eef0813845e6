import type { Client } from "pg";
import type { ActivationObject, RowField } from "svc-connectors/destination";

/** More tables than this are not listed; each is found by its name. */
const maxTables = 1_000;

/**
 * Tables that the role may change, with the columns that may be written; an identifier is a column
 * with a unique index of its own.
 */
const query = `
SELECT n.nspname AS schema, c.relname AS name,
  json_agg(json_build_object(
    'name', a.attname,
    'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
    'isRequired', a.attnotnull AND NOT a.atthasdef AND a.attidentity = '',
    'isIdentifier', EXISTS (
      SELECT FROM pg_catalog.pg_index i
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = 1
        AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indkey[0] = a.attnum)
  ) ORDER BY a.attnum) AS fields
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p') AND c.relname NOT LIKE '\\_svc\\_%'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> '_svc'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')
  AND a.attgenerated = '' AND a.attidentity <> 'a'
  AND ($1::text IS NULL OR n.nspname || '.' || c.relname = $1 OR (n.nspname = 'public' AND c.relname = $1))
GROUP BY n.nspname, c.relname
ORDER BY n.nspname, c.relname
LIMIT ${maxTables}`;

export interface Table {
  readonly schema: string;
  readonly name: string;
  readonly fields: readonly RowField[];
}

/** @param wanted "schema.table", or a table of the schema public */
export async function findTables(client: Client, wanted?: string): Promise<Table[]> {
  const { rows } = await client.query<Table>(query, [wanted ?? null]);
  return rows;
}

export const toObject = ({ schema, name, fields }: Table): ActivationObject => ({
  name: `${schema}.${name}`,
  ...(schema === "public" ? { id: name } : {}),
  operations: fields.some(({ isIdentifier }) => isIdentifier)
    ? ["insert", "update", "upsert", "mirror", "append"]
    : ["insert", "append"],
  fields,
  isOpen: false,
});
