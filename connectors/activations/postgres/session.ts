import { Client } from "pg";
import { ConnectorError } from "svc-connectors";
import { toFailure } from "./failures.ts";
import type { PostgresContext } from "./spec.ts";

/** No local habits, and an end to what hangs. Names that a server lacks are skipped. */
const settings = {
  datestyle: "ISO, YMD",
  timezone: "UTC",
  intervalstyle: "iso_8601",
  client_min_messages: "error",
  search_path: "pg_catalog",
  statement_timeout: "10min",
  lock_timeout: "1min",
  idle_in_transaction_session_timeout: "1min",
  idle_session_timeout: "0",
};

/**
 * Runs `work` on a session of its own. It ends when the run is cancelled.
 * @throws ConnectorError
 */
export async function withSession<T>(
  ctx: PostgresContext,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const session = await openSession(ctx);
  try {
    return await work(session.client);
  } catch (error) {
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  } finally {
    session.close();
  }
}

export interface Session {
  readonly client: Client;
  close(): void;
}

/** @throws ConnectorError */
export async function openSession(ctx: PostgresContext): Promise<Session> {
  const stream = await ctx.connect();
  const cancel = () => stream.destroy();
  ctx.signal.addEventListener("abort", cancel, { once: true });
  // A server that is gone without a word leaves the stream half open; `pg` waits for its close.
  stream.once("end", cancel);
  stream.once("close", () => ctx.signal.removeEventListener("abort", cancel));
  const client = new Client({ stream: () => stream, ssl: false, user: "svc", database: "svc" });
  client.on("error", () => {}); // the query that is under way, or the next one, fails
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  try {
    await client.connect();
    await client.query(
      `SELECT pg_catalog.set_config(s.name, v.value, false) FROM (VALUES ${values}) v (name, value)
       JOIN pg_catalog.pg_settings s ON pg_catalog.lower(s.name) = v.name`,
    );
  } catch (error) {
    stream.destroy();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
  return { client, close: () => void stream.end() };
}
