/**
 * A workload for a source whose log is read while it goes on, and the tables as they were after each
 * of its transactions: each writes its number into a row of every table.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { PostgresDatabase } from "../simulators/postgres-server.ts";

export const historyTables = ["a", "b", "c"] as const;
type TableName = (typeof historyTables)[number];

/** A row by its columns, as texts; of the large one the length and a sum. */
export type HistoryRow = Readonly<Record<string, string | null>>;

/** Whole numbers below a bound, the same for the same seed. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** One table with large values, one of which the log has whole rows, one with partitions. */
const historySql = `
  CREATE TABLE a (id int PRIMARY KEY, v int, k int, body text); ALTER TABLE a ALTER body SET STORAGE EXTERNAL;
  CREATE TABLE b (x text, y int, v int, k int, body text, PRIMARY KEY (x, y)); ALTER TABLE b ALTER body SET STORAGE EXTERNAL; ALTER TABLE b REPLICA IDENTITY FULL;
  CREATE TABLE c (id int, part int, v int, k int, body text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
  CREATE TABLE c1 PARTITION OF c FOR VALUES IN (1); CREATE TABLE c2 PARTITION OF c DEFAULT;
  CREATE TABLE history (k int, name text, rows jsonb, PRIMARY KEY (k, name));
  INSERT INTO a SELECT i, i, NULL, repeat(md5(i::text), 200) FROM generate_series(1, 60) i;
  INSERT INTO b SELECT 'k' || i, i % 3, i, NULL, repeat(md5(i::text), 200) FROM generate_series(1, 60) i;
  INSERT INTO c SELECT i, i % 3, i, NULL, 'x' FROM generate_series(1, 60) i;
  CREATE PUBLICATION svc FOR TABLE a, b, c WITH (publish_via_partition_root = true)`;

/** The rows that say which transaction was the last one. */
const keys: Readonly<Record<TableName, readonly [columns: string, values: string]>> = {
  a: ["id", "0"],
  b: ["x, y", "'counter', 0"],
  c: ["id, part", "0, 1"],
};

export interface History extends AsyncDisposable {
  /** Transactions that were committed. */
  readonly count: number;
  /** Writes until it is stopped, with pauses. */
  write(transactions: number, pauseMs: number): Promise<void>;
  /** One transaction between those of `write`. */
  commit(sql: string): Promise<void>;
  /** A table as it was after a transaction. */
  rowsAt(k: number, name: TableName): Promise<readonly HistoryRow[]>;
}

export async function openHistory(
  database: PostgresDatabase,
  seed: number,
  { truncates }: { readonly truncates: boolean },
): Promise<History> {
  await database.query(historySql);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const random = createRandom(seed);
  const id = () => 1 + random(90);
  const large = () => `repeat(md5('${random(1_000_000)}'), ${random(300)})`;
  const steps: readonly (() => string)[] = [
    () =>
      `INSERT INTO a (id, v, body) VALUES (${id()}, ${random(100)}, ${large()}) ON CONFLICT (id) DO UPDATE SET v = excluded.v`,
    () => `UPDATE a SET v = v + 1 WHERE id > 0 AND id % 7 = ${random(7)}`,
    () =>
      `UPDATE a SET id = ${1_000 + random(100_000)} WHERE id = ${id()} AND NOT EXISTS (SELECT FROM a o WHERE o.id >= 1000)`,
    () =>
      `UPDATE a SET id = ${id()} WHERE id >= 1000 AND NOT EXISTS (SELECT FROM a o WHERE o.id BETWEEN 1 AND 90 AND o.id % 5 = 0)`,
    () => `UPDATE a SET body = ${large()} WHERE id > 0 AND id % 11 = ${random(11)}`,
    () => `DELETE FROM a WHERE id = ${id()} OR id >= 1000 AND ${random(2)} = 0`,
    () =>
      `INSERT INTO b (x, y, v, body) VALUES ('k${id()}', ${random(3)}, 0, ${large()}) ON CONFLICT (x, y) DO UPDATE SET v = b.v + 1`,
    () =>
      `UPDATE b SET x = x || 'z' WHERE x <> 'counter' AND y = ${random(3)} AND length(x) < 6 AND NOT EXISTS (SELECT FROM b o WHERE o.x = b.x || 'z' AND o.y = b.y)`,
    () => `DELETE FROM b WHERE x <> 'counter' AND v % 9 = ${random(9)}`,
    () =>
      `INSERT INTO c (id, part, v, body) VALUES (${id()}, ${random(3)}, ${random(9)}, 'new') ON CONFLICT (id, part) DO UPDATE SET v = c.v + 1`,
    () =>
      `UPDATE c SET part = (part + 1) % 3 WHERE id = ${id()} AND NOT EXISTS (SELECT FROM c o WHERE o.id = c.id AND o.part = (c.part + 1) % 3)`,
    () => `DELETE FROM c WHERE id = ${id()}`,
    () =>
      random(40) === 0
        ? "UPDATE a SET v = v + 1, body = body || 'y' WHERE id > 0; UPDATE b SET v = v + 1 WHERE x <> 'counter'; UPDATE c SET v = v + 1 WHERE id > 0"
        : "SELECT 1",
    () => (truncates && random(60) === 0 ? `TRUNCATE ${historyTables[random(3)]}` : "SELECT 1"),
  ];
  let count = 0;
  /** One after another: the order of their numbers is that of their commits. */
  let last: Promise<unknown> = Promise.resolve();
  const transact = (sql: string, end = "COMMIT"): Promise<void> => {
    const run = async () => {
      const k = count + 1;
      const counters = historyTables.map((name) => {
        const [columns, values] = keys[name];
        return `INSERT INTO ${name} (${columns}, k) VALUES (${values}, ${k}) ON CONFLICT (${columns}) DO UPDATE SET k = excluded.k`;
      });
      const notes = historyTables.map(
        (name) =>
          `INSERT INTO history SELECT ${k}, '${name}', jsonb_agg(to_jsonb(t) || jsonb_build_object('body', concat(length(body), ':', md5(body)))) FROM ${name} t`,
      );
      await client.query(`BEGIN; ${[sql, ...counters, ...notes].join("; ")}; ${end}`);
      if (end === "COMMIT") count = k;
    };
    const mine = last.then(run);
    last = mine.catch(() => undefined);
    return mine;
  };
  const step = () => (steps[random(steps.length)] as () => string)();
  return {
    get count() {
      return count;
    },
    write(transactions, pauseMs) {
      const writing = (async () => {
        while (count < transactions) {
          const sql = Array.from({ length: 1 + random(5) }, step).join("; ");
          await transact(sql, random(9) === 0 ? "ROLLBACK" : "COMMIT");
          // In bursts, as others write.
          if (random(10) === 0) await delay(random(pauseMs * 20));
        }
      })();
      // A test that fails before it waits for this has ended the client.
      writing.catch(() => undefined);
      return writing;
    },
    commit: (sql) => transact(sql),
    [Symbol.asyncDispose]: () => client.end(),
    async rowsAt(k, name) {
      const [found] = await database.query(
        `SELECT rows FROM history WHERE k = ${k} AND name = '${name}'`,
      );
      const rows = (found?.rows ?? []) as readonly Readonly<Record<string, unknown>>[];
      return rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            value === null ? null : String(value),
          ]),
        ),
      );
    },
  };
}

/** The columns of a destination's table that are the source's, as texts. */
export const selectHistoryColumns = (columns: readonly string[]): string =>
  columns
    .filter((name) => !name.startsWith("_"))
    .map((name) =>
      name === "body"
        ? "concat(length(body), ':', md5(body)) AS body"
        : `CAST("${name}" AS varchar) AS "${name}"`,
    )
    .join(", ");

/** Rows as texts in an order of their own, with some of their columns. */
export const toTexts = (rows: readonly HistoryRow[], columns: readonly string[]): string[] =>
  rows.map((row) => JSON.stringify(columns.toSorted().map((name) => row[name] ?? null))).toSorted();
