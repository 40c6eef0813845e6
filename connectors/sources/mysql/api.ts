import type { Duplex } from "node:stream";
import { ConnectorError } from "svc-connectors";
import { type Client, openClient } from "./client.ts";
import { toFailure } from "./failures.ts";
import type { MysqlContext } from "./spec.ts";

/** A started client, the stream below it, and the database that it is in. */
export interface Session {
  readonly client: Client;
  readonly stream: Duplex;
  /** As the server writes its name, which may differ from the settings' by case. */
  readonly database: string;
}

/**
 * Texts in UTF-8 and times in UTC; no mode by which quotes, backslashes or operators mean something
 * else; and all rows, whatever limit the server sets for others.
 */
const settings =
  "SET NAMES utf8mb4, sql_mode = '', time_zone = '+00:00', sql_select_limit = 18446744073709551615";

/**
 * Limits on what may hang, and none on what may take long. Names that a server lacks are skipped.
 */
const furtherSettings: Readonly<Record<string, string>> = {
  lock_wait_timeout: "60",
  innodb_lock_wait_timeout: "60",
  // While the output is slow the session is idle, by right.
  net_write_timeout: "31536000",
  wait_timeout: "2147483",
  idle_transaction_timeout: "0",
  idle_readonly_transaction_timeout: "0",
  max_statement_time: "0",
  max_execution_time: "0",
  // A large table is no mistake here.
  sql_big_selects: "1",
  completion_type: "0",
};

/** A new session with known settings. It ends when the run is cancelled. @throws ConnectorError */
export async function openSession(ctx: MysqlContext): Promise<Session> {
  const stream = await ctx.connect();
  ctx.signal.addEventListener("abort", () => stream.destroy(), { once: true });
  // A server that is gone without a word leaves the stream half open.
  stream.once("end", () => stream.destroy());
  try {
    const client = await openClient(stream);
    await client.execute(settings);
    const names = Object.keys(furtherSettings).map((name) => `'${name}'`);
    const known = await client.query(`SHOW SESSION VARIABLES WHERE variable_name IN (${names})`);
    const assignments = known.flatMap(([name]) => {
      const value = furtherSettings[(name ?? "").toLowerCase()];
      return value === undefined ? [] : [`${(name ?? "").toLowerCase()} = ${value}`];
    });
    if (assignments.length > 0) await client.execute(`SET SESSION ${assignments.join(", ")}`);
    await client.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    const [row] = await client.query("SELECT DATABASE()");
    return { client, stream, database: row?.[0] ?? ctx.config.database };
  } catch (error) {
    stream.destroy();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
}

/** One snapshot for all that `work` reads; rolled back in any case. */
export async function* inSnapshot<T>(
  { client, stream }: Session,
  work: () => AsyncIterable<T>,
): AsyncGenerator<T> {
  await client.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
  try {
    yield* work();
  } finally {
    // Who left in the middle of an answer has closed the session.
    if (!stream.destroyed) await client.execute("ROLLBACK").catch(() => {});
  }
}

export const quoteName = (name: string) => `\`${name.replaceAll("`", "``")}\``;

/** A text in SQL, whatever the server's settings make of quotes and backslashes. */
export const quoteText = (text: string) => `_utf8mb4 x'${Buffer.from(text).toString("hex")}'`;
