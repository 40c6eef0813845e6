import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { duckdbContext } from "../../../tests/duckdb-place.ts";
import { choose } from "../../../tests/effort.ts";
import { openDatabase } from "./database.ts";
import duckdb from "./index.ts";

// A real kill -9 of a real process, right before a statement that a seed chooses, while it writes
// pages of a stream that already has rows; then another process goes on, until one comes through.
// The clock of the writers runs fast, so that nearly every checkpoint is committed. KILLS and
// KILL_SEED look further.

const killCount = Number(process.env.KILLS ?? choose({ quick: 3, whole: 20 }));
const seed = Number(process.env.KILL_SEED ?? 20_261_121);
const root = fileURLToPath(new URL("../../../", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-duckdb-kill-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const modes = [
  { mode: "incremental", into: "append", isResumable: true },
  { mode: "incremental", into: "append_dedup", isResumable: true },
  { mode: "full_refresh", into: "append", isResumable: false },
  { mode: "full_refresh", into: "append", isResumable: true },
  { mode: "full_refresh", into: "append_dedup", isResumable: true },
  { mode: "full_refresh", into: "overwrite", isResumable: false },
  { mode: "full_refresh", into: "overwrite", isResumable: true },
] as const;
type Mode = (typeof modes)[number];

const pageRows = 50;
const lastRow = 2_000;
/** Rows of the run before, which nobody kills. */
const firstRow = 500;

/** Row n of the source, as a program: keys come again, older and newer, and some are deleted. */
const rowAt = `(n) => ({ n, id: (n * 7919) % 331, at: (n * 104729) % 1009, _svc_deleted_at: n % 11 === 0 ? "2024-01-01" : null })`;

interface Row {
  readonly n: number;
  readonly id: number;
  readonly at: number;
  readonly _svc_deleted_at: string | null;
}
const row = new Function(`return ${rowAt}`)() as (n: number) => Row;

function configured({ mode, into, isResumable }: Mode) {
  const nullable = { type: ["string", "null"] };
  const properties = {
    n: { type: "integer" },
    id: { type: "integer" },
    at: { type: "integer" },
    _svc_deleted_at: nullable,
  };
  return {
    stream: {
      name: "numbers",
      json_schema: { type: "object", properties },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["at"],
      source_defined_primary_key: into === "append_dedup" ? [["id"]] : [],
      is_resumable: isResumable,
    },
    sync_mode: mode,
    destination_sync_mode: into,
  };
}

/** One attempt. Kills itself right before its n-th statement. */
function program(
  path: string,
  mode: Mode,
  fence: number,
  rows: readonly [from: number, to: number],
  killAt: number,
): string {
  const [from, to] = mode.mode === "incremental" || rows[1] === firstRow ? rows : [0, rows[1]];
  return `
    import { DuckDBConnection } from "@duckdb/node-api";
    import { takingLines } from ${JSON.stringify(new URL("../../../fixtures/taking-lines.ts", import.meta.url).href)};
    import duckdb from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    let statementCount = 0;
    for (const name of ["run", "runAndReadAll"]) {
      const original = DuckDBConnection.prototype[name];
      DuckDBConnection.prototype[name] = function (...args) {
        if (++statementCount === ${killAt}) process.kill(process.pid, "SIGKILL");
        return original.apply(this, args);
      };
    }
    let nowMs = 0;
    const none = () => {};
    const clock = { now: () => (nowMs += 2000), sleep: async () => {} };
    const ctx = { config: { file: "w", schema: "main" }, path: ${JSON.stringify(path)}, clock, signal: new AbortController().signal, log: { debug: none, info: none, warn: none } };
    const configured = ${JSON.stringify(configured(mode))};
    const stream = { name: "numbers" };
    const row = ${rowAt};
    const sink = takingLines(await duckdb.write(ctx, { owner: "pipe", jobId: "job_${fence}", fence: ${fence}, streams: [{ configured, table: "_svc_numbers" }] }), [configured]);
    let from = sink.savedState()[0]?.state.from ?? ${from};
    await sink.open([configured]);
    await sink.status(stream, "started");
    for (; from < ${to}; from += ${pageRows}) {
      let lines = "";
      for (let n = from; n < from + ${pageRows}; n++) lines += JSON.stringify(row(n)) + "\\n";
      await sink.write(stream, Buffer.from(lines), ${pageRows});
      await sink.checkpoint(stream, { from: from + ${pageRows} }, ${pageRows});
    }
    await sink.status(stream, "complete");
    await sink.close();
    process.stdout.write(String(statementCount));`;
}

/** Gives how many statements it took, or undefined when it was killed. */
async function attempt(source: string): Promise<number | undefined> {
  const child = spawn(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "-e", source],
    {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: root,
    },
  );
  let out = "";
  let printed = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    printed += chunk;
  });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal === "SIGKILL") return undefined;
  if (out === "") throw new Error(printed);
  return Number(out);
}

async function readRows(path: string): Promise<number[]> {
  await using database = await openDatabase(path);
  const connection = await database.connect();
  const result = await connection.runAndReadAll("SELECT n FROM _svc_numbers ORDER BY n");
  connection.closeSync();
  return result.getRows().map(([n]) => Number(n));
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** The newest of each key, later ones first, without the deleted. */
function newest(numbers: readonly number[]): number[] {
  const byId = new Map<number, Row>();
  for (const one of numbers.map(row))
    if (one.at >= (byId.get(one.id)?.at ?? -1)) byId.set(one.id, one);
  return [...byId.values()]
    .filter((one) => one._svc_deleted_at === null)
    .map(({ n }) => n)
    .sort((a, b) => a - b);
}

function truth({ mode, into }: Mode): number[] {
  const before = range(0, firstRow);
  const read = mode === "incremental" ? range(firstRow, lastRow) : range(0, lastRow);
  if (into === "overwrite") return read;
  return into === "append"
    ? [...before, ...read].sort((a, b) => a - b)
    : newest([...before, ...read]);
}

function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test.each(
  choose<readonly Mode[]>({ quick: modes.slice(0, 2), whole: modes }).map((mode, index) => ({
    ...mode,
    index,
  })),
)("$mode, $into, resumable $isResumable: killed at any statement, the table is the truth, and never half of it", async ({
  index,
  ...mode
}) => {
  const random = createRandom(seed + index);
  const path = join(folder, `${index}.duckdb`);
  let fence = 0;
  const write = (killAt: number, rows: readonly [number, number] = [firstRow, lastRow]) =>
    attempt(program(path, mode, ++fence, rows, killAt));
  await write(0, [0, firstRow]);
  const old = await readRows(path);
  expect(old).toEqual(
    mode.into === "append_dedup" ? newest(range(0, firstRow)) : range(0, firstRow),
  );
  // An attempt that commits nothing takes 22 statements; one with checkpoints takes 100, over a few
  // kills.
  const span = mode.mode === "full_refresh" && !mode.isResumable ? 22 : 45;
  const kills = Math.ceil(killCount / modes.length);
  let isComplete = false;
  for (let kill = 0; kill < kills; kill += 1) {
    const killAt = 1 + Math.floor(random() * span);
    isComplete = (await write(killAt)) !== undefined;
    if (isComplete) break;
    const seen = await readRows(path);
    const what = `seed ${seed}, kill ${kill} before statement ${killAt}`;
    if (mode.mode === "full_refresh" && mode.into !== "append_dedup")
      expect([old, truth(mode)], what).toContainEqual(seen);
    else if (mode.into === "append") expect(seen, what).toEqual(range(0, seen.length));
  }
  if (!isComplete) await write(0);
  expect(await readRows(path), `seed ${seed}`).toEqual(truth(mode));
});

test("another process is told that the file is busy, while this one goes on", async () => {
  const path = join(folder, "busy.duckdb");
  await using _ = await openDatabase(path);
  await expect(attempt(program(path, modes[0], 1, [0, firstRow], 0))).rejects.toThrow(
    "OUTPUT_BUSY",
  );
});

test("a table of 200 columns takes tens of thousands of rows within DuckDB's memory", async () => {
  const path = join(folder, "wide.duckdb");
  const rowCount = 2_048;
  const types = ["integer", "number", "string"] as const;
  const names = Array.from({ length: 200 }, (_, index) => `c${index}`);
  const typeOf = (index: number) => types[index % types.length] as (typeof types)[number];
  const columns = names.map((name, index) => {
    const values = Array.from({ length: rowCount }, (_, row) => row * index);
    const type = typeOf(index);
    if (type === "string")
      return columnOf(
        name,
        { kind: "text", encoding: "utf8" },
        values.map((value) => `text ${value}`),
      );
    return columnOf(
      name,
      { kind: type, encoding: type === "number" ? "float64" : "int32" },
      values,
    );
  });
  const batch = { rowCount, columns, notes: [] };
  const stream = { name: "wide" };
  const properties = Object.fromEntries(
    names.map((name, index) => [name, { type: typeOf(index) }]),
  );
  const described = { name: "wide", mode: "full_refresh", into: "overwrite" } as const;
  const ordered = describeStream(properties, described);
  const clock = { now: () => 0, sleep: async () => {} };
  const command = { owner: "wide", jobId: "job", fence: 1, streams: [ordered] };
  const sink = await duckdb.write(duckdbContext(path, clock), command);
  await sink.status(stream, "started");
  const rounds = 24;
  for (let round = 0; round < rounds; round++) await sink.writeBatch?.(stream, batch);
  await sink.status(stream, "complete");
  await using database = await openDatabase(path);
  const connection = await database.connect();
  const sql = `SELECT count(*), sum(c199), min(c197) FROM ${sink.location(stream)}`;
  const [found] = (await connection.runAndReadAll(sql)).getRows();
  connection.closeSync();
  await sink.close();
  const sum = 199 * ((rowCount * (rowCount - 1)) / 2) * rounds;
  expect(found?.map(String)).toEqual([String(rowCount * rounds), String(sum), "text 0"]);
});
