import type { Duplex } from "node:stream";
import { Client, escapeLiteral } from "pg";
import { ConnectorError } from "svc-connectors";
import { type CopyTap, createCopyTap } from "./copy-tap.ts";
import { toFailure } from "./failures.ts";
import { createSpareValues, type SpareValues } from "./projection.ts";
import type { PostgresContext } from "./spec.ts";
import type { KnownTypes } from "./type-names.ts";

/** A connected client, the stream below it, and what takes the rows of a COPY from this. */
export interface Session {
  readonly client: Client;
  readonly stream: Duplex;
  readonly tap: CopyTap;
  /** Types that were asked for, by OID. */
  readonly types: KnownTypes;
  /** Memory for the columns of one query after another. */
  readonly spare: SpareValues;
}

/**
 * Text output without loss and without local habits, and limits on what may hang. Names that a
 * server lacks are skipped.
 */
const settings = {
  datestyle: "ISO, YMD",
  timezone: "UTC",
  intervalstyle: "iso_8601",
  extra_float_digits: "3",
  bytea_output: "hex",
  lc_monetary: "C",
  jit: "off", // compiling takes longer than the catalog queries
  statement_timeout: "1h",
  lock_timeout: "1min",
  // While the output is slow the session is idle, by right.
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
  transaction_timeout: "0",
};

/** A new session with known settings. It ends when the run is cancelled. @throws ConnectorError */
export async function openSession(ctx: PostgresContext): Promise<Session> {
  const stream = await ctx.connect();
  ctx.signal.addEventListener("abort", () => stream.destroy(), { once: true });
  // A server that is gone without a word leaves the stream half open; `pg` waits for its close.
  stream.once("end", () => stream.destroy());
  const client = new Client({ stream: () => stream, ssl: false, user: "svc", database: "svc" });
  client.on("error", () => {}); // the query that is under way, or the next one, fails
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  try {
    const connecting = client.connect();
    const tap = createCopyTap(stream);
    await connecting;
    await client.query(
      `SELECT pg_catalog.set_config(s.name, v.value, false) FROM (VALUES ${values}) v (name, value)
       JOIN pg_catalog.pg_settings s ON pg_catalog.lower(s.name) = v.name`,
    );
    // The server notices during a statement that nobody waits any more. Not every platform can.
    await client.query("SET client_connection_check_interval = '10s'").catch(() => {});
    return { client, stream, tap, types: new Map(), spare: createSpareValues() };
  } catch (error) {
    stream.destroy();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
}

export interface SnapshotOptions<Begun> {
  /**
   * False: a statement may take as long as the output of its rows does. Whether the server is still
   * there, copyRows looks itself. Default: true.
   */
  readonly hasTimeout?: boolean | undefined;
  /** The name of a snapshot that another session has exported. Default: one of this moment. */
  readonly snapshot?: string | undefined;
  /**
   * Sends the statements that begin it; what is asked in the same message costs no round trip of
   * its own. Default: sends them alone.
   */
  readonly begin?: ((steps: string) => Promise<Begun | undefined>) | undefined;
  /** In the same way for the statement that ends it, when `work` is done. */
  readonly end?: ((step: string) => Promise<void>) | undefined;
}

/**
 * One snapshot for all that `work` reads, which is given what `begin` got; rolled back in any case.
 */
export async function* inSnapshot<T, Begun = undefined>(
  { client }: Session,
  work: (begun: Begun | undefined) => AsyncIterable<T>,
  { hasTimeout = true, snapshot, begin, end }: SnapshotOptions<Begun> = {},
): AsyncGenerator<T> {
  const steps = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"];
  if (snapshot !== undefined) steps.push(`SET TRANSACTION SNAPSHOT ${escapeLiteral(snapshot)}`);
  if (!hasTimeout) steps.push("SET LOCAL statement_timeout = 0");
  const beginning = steps.join("; ");
  let hasEnded = false;
  try {
    if (!begin) await client.query(beginning);
    yield* work(await begin?.(beginning));
    await end?.("ROLLBACK");
    hasEnded = end !== undefined;
  } finally {
    if (!hasEnded) await client.query("ROLLBACK").catch(() => {}); // the session may be gone
  }
}
