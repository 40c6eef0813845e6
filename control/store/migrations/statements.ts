import { type Kysely, sql } from "kysely";

/** Runs statements one after another. */
export async function each(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
