import type { Duplex } from "node:stream";
import { Client } from "pg";
import { ConnectorError } from "svc-connectors";
import type { ServerTypes } from "./binary-values.ts";
import { toFailure } from "./failures.ts";
import type { PostgresContext } from "./spec.ts";

export interface Session {
  readonly client: Client;
  readonly stream: Duplex;
  readonly server: ServerTypes;
  /** False once the connection is gone. */
  readonly isOpen: boolean;
  /** Ends it. A transaction that is open is rolled back. Never throws. */
  close(): Promise<void>;
}

/** No local habits, and an end to what hangs. Names that a server lacks are skipped. */
const settings = {
  datestyle: "ISO, YMD",
  timezone: "UTC",
  intervalstyle: "iso_8601",
  extra_float_digits: "3",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  client_min_messages: "error",
  search_path: "pg_catalog",
  statement_timeout: "0", // COPY lasts as long as the read
  lock_timeout: "1min",
  work_mem: "64MB", // sorts what one commit merges
  idle_in_transaction_session_timeout: "5min",
  idle_session_timeout: "0",
  // The server learns within a minute that this host is gone, and lets go of its locks.
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/**
 * A new session with known settings, named `name`. It ends when the run is cancelled.
 * @throws ConnectorError
 */
export async function openSession(ctx: PostgresContext, name: string): Promise<Session> {
  const stream = await ctx.connect();
  const cancel = () => stream.destroy();
  ctx.signal.addEventListener("abort", cancel, { once: true });
  // A server that is gone without a word leaves the stream half open; `pg` waits for its close.
  stream.once("end", () => stream.destroy());
  let isOpen = true;
  stream.once("close", () => {
    isOpen = false;
    ctx.signal.removeEventListener("abort", cancel);
  });
  const client = new Client({ stream: () => stream, ssl: false, user: "svc", database: "svc" });
  client.on("error", () => {}); // the query that is under way, or the next one, fails
  const values = Object.entries({ ...settings, application_name: name }).map(
    ([key, value]) => `('${key}', '${value}')`,
  );
  let version = 0;
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `SELECT pg_catalog.set_config(s.name, v.value, false),
              pg_catalog.current_setting('server_version_num')::int AS version
       FROM (VALUES ${values}) v (name, value)
       JOIN pg_catalog.pg_settings s ON pg_catalog.lower(s.name) = v.name`,
    );
    version = rows[0]?.version ?? 0;
    // The server notices during a statement that nobody waits any more. Not every platform can.
    await client.query("SET client_connection_check_interval = '10s'").catch(() => {});
  } catch (error) {
    stream.destroy();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
  return {
    client,
    stream,
    server: { hasNumericInfinity: version >= 140_000 },
    get isOpen() {
      return isOpen;
    },
    async close() {
      if (!isOpen) return;
      const closed = new Promise((resolve) => stream.once("close", resolve));
      const giveUp = setTimeout(() => stream.destroy(), farewellMs);
      void client.end().catch(() => {});
      await closed;
      clearTimeout(giveUp);
    },
  };
}

/** Time for the server to end the session; real time, as sockets live in it. */
const farewellMs = 2_000;
