/** A database with as many tables as svc takes, and with one more. */
import type { DatabaseCopy } from "../contract/database.ts";
import type { Lab } from "../contract/lab.ts";
import { identifier } from "../target/database.ts";

/** Columns of each made-up table. */
const columnCount = 20;
/** Tables that are made by one statement: each of them takes locks until its end. */
const batchSize = 500;

/** How the names of made-up tables begin. */
export const madeUpTable = "table_";

export interface ManyTables extends AsyncDisposable {
  readonly copy: DatabaseCopy;
  /** Makes tables until discover finds so many. */
  grow(count: number): Promise<void>;
}

export async function openManyTables(lab: Lab): Promise<ManyTables> {
  if (!lab.database) throw new Error("there is no database");
  const role = identifier(lab.database.role);
  const copy = await lab.database.copy(
    `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ${role};`,
  );
  let madeCount = 0;
  return {
    copy,
    async grow(count) {
      const last = count - lab.streams.length;
      const batches: string[] = [];
      for (let first = madeCount + 1; first <= last; first += batchSize)
        batches.push(makeTables(first, Math.min(last, first + batchSize - 1)));
      await copy.execute(batches.join("\n"));
      madeCount = last;
    },
    [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
  };
}

const makeTables = (first: number, last: number) => `
  DO $batch$ BEGIN FOR number IN ${first}..${last} LOOP
    EXECUTE pg_catalog.format('CREATE TABLE public.%I (id bigint PRIMARY KEY, %s)', '${madeUpTable}' || pg_catalog.lpad(number::text, 5, '0'),
      (SELECT pg_catalog.string_agg(pg_catalog.format('column_%s %s', c, (ARRAY['text', 'int', 'timestamptz', 'numeric(12, 2)'])[c % 4 + 1]), ', ') FROM pg_catalog.generate_series(2, ${columnCount}) c));
  END LOOP; END $batch$;`;
