/**
 * Changes a second from PostgreSQL's log, by the connector and the relay in this process, without a
 * destination; beside it the server alone, by pg_recvlogical. Run: node --conditions=svc-source
 * bench/changes.ts [changes]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SelectedStream } from "svc-connectors";
import { startPostgres } from "../simulators/postgres-server.ts";
import { createPostgresRun, type PostgresState } from "../tests/postgres-run.ts";

const changeCount = Number(process.argv[2] ?? 500_000);
const perTransaction = 1_000;

await using server = await startPostgres({
  settings: { wal_level: "logical", fsync: "off", max_wal_size: "8GB" },
});
const database = await server.createDatabase();
await database.query(`
  CREATE TABLE changed (id bigint PRIMARY KEY, name text, amount numeric, at timestamptz, note text);
  CREATE PUBLICATION svc FOR TABLE changed`);
const login = { username: "postgres", password: server.password };
const settings = { replication: { publication: "svc", slot: "svc_bench" } };

/** Reads the table once. Gives its state, and how many rows came. */
async function read(state: PostgresState) {
  await using run = createPostgresRun(server, database, login, settings);
  let stream: SelectedStream | undefined;
  for await (const found of run.discover()) stream = { ...found, syncMode: "incremental" };
  if (!stream) throw new Error("there is no table");
  const selection = { streams: [{ stream, state }], isPart: false } as never;
  let after = state;
  let rowCount = 0;
  for await (const output of run.readBatches(stream, state, selection))
    if (output.type === "batch") for (const batch of output.batches) rowCount += batch.rowCount;
    else if (output.type === "checkpoint") after = output.state as PostgresState;
  return { after, rowCount };
}

const { after } = await read(undefined);
await database.query("SELECT pg_create_logical_replication_slot('alone', 'pgoutput')");
await database.query(`DO $$ BEGIN FOR i IN 0..${changeCount / perTransaction / 2 - 1} LOOP
  INSERT INTO changed SELECT n, 'person number ' || n, n / 100.0, now(), 'a note of some length about ' || n
    FROM generate_series(i * ${perTransaction}, (i + 1) * ${perTransaction} - 1) n; COMMIT;
  UPDATE changed SET note = note || '!' WHERE id >= i * ${perTransaction} AND id < (i + 1) * ${perTransaction}; COMMIT;
END LOOP; END $$`);

function report(what: string, startedMs: number, count: number): void {
  const seconds = (performance.now() - startedMs) / 1_000;
  const rate = Math.round(count / seconds).toLocaleString("en");
  console.log(
    `${what.padEnd(30)} ${seconds.toFixed(2).padStart(7)} s ${rate.padStart(9)} changes/s`,
  );
}

const [end] = await database.query("SELECT pg_current_wal_lsn()::text AS lsn");
let startedMs = performance.now();
const alone = spawn(
  "pg_recvlogical",
  // biome-ignore format: pairs
  ["-d", database.url, "-S", "alone", "--start", "-f", "/dev/null", "-E", String(end?.lsn), "-o", "proto_version=1", "-o", "publication_names=svc"],
  { stdio: "ignore" },
);
const hasRun = await Promise.race([
  once(alone, "exit").then(() => true),
  once(alone, "error").then(() => false),
]);
if (hasRun) report("pg_recvlogical", startedMs, changeCount);

startedMs = performance.now();
const { rowCount } = await read(after);
report("the connector", startedMs, rowCount);
