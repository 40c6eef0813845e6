/**
 * Changes a second from PostgreSQL's log, and CPU seconds for a million of them: the server alone,
 * by pg_recvlogical; the connector and the relay in this process, without a destination; whole
 * syncs from the source, sandbox, filter and state included, of which the host's part is told
 * apart. The server's own processor is in no figure. Run: node --conditions=svc-source
 * bench/changes.ts [changes] [destinations]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SelectedStream } from "svc-connectors";
import { startPostgres } from "../simulators/postgres-server.ts";
import { createPostgresRun, type PostgresState } from "../tests/postgres-run.ts";
import { here, node, quoted } from "./columns/world.ts";

const changeCount = Number(process.argv[2] ?? 500_000);
const destinations = (process.argv[3] ?? "duckdb,postgres-destination").split(",").filter(Boolean);
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

/**
 * A sync in a process of its own. Gives how many rows came, and CPU seconds: all, and the host's.
 */
async function sync(destination: string, config: object, slot: string, fence: number) {
  const { host, port } = server;
  const source = {
    ...{ host, port, database: database.name, ...login, ssl_mode: "disable" },
    replication: { publication: "svc", slot },
  };
  const request = { source, destination: { name: destination, config, folder }, fence };
  const program = `${node} --conditions=svc-source ${process.env.SVC_BENCH_FLAGS ?? ""} ${quoted(here("sync-run.ts"))}`;
  const child = spawn(
    "bash",
    ["-c", `TIMEFORMAT='%U %S'; time ${program} ${quoted(JSON.stringify(request))}`],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(text.slice(-1_000));
  const [said = "", times = ""] = text.trim().split("\n").slice(-2);
  const { rows, cpu } = JSON.parse(said) as { readonly rows: number; readonly cpu: number };
  const [user = 0, system = 0] = times.split(" ").map(Number);
  return { rows, all: user + system, host: cpu };
}

const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
const targets: { name: string; config: object; slot: string }[] = [];
for (const [index, name] of destinations.entries()) {
  const { host, port } = server;
  const target = { host, port, database: (await server.createDatabase()).name };
  const config =
    name === "duckdb" ? { file: "bench" } : { ...target, ...login, ssl_mode: "disable" };
  targets.push({ name, config, slot: `svc_sync_${index}` });
}
for (const { name, config, slot } of targets) await sync(name, config, slot, 1);

const { after } = await read(undefined);
await database.query("SELECT pg_create_logical_replication_slot('alone', 'pgoutput')");
await database.query(`DO $$ BEGIN FOR i IN 0..${changeCount / perTransaction / 2 - 1} LOOP
  INSERT INTO changed SELECT n, 'person number ' || n, n / 100.0, now(), 'a note of some length about ' || n
    FROM generate_series(i * ${perTransaction}, (i + 1) * ${perTransaction} - 1) n; COMMIT;
  UPDATE changed SET note = note || '!' WHERE id >= i * ${perTransaction} AND id < (i + 1) * ${perTransaction}; COMMIT;
END LOOP; END $$`);

function report(what: string, startedMs: number, count: number, cpu = ""): void {
  const seconds = (performance.now() - startedMs) / 1_000;
  const rate = Math.round(count / seconds).toLocaleString("en");
  console.log(
    `${what.padEnd(30)} ${seconds.toFixed(2).padStart(7)} s ${rate.padStart(9)} changes/s ${cpu}`,
  );
}

/** CPU seconds for a million changes. */
const perMillion = (seconds: number, count: number) => ((seconds * 1e6) / count).toFixed(1);

const [end] = await database.query("SELECT pg_current_wal_lsn()::text AS lsn");
let startedMs = performance.now();
const alone = spawn(
  "pg_recvlogical",
  [
    "-d",
    database.url,
    "-S",
    "alone",
    "--start",
    "-f",
    "/dev/null",
    "-E",
    String(end?.lsn),
    "-o",
    "proto_version=1",
    "-o",
    "publication_names=svc",
  ],
  { stdio: "ignore" },
);
const hasRun = await Promise.race([
  once(alone, "exit").then(() => true),
  once(alone, "error").then(() => false),
]);
if (hasRun) report("pg_recvlogical", startedMs, changeCount);

startedMs = performance.now();
const before = process.cpuUsage();
const { rowCount } = await read(after);
const { user, system } = process.cpuUsage(before);
const own = (user + system) / 1e6;
report("the connector", startedMs, rowCount, `${perMillion(own, rowCount)} CPU s a million`);

for (const { name, config, slot } of targets) {
  startedMs = performance.now();
  const { rows, all, host } = await sync(name, config, slot, 2);
  const each = [all, host, all - host].map((seconds) => perMillion(seconds, rows));
  const cpu = `${each[0]} CPU s a million: host ${each[1]}, the rest ${each[2]}`;
  report(`→ ${name}`, startedMs, rows, cpu);
}
await rm(folder, { recursive: true, force: true });
