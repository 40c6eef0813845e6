/**
 * Rows from PostgreSQL into DuckDB, PostgreSQL, JSON lines and Parquet, beside the field's movers of
 * rows: CPU seconds of the client's whole process tree, and wall. Medians of some rounds, by turns.
 *
 *     bash bench/peers/install.sh FOLDER
 *     SVC_PEERS=FOLDER node --conditions=svc-source bench/columns.ts [rows] [rounds]
 *
 * Peers that are not installed are left out. Needs `npm run build`.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { median } from "./run.ts";

const rowCount = Number(process.argv[2] ?? 500_000);
const rounds = Number(process.argv[3] ?? 3);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const binaries = findPostgres();
if (binaries === undefined) throw new Error("no PostgreSQL server is installed");
const psql = join(binaries, "psql");
const peers = process.env.SVC_PEERS;

const types =
  "id bigint PRIMARY KEY, n integer, t text, amount numeric(12, 2), at timestamptz, ok boolean, uid uuid, j jsonb, d double precision, day date";

await using server = await startPostgres();
const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
const source = await server.createDatabase();
await source.query(`CREATE TABLE mixed (${types})`);
await source.query(`INSERT INTO mixed
  SELECT i, i % 100000, 'a text of some length about row ' || i, i / 100.0,
         timestamptz '2026-01-01' + i * interval '1.234567 seconds', i % 3 = 0,
         md5(i::text)::uuid, jsonb_build_object('a', i, 'b', jsonb_build_array('x', 'y')),
         i / 7.0, date '2020-01-01' + i % 3000
    FROM generate_series(1, ${rowCount}) i`);
await source.query("ANALYZE mixed");

interface Way {
  readonly name: string;
  /** A shell command that moves the rows to a place that is not there yet. */
  command(place: string): string | Promise<string>;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const settingsOf = (database: string) => ({
  host: server.host,
  port: server.port,
  database,
  username: "postgres",
  password: server.password,
  ssl_mode: "disable",
});
const config = join(folder, "config.json");
await writeFile(config, JSON.stringify(settingsOf(source.name)));
const svc = (out: string) =>
  `${quoted(process.execPath)} ${quoted(here("../dist/svc.js"))} read postgres --config ${quoted(config)} --out ${quoted(out)} >/dev/null 2>&1`;

async function intoPostgres(): Promise<string> {
  const target = await server.createDatabase();
  const request = {
    source: settingsOf(source.name),
    destination: { name: "postgres-destination", config: settingsOf(target.name) },
  };
  const file = join(folder, `${target.name}.json`);
  await writeFile(file, JSON.stringify(request));
  return `${quoted(process.execPath)} ${quoted(here("./sync-run.ts"))} "$(cat ${quoted(file)})" >/dev/null`;
}

const python = (way: string) => (place: string) =>
  `${quoted(join(peers ?? "", "bin/python"))} ${quoted(here("./peers/move.py"))} ${way} ${quoted(source.url)} ${quoted(place)} >/dev/null 2>&1`;
const sling = (target: string, object: string) =>
  `SLING_HOME_DIR=${quoted(folder)} BENCH_SOURCE=${quoted(`${source.url}?sslmode=disable`)} ${target} ${quoted(join(peers ?? "", "bin/sling"))} run --src-conn BENCH_SOURCE --src-stream public.mixed ${object} --mode full-refresh >/dev/null 2>&1`;

const ofPeers = (ways: readonly Way[]): readonly Way[] =>
  peers !== undefined && existsSync(join(peers, "bin/python")) ? ways : [];

const tables: Readonly<Record<string, readonly Way[]>> = {
  "→ DuckDB": [
    { name: "svc", command: (place) => svc(`${place}.duckdb`) },
    ...ofPeers(["adbc", "connectorx", "dlt"].map((name) => ({ name, command: python(name) }))),
  ],
  "→ PostgreSQL": [
    { name: "svc", command: intoPostgres },
    {
      name: "psql, text",
      async command() {
        const target = await server.createDatabase();
        await target.query(`CREATE TABLE mixed (${types.replace(" PRIMARY KEY", "")})`);
        return `${quoted(psql)} ${quoted(source.url)} -c '\\copy mixed TO STDOUT' | ${quoted(psql)} ${quoted(target.url)} -c '\\copy mixed FROM STDIN' >/dev/null`;
      },
    },
    ...ofPeers([
      {
        name: "sling",
        async command() {
          const target = await server.createDatabase();
          return sling(
            `BENCH_TARGET=${quoted(`${target.url}?sslmode=disable`)}`,
            "--tgt-conn BENCH_TARGET --tgt-object public.mixed",
          );
        },
      },
    ]),
  ],
  "→ JSON lines": [
    { name: "svc", command: (place) => svc(place) },
    ...ofPeers([
      { name: "sling", command: (place) => sling("", `--tgt-object file://${place}.jsonl`) },
    ]),
  ],
  "→ Parquet": [{ name: "svc", command: (place) => svc(`${place}.parquet`) }],
};

interface Cost {
  readonly cpu: number;
  readonly wall: number;
}

/** Runs a command of the shell's; its own `time` counts all processes that were waited for. */
async function timed(command: string): Promise<Cost> {
  const child = spawn("bash", ["-c", `TIMEFORMAT='%R %U %S'; time { ${command}; }`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`ended with ${String(code)}: ${text.slice(-500)}`);
  const [wall = 0, user = 0, system = 0] = (text.trim().split("\n").at(-1) ?? "")
    .split(" ")
    .map(Number);
  return { wall, cpu: user + system };
}

try {
  console.log(`${rowCount.toLocaleString("en")} rows of 10 mixed columns, ${rounds} rounds\n`);
  for (const [title, ways] of Object.entries(tables)) {
    const costs = new Map<string, Cost[]>(ways.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++)
      for (const { name, command } of ways) {
        try {
          costs.get(name)?.push(await timed(await command(join(folder, `${name}-${round}`))));
        } catch (error) {
          if (round === 0) console.error(`${title}, ${name}: ${String(error)}`);
        }
      }
    const cpuOf = (name: string) => median((costs.get(name) ?? []).map(({ cpu }) => cpu));
    console.log(`| ${title} | CPU s | wall s | svc's CPU against it |\n|---|---|---|---|`);
    for (const { name } of ways) {
      const wall = median((costs.get(name) ?? []).map((cost) => cost.wall));
      console.log(
        `| ${name} | ${cpuOf(name).toFixed(1)} | ${wall.toFixed(1)} | ${(cpuOf("svc") / cpuOf(name)).toFixed(2)} |`,
      );
    }
    console.log();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
