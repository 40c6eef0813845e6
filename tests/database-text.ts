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

/** Times that move by themselves, once a minute, while somebody is there. */
const activity = ["last_seen_at", "last_active_at"];

/**
 * Every row of every table as JSON, by table, but for when somebody was last there. Bytes are shown
 * as base64.
 */
export async function databaseRows(db: Kysely): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await tableNames(db)) {
    const { rows } = await sql
      .raw<Record<string, unknown>>(`SELECT * FROM ${name} ORDER BY 1, 2`)
      .execute(db);
    texts[name] = JSON.stringify(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row)
            .filter(([column]) => !activity.includes(column))
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
  const { secrets: _sealed, ...open } = await databaseRows(db);
  return Object.values(open).join("\n");
}
