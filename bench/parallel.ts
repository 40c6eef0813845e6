/**
 * Reads of eight streams, one, two and four at a time: from a provider whose answers take a while,
 * and from PostgreSQL; without a destination, and into DuckDB. Each against one stream at a time.
 * `node --conditions=svc-source bench/parallel.ts [rows of a table]`
 */

import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHost,
  type Host,
  type JsonObject,
  type Sink,
  systemClock,
} from "svc-connectors/host";
import { openDuckdbOutput } from "../runtime/sinks/duckdb.ts";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { startProgram } from "./run.ts";

const streamCount = 8;
const answerMs = 50;
const rowCount = Number(process.argv[2] ?? 200_000);

const nowhere: Sink = {
  lineFormat: "rows",
  open: async () => {},
  write: async () => {},
  writeBatch: async () => {},
  checkpoint: async () => {},
  status: async () => {},
  close: async () => {},
};

async function measure(
  what: string,
  host: Host,
  connector: { readonly name: string; readonly url: string },
  config: JsonObject,
  into: "nowhere" | "DuckDB",
): Promise<void> {
  const found = await host.discover(connector, config);
  const streams = found.map((stream) => ({ stream, sync_mode: "full_refresh" as const }));
  let first = 0;
  for (const parallelStreams of [1, 2, 4]) {
    const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
    const options = { connectorId: "conn_bench", clock: systemClock, streams };
    const sink =
      into === "nowhere" ? nowhere : await openDuckdbOutput(join(folder, "out.duckdb"), options);
    const startedMs = performance.now();
    const before = process.cpuUsage();
    const request = { config, catalog: { streams }, parallelStreams };
    const { status, recordCount } = await host.read(connector, request, sink);
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    first ||= seconds;
    console.log(
      `| ${what} → ${into} | ${parallelStreams} | ${status}, ${recordCount} rows | ${seconds.toFixed(1)} s | ${((user + system) / 1e6).toFixed(1)} | ${(first / seconds).toFixed(2)} |`,
    );
    await rm(folder, { recursive: true });
  }
}

console.log(
  "| read | at a time | rows | time | host's CPU s | times as fast |\n|---|---|---|---|---|---|",
);
{
  using server = await startProgram("./rows-server.ts", String(answerMs));
  const { port, ca } = server.ready;
  await using host = createHost({
    seams: {
      ca: String(ca),
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: () => connect({ host: "127.0.0.1", port: Number(port) }),
    },
  });
  const url = new URL("./rows-connector/index.ts", import.meta.url).href;
  const config = { api_token: "bench-token-7f3a9c51e8b2d604qmxzrlpt", pages: 40 };
  for (const into of ["nowhere", "DuckDB"] as const)
    await measure(`answers after ${answerMs} ms`, host, { name: "rows", url }, config, into);
}
if (findPostgres()) {
  await using server = await startPostgres();
  const database = await server.createDatabase();
  for (let table = 1; table <= streamCount; table++)
    await database.query(`CREATE TABLE t${table} AS SELECT i AS id, 'person' || i || '@example.org' AS email, i / 8.0 AS score,
      timestamptz '2026-01-01' + i * interval '1 second' AS created_at, 'a note of some length about ' || i AS note
      FROM generate_series(1, ${rowCount}) i`);
  await using host = createHost({ settings: { allowNetworks: ["127.0.0.1/32"] } });
  const url = new URL("../connectors/sources/postgres/index.ts", import.meta.url).href;
  const config = {
    host: server.host,
    port: server.port,
    database: database.name,
    username: "postgres",
    password: server.password,
    ssl_mode: "disable",
  };
  for (const into of ["nowhere", "DuckDB"] as const)
    await measure("PostgreSQL", host, { name: "postgres", url }, config, into);
}
