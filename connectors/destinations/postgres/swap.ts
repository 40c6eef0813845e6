/** Bringing a copy that is complete to the place where people look. */
import type { Client } from "pg";
import { ConnectorError } from "svc-connectors";
import { quoteName, quoteText } from "svc-connectors/destination";
import { sqlState } from "./failures.ts";
import {
  commonOf,
  converted,
  describeTable,
  isOurs,
  type Table,
  type TableTypes,
  tableName,
} from "./tables.ts";

/**
 * The copy takes the place of the table, with what people were granted on it. Where something
 * depends on the table, such as a view, the table stays and gets the rows of the copy.
 * @throws TABLE_CONFLICT when there is another table of the name
 */
export async function swapTable(
  client: Client,
  copy: Table,
  copyTypes: TableTypes,
  table: Table,
  isOurTable: boolean,
): Promise<void> {
  const grants = isOurTable ? await readGrants(client, table) : [];
  if (isOurTable) {
    await client.query("SAVEPOINT svc_swap");
    try {
      await client.query(`DROP TABLE IF EXISTS ${tableName(table)}`);
    } catch (error) {
      if (sqlState(error) !== "2BP01") throw error;
      await client.query("ROLLBACK TO SAVEPOINT svc_swap");
      await client.query(`TRUNCATE ${tableName(table)}`);
      return addRows(client, copy, copyTypes, table);
    }
  }
  const moved = { schema: table.schema, name: copy.name };
  try {
    await client.query(
      [
        `ALTER TABLE ${tableName(copy)} SET SCHEMA ${quoteName(table.schema)}`,
        `ALTER TABLE ${tableName(moved)} RENAME TO ${quoteName(table.name)}`,
        ...grants,
      ].join("; "),
    );
  } catch (error) {
    throw sqlState(error) === "42P07"
      ? new ConnectorError("TABLE_CONFLICT", { name: table.name })
      : error;
  }
}

/** Adds the rows of the copy to the table and removes the copy. */
export async function addRows(
  client: Client,
  copy: Table,
  copyTypes: TableTypes,
  table: Table,
): Promise<void> {
  const types = await describeTable(client, table);
  if (!types)
    throw new ConnectorError("DATABASE_UNUSABLE", {
      reason: "a table was removed while it was written",
    });
  const changes: string[] = [];
  const values: string[] = [];
  for (const [name, type] of copyTypes) {
    const quoted = quoteName(name);
    const there = types.get(name);
    const common = there === undefined || there === type ? type : commonTypeOf(there, type);
    if (there === undefined) changes.push(`ADD COLUMN ${quoted} ${type}`);
    else if (there !== common)
      changes.push(
        `ALTER COLUMN ${quoted} TYPE ${common} USING ${converted(quoted, there, common)}`,
      );
    values.push(type === common ? quoted : converted(quoted, type, common));
  }
  if (changes.length > 0)
    await client.query(`ALTER TABLE ${tableName(table)} ${changes.join(", ")}`);
  const names = [...copyTypes.keys()].map(quoteName).join(", ");
  await client.query(
    `INSERT INTO ${tableName(table)} (${names}) SELECT ${values.join(", ")} FROM ${tableName(copy)}`,
  );
  await client.query(`DROP TABLE ${tableName(copy)}`);
}

const commonTypeOf = (one: string, other: string) =>
  isOurs(other) ? commonOf(one, other) : isOurs(one) ? commonOf(other, one) : "text";

/** Grants of others on the table, as statements. */
async function readGrants(client: Client, table: Table): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('GRANT %s ON %s TO %s%s', a.privilege_type, ${quoteText(tableName(table))},
              CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END,
              CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL aclexplode(c.relacl) a
       LEFT JOIN pg_roles r ON r.oid = a.grantee
      WHERE n.nspname = $1 AND c.relname = $2 AND a.grantee <> c.relowner AND (a.grantee = 0 OR r.rolname IS NOT NULL)`,
    [table.schema, table.name],
  );
  return rows.map(({ statement }) => statement);
}
