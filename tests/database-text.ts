import { sql } from "kysely";
import type { Database } from "../control/store/database.ts";

type Kysely = Database["db"];

/** Names of all tables but those of the migrations. */
export async function tableNames(db: Kysely): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%' ORDER BY 1`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * The columns that a request that does nothing may change, once a minute: when and where somebody
 * was last there.
 */
const activity: Readonly<Record<string, readonly string[]>> = {
  sessions: ["last_seen_at", "ip", "user_agent"],
  memberships: ["last_active_at"],
};

/**
 * Every row of every table as JSON, by table, but for when and where somebody was last there. Bytes
 * are shown as base64.
 */
export const databaseRows = (db: Kysely) =>
  rowsOf(db, (table, column) => !activity[table]?.includes(column));

/**
 * A digest of the rows of each table, but for when and where somebody was last there: whether
 * anything has changed, and where, in one question.
 */
export async function databaseDigests(db: Kysely): Promise<Record<string, string>> {
  const parts = (await tableNames(db)).map((name) => {
    const shown = (activity[name] ?? []).map((column) => ` - '${column}'`).join("");
    return `SELECT '${name}' AS name, md5(coalesce(string_agg(t.text, '' ORDER BY t.text), '')) AS digest
      FROM (SELECT (to_jsonb(${name})${shown})::text AS text FROM ${name}) AS t`;
  });
  const { rows } = await sql
    .raw<{ name: string; digest: string }>(parts.join(" UNION ALL "))
    .execute(db);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

async function rowsOf(
  db: Kysely,
  isShown: (table: string, column: string) => boolean,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await tableNames(db)) {
    const { rows } = await sql
      .raw<Record<string, unknown>>(`SELECT * FROM ${name} ORDER BY 1, 2`)
      .execute(db);
    texts[name] = JSON.stringify(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row)
            .filter(([column]) => isShown(name, column))
            .map(toShown),
        ),
      ),
    );
  }
  return texts;
}

const toShown = ([name, value]: [string, unknown]) => [
  name,
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
];

/** All text that is stored in the clear: everything but the sealed secrets. */
export async function databaseText(db: Kysely): Promise<string> {
  const { secrets: _sealed, ...open } = await rowsOf(db, () => true);
  return Object.values(open).join("\n");
}
