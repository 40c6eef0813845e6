/**
 * How soon a change is in the warehouse: from its commit in a source to where a query of the
 * destination sees it, by a pipeline whose schedule is continuous. Quiet: nothing has changed for
 * two seconds; in a row: the change before has just arrived, and its round is still ending. Run:
 * node --conditions=svc-source bench/change-latency.ts [changes]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createScaledClock } from "svc-connectors/host";
import { startJobs } from "../control/jobs/worker.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { type PostgresDatabase, startPostgres } from "../simulators/postgres-server.ts";
import { startTestControl } from "../tests/control.ts";

const changeCount = Number(process.argv[2] ?? 20);
const quietMs = 2_000;
const pollMs = 2;

await using server = await startPostgres({ settings: { wal_level: "logical" } });
const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
const { url } = await server.createDatabase();
await using api = await startTestControl({
  database: { url },
  keyring: await openKeyring(join(folder, "keys.json"), { create: true }),
  clock: createScaledClock(1),
  jobs: "announce",
  settings: {
    network: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
    warehouses: join(folder, "warehouses"),
  },
});

async function ask(path: string, body: object) {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body.data;
}

async function addEnd(path: string, connector_id: string, database: PostgresDatabase, more = {}) {
  const secrets = { password: server.password };
  const { credential_handle } = await ask("/credentials", { connector_id, name: "login", secrets });
  const { host, port } = server;
  const login = { host, port, database: database.name, username: "postgres", ssl_mode: "disable" };
  const configuration = { ...login, ...more };
  return await ask(path, { name: database.name, connector_id, credential_handle, configuration });
}

const source = await server.createDatabase();
const target = await server.createDatabase();
await source.query(
  "CREATE TABLE changed (id int PRIMARY KEY, note text); CREATE PUBLICATION svc FOR TABLE changed",
);
const replication = { publication: "svc", slot: "svc_latency" };
const { source_id } = await addEnd("/sources", "conn_postgres", source, { replication });
const { destination_id } = await addEnd("/destinations", "conn_postgres_destination", target);
await using _jobs = await startJobs(api.control.services);
await ask("/pipelines", {
  source_id,
  destination_id,
  schedule: { type: "continuous" },
  streams: [{ name: "changed", namespace: "public" }],
});

const [writer, reader] = [source, target].map(
  ({ url: connectionString }) => new Client({ connectionString }),
) as [Client, Client];
await writer.connect();
await reader.connect();

/** Milliseconds until the row is there. */
async function arrival(id: number): Promise<number> {
  await writer.query("INSERT INTO changed VALUES ($1, 'a change')", [id]);
  const startedMs = performance.now();
  for (;;) {
    const { rows } = await reader
      .query("SELECT FROM _svc_changed WHERE id = $1", [id])
      .catch(() => ({ rows: [] }));
    if (rows.length > 0) return performance.now() - startedMs;
    await sleep(pollMs);
  }
}

function report(what: string, unsorted: readonly number[]): void {
  const times = unsorted.toSorted((one, other) => one - other);
  const at = (share: number) => `${Math.round(times[Math.floor(share * times.length)] ?? 0)} ms`;
  console.log(
    `${what.padEnd(10)} least ${at(0)}, half of them ${at(0.5)}, nine of ten ${at(0.9)}, most ${at(0.999)}`,
  );
}

let id = 0;
await arrival(++id);
const [quiet, inRow]: [number[], number[]] = [[], []];
for (let count = 0; count < changeCount; count++) {
  await sleep(quietMs);
  quiet.push(await arrival(++id));
}
for (let count = 0; count < changeCount; count++) inRow.push(await arrival(++id));
report("quiet", quiet);
report("in a row", inRow);
await writer.end();
await reader.end();
await rm(folder, { recursive: true, force: true });
process.exit(0);
