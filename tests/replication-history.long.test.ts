/**
 * Thousands of random transactions over three tables while their log is read by runs that are
 * killed with -9 anywhere. After each run that came to its end, the destination is the source as it
 * was after one of the transactions; in the end it is the source. SEED and TRANSACTIONS choose
 * another walk.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeyring } from "../control/vault/keyring.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { startTestControl } from "./control.ts";
import { firstLine, killed, startProgram } from "./control-process.ts";
import {
  createRandom,
  type History,
  type HistoryRow,
  historyTables,
  openHistory,
  selectHistoryColumns,
  toTexts,
} from "./log-history.ts";

const seed = Number(process.env.SEED ?? 7);
const transactions = Number(process.env.TRANSACTIONS ?? 3_000);
const pauseMs = 12;
/** Each has its part of the transactions, and a run that reads while they are written. */
const rounds = 8;
const command = fileURLToPath(new URL("../svc.ts", import.meta.url));

let server: PostgresServer;
beforeAll(async () => {
  if (findPostgres() === undefined) return;
  server = await startPostgres({
    settings: {
      wal_level: "logical",
      max_replication_slots: "10",
      max_wal_senders: "10",
      fsync: "off",
    },
  });
});
afterAll(() => server?.stop());

/** A destination's table: the rows that are there, and the keys of those that are marked. */
interface Found {
  readonly columns: readonly string[];
  readonly rows: readonly HistoryRow[];
  readonly marked: readonly HistoryRow[];
}

/** Gives the number of the transaction that the destination stands behind. */
async function expectHistory(
  history: History,
  read: (name: string) => Promise<Found>,
  whole: boolean,
): Promise<number> {
  const counters = new Set<number>();
  for (const name of historyTables) {
    const { columns, rows, marked } = await read(name);
    const counter = rows.find(({ id, x }) => (name === "b" ? x === "counter" : id === "0"));
    const k = Number(counter?.k);
    counters.add(k);
    const expected = await history.rowsAt(k, name);
    const known = whole ? Object.keys(expected[0] ?? {}) : columns;
    const where = `${name} after transaction ${k}, seed ${seed}`;
    expect(toTexts(rows, known), where).toEqual(toTexts(expected, known));
    const keys = name === "b" ? ["x", "y"] : name === "c" ? ["id", "part"] : ["id"];
    const there = new Set(toTexts(expected, keys));
    expect(
      toTexts(marked, keys).filter((key) => there.has(key)),
      where,
    ).toEqual([]);
  }
  expect(counters.size, `one transaction for all tables: ${[...counters]}`).toBe(1);
  return [...counters][0] as number;
}

describe.skipIf(findPostgres() === undefined)("a log that is read while others write", () => {
  test("makes of every run of `svc read` into DuckDB the source at a transaction", async () => {
    const database = await server.createDatabase();
    await using history = await openHistory(database, seed, { truncates: true });
    const folder = await mkdtemp(join(tmpdir(), "svc-cdc-"));
    try {
      await writeFile(join(folder, "password.txt"), server.password, { mode: 0o600 });
      await writeFile(join(folder, "svc.config.yaml"), "allow_networks: [127.0.0.1/32]\n");
      await writeFile(
        join(folder, "source.yaml"),
        `host: ${server.host}\nport: ${server.port}\ndatabase: ${database.name}\nusername: postgres\npassword: { $file: ./password.txt }\nssl_mode: disable\nexclude_tables: [public.history]\npage_size: 20\nreplication: { publication: svc, slot: svc_history }\n`,
      );
      const random = createRandom(seed + 1);
      const args = ["--config", "source.yaml", "--out", "x.duckdb"];
      /** Gives the exit code, null when it was killed, and what it has said. */
      const read = async (killAfterMs?: number): Promise<[code: number | null, said: string]> => {
        const child = spawn(
          process.execPath,
          ["--conditions=svc-source", command, "read", "postgres", ...args],
          { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
        );
        const said = Promise.all([text(child.stderr), text(child.stdout)]);
        const kill = () => child.kill("SIGKILL");
        const timer = killAfterMs === undefined ? undefined : setTimeout(kill, killAfterMs);
        const [code] = (await once(child, "exit")) as [number | null];
        clearTimeout(timer);
        return [code, (await said).join("")];
      };
      const found = async (name: string): Promise<Found> => {
        const instance = await DuckDBInstance.create(join(folder, "x.duckdb"));
        const connection = await instance.connect();
        const rowsOf = async (sql: string) =>
          (await connection.runAndReadAll(sql)).getRowObjectsJson() as HistoryRow[];
        const columns = await rowsOf(
          `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '${name}'`,
        );
        const names = columns.map((column) => String(column.name));
        const rows = await rowsOf(`SELECT ${selectHistoryColumns(names)} FROM public.${name}`);
        connection.closeSync();
        instance.closeSync();
        return { columns: names.filter((one) => !one.startsWith("_")), rows, marked: [] };
      };
      await history.commit("SELECT 1");
      let lengthMs = 3_000;
      let added = 0;
      let checked = 0;
      const seen = new Set<number>();
      // After a truncation a table is read anew, and nothing can be compared.
      for (let round = 1; round <= rounds || (checked < 4 && round <= 3 * rounds); round++) {
        const writing = history.write(Math.round((transactions * round) / rounds), pauseMs);
        const kind = random(6);
        if (kind === 0)
          await history.commit(
            `ALTER TABLE ${historyTables[random(3)]} ADD more_${++added} int NOT NULL DEFAULT ${added}`,
          );
        if (kind === 1) await history.commit("ALTER TABLE a ALTER v TYPE int USING v * 3 % 1000");
        for (let kills = random(3); kills > 0; kills--) await read(random(Math.round(lengthMs)));
        const begun = performance.now();
        const [code, said] = await read();
        lengthMs = performance.now() - begun;
        if (code === 0) {
          seen.add(await expectHistory(history, found, false));
          checked++;
        } else
          expect(said).toMatch(
            /The rows are read anew by the next run \(the table was truncated\)|The data changed while/,
          );
        await writing;
      }
      for (let tries = 0; tries < 4; tries++) if ((await read())[0] === 0) break;
      expect(await expectHistory(history, found, true)).toBe(history.count);
      expect(checked).toBeGreaterThan(3);
      expect(seen.size).toBeGreaterThan(3);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("makes of every job into PostgreSQL the source at a transaction, with marked and removed rows", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-history-"));
    const source = await server.createDatabase();
    await using history = await openHistory(source, seed + 3, { truncates: false });
    const target = await server.createDatabase();
    const { url } = await server.createDatabase();
    const keyFile = join(folder, "keys.json");
    const workers = {
      databaseUrl: url,
      keyFile,
      warehouses: join(folder, "warehouses"),
      hostname: "mail.example.com",
      port: server.port,
      ca: server.caPem,
    };
    const api = await startTestControl({
      database: { url },
      keyring: await openKeyring(keyFile, { create: true }),
      clock: createScaledClock(1),
      jobs: "announce",
      seams: { dial: (to) => connect(to.port, to.address) },
      settings: {
        network: { approvedHosts: [workers.hostname], allowNetworks: ["127.0.0.1/32"] },
        warehouses: workers.warehouses,
      },
    });
    let worker: ReturnType<typeof startProgram> | undefined;
    try {
      const ask = async (method: "GET" | "POST", path: string, body?: object) => {
        const answer = await api.call(method, path, body ? { body } : {});
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
        return answer.body.data;
      };
      const addEnd = async (path: string, connector_id: string, name: string, more: object) => {
        const secrets = { password: server.password };
        const login = { connector_id, name: "login", secrets };
        const { credential_handle } = await ask("POST", "/credentials", login);
        const { host, port } = server;
        const configuration = {
          ...{ host, port, database: name, username: "postgres", ssl_mode: "disable" },
          ...more,
        };
        return await ask("POST", path, { name, connector_id, credential_handle, configuration });
      };
      const replication = { publication: "svc", slot: "svc_history_job" };
      const more = { replication, page_size: 20 };
      const { source_id } = await addEnd("/sources", "conn_postgres", source.name, more);
      const destination = "conn_postgres_destination";
      const { destination_id } = await addEnd("/destinations", destination, target.name, {});
      const { pipeline_id } = await ask("POST", "/pipelines", {
        ...{ name: "history", source_id, destination_id, schedule: { type: "manual" } },
        streams: [
          { name: "a", namespace: "public", detect_deletes: "soft" },
          { name: "b", namespace: "public" },
          { name: "c", namespace: "public", detect_deletes: "soft" },
        ],
      });
      const found = async (name: string): Promise<Found> => {
        const columns = await target.query(
          `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '_svc_${name}'`,
        );
        const names = columns.map((column) => String(column.name));
        const select = `SELECT ${selectHistoryColumns(names)} FROM _svc_${name} WHERE _ab_cdc_deleted_at IS`;
        return {
          columns: names.filter((one) => !one.startsWith("_")),
          rows: (await target.query(`${select} NULL`)) as HistoryRow[],
          marked: (await target.query(`${select} NOT NULL`)) as HistoryRow[],
        };
      };
      const random = createRandom(seed + 2);
      const start = async () => {
        worker = startProgram("job-process.ts", workers);
        await firstLine(worker);
      };
      const now = () => new Date(api.control.services.clock.now() - 1);
      /** Runs one job, whose workers are killed so often. */
      const sync = async (kills: number, lengthMs: number): Promise<void> => {
        const { job } = await ask("POST", `/pipelines/${pipeline_id}/sync`, {});
        const { job_id } = job;
        const jobs = () => api.db.updateTable("jobs").where("id", "=", job_id);
        for (let left = kills; left > 0; left--) {
          await delay(random(Math.round(lengthMs)));
          if (worker) await killed(worker);
          await start();
          await jobs().set({ lease_until: now() }).where("lease_until", "is not", null).execute();
        }
        for (;;) {
          const { status, failure } = await ask("GET", `/jobs/${job_id}`);
          if (status === "succeeded") return;
          expect(["failed", "cancelled"], JSON.stringify(failure)).not.toContain(status);
          if (status === "incomplete") await jobs().set({ runnable_at: now() }).execute();
          await delay(50);
        }
      };
      await history.commit("SELECT 1");
      await start();
      let lengthMs = 3_000;
      const seen = new Set<number>();
      const known = new Map<string, string[]>();
      let marked = 0;
      for (let round = 1; round <= rounds; round++) {
        const writing = history.write(Math.round((transactions * round) / rounds), pauseMs);
        if (random(4) === 0)
          await history.commit("ALTER TABLE a ALTER v TYPE int USING v * 3 % 1000");
        const kills = random(3);
        const begun = performance.now();
        await sync(kills, lengthMs);
        if (kills === 0) lengthMs = performance.now() - begun;
        seen.add(await expectHistory(history, found, false));
        for (const [name, keys] of Object.entries({ a: ["id"], c: ["id", "part"] })) {
          const { rows, marked: gone } = await found(name);
          const has = toTexts([...rows, ...gone], keys);
          // A row that was there once is there, or marked.
          expect(has).toEqual(expect.arrayContaining(known.get(name) ?? []));
          known.set(name, has);
          marked = Math.max(marked, gone.length);
        }
        await writing;
      }
      await sync(0, 0);
      expect(await expectHistory(history, found, true)).toBe(history.count);
      expect(seen.size).toBeGreaterThan(3);
      expect(marked).toBeGreaterThan(10);
    } finally {
      if (worker) await killed(worker);
      await api[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
