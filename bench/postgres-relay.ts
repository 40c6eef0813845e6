/**
 * Measures the authenticating relay: rows per second through it against a direct connection of
 * `pg`, and the connector's own reading against both, on a real server on loopback. Run: node
 * --conditions=svc-source bench/postgres-relay.ts [rows]
 */
import { Client } from "pg";
import source from "../connectors/sources/postgres/index.ts";
import type { Broker } from "../runtime/egress/broker.ts";
import { createPostgresBroker } from "../runtime/egress/postgres-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { systemClock } from "../runtime/host/clock.ts";
import { startPostgres } from "../simulators/postgres-server.ts";

const rowCount = Number(process.argv[2] ?? 500_000);
const rounds = 6;

await using server = await startPostgres();
const database = await server.createDatabase();
await database.query(`
  CREATE TABLE t (id int8 PRIMARY KEY, email text, name text, active bool, score float8, amount numeric(12,2), created_at timestamptz);
  INSERT INTO t SELECT i, 'person' || i || '@example.org', 'Person Number ' || i, i % 3 = 0, i / 7.0, i * 0.01,
    timestamptz '2026-01-01' + i * interval '1.5 seconds' FROM generate_series(1, ${rowCount}) i`);
await database.query("VACUUM ANALYZE t");

const config = {
  host: server.host,
  port: server.port,
  database: database.name,
  schemas: ["public"],
  username: "postgres",
  password: server.password,
  ssl_mode: "disable",
  include_tables: [],
  exclude_tables: [],
  queries: [],
  page_size: 10_000,
};
const signal = new AbortController().signal;

function openBroker() {
  const created = createPostgresBroker({
    declaration: source.egress,
    config,
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
  });
  return Object.assign(created, { [Symbol.asyncDispose]: () => created.close() });
}

async function connectDirectly(): Promise<Client> {
  const client = new Client({ connectionString: database.url, ssl: false });
  await client.connect();
  return client;
}

async function connectThroughRelay(broker: Broker): Promise<Client> {
  const stream = await broker.connect(signal);
  const socket = Object.assign(stream, {
    connect: () => void process.nextTick(() => stream.emit("connect")),
    setNoDelay() {},
    ref() {},
    unref() {},
  });
  const client = new Client({ stream: () => socket, ssl: false, user: "any" });
  await client.connect();
  return client;
}

/** Reads as a plain program does: keyset pages of 10,000 rows as objects. */
async function readPages(client: Client): Promise<number> {
  let after = 0;
  let count = 0;
  for (;;) {
    const { rows } = await client.query<{ id: string }>(
      "SELECT * FROM t WHERE id > $1 ORDER BY id LIMIT 10000",
      [after],
    );
    if (rows.length === 0) break;
    after = Number(rows.at(-1)?.id);
    count += rows.length;
  }
  await client.end();
  return count;
}

async function readByConnector(broker: Broker): Promise<number> {
  const log = { debug() {}, info() {}, warn() {} };
  const ctx = {
    config: config as never,
    log,
    clock: systemClock,
    signal,
    connect: () => broker.connect(signal),
  };
  let count = 0;
  for await (const output of source.read(
    ctx,
    { name: "t", namespace: "public", schema: {}, syncMode: "full_refresh" },
    undefined,
  )) {
    if (output.type === "records") count += output.rows.length;
  }
  return count;
}

const subjects = {
  "pg, direct": async () => readPages(await connectDirectly()),
  "pg, through the relay": async (broker: Broker) => readPages(await connectThroughRelay(broker)),
  "source postgres, through the relay": readByConnector,
};
const best: Record<string, number> = {};
for (let round = 0; round < rounds; round++) {
  for (const [name, read] of Object.entries(subjects)) {
    await using broker = openBroker();
    const startedMs = performance.now();
    const count = await read(broker);
    if (count !== rowCount) throw new Error(`${name} read ${count} rows`);
    const rate = (count / (performance.now() - startedMs)) * 1000;
    best[name] = Math.max(best[name] ?? 0, rate);
  }
}
const direct = best["pg, direct"] ?? 1;
for (const [name, rate] of Object.entries(best)) {
  console.log(
    `${name.padEnd(36)} ${Math.round(rate).toLocaleString("en").padStart(9)} rows/s   ${(rate / direct).toFixed(2)}`,
  );
}
console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
