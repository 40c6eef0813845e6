import { Client } from "pg";
import { createHost } from "svc-connectors/host";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { median, type Result } from "./run.ts";

const tables = 6_000;
const columns = 20;
const rounds = 5;

/**
 * Discovery of 6,000 tables of 20 columns through a warm sandboxed worker, against one catalog
 * query with `pg` (connecting included).
 */
export async function benchDiscover(): Promise<Result | undefined> {
  if (findPostgres() === undefined) return undefined;
  await using server = await startPostgres();
  const database = await server.createDatabase();
  await database.query(`DO $$ BEGIN FOR t IN 1..${tables} LOOP
    EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, %s)', t, (SELECT string_agg(format('c%s text', c), ', ') FROM generate_series(2, ${columns}) c));
  END LOOP; END $$`);
  const { host: address, port, password } = server;
  const config = {
    host: address,
    port,
    database: database.name,
    username: "postgres",
    password,
    ssl_mode: "disable",
  };
  const connector = {
    name: "postgres",
    url: new URL("../dist/connectors/sources/postgres/index.js", import.meta.url).href,
  };
  await using host = createHost({ settings: { allowNetworks: ["127.0.0.0/8"] }, keepWarm: 1 });
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    let startedMs = performance.now();
    const client = new Client({
      host: address,
      port,
      password,
      database: database.name,
      user: "postgres",
    });
    await client.connect();
    await client.query(
      `SELECT n.nspname, c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relkind = 'r' AND n.nspname = 'public' AND a.attnum > 0 ORDER BY 1, 2, a.attnum`,
    );
    await client.end();
    // the first round fills the server's caches
    if (round > 0) bare.push(performance.now() - startedMs);
    startedMs = performance.now();
    const streams = await host.discover(connector, config);
    if (streams.length !== tables) throw new Error(`found ${streams.length} tables`);
    if (round > 0) ours.push(performance.now() - startedMs);
  }
  return {
    name: `discover of ${tables.toLocaleString("en")} × ${columns}, against the bare catalog query with pg`,
    ours: `${median(ours).toFixed(0)} ms`,
    baseline: `${median(bare).toFixed(0)} ms`,
    ratio: median(ours) / median(bare),
    aim: "≤ 2",
  };
}
