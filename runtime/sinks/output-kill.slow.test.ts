import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { choose } from "../../tests/effort.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { systemClock } from "../host/clock.ts";
import { openDuckdbOutput } from "./duckdb.ts";
import { openJsonlOutput } from "./jsonl.ts";
import type { OutputSink } from "./output.ts";
import { type TableFormat, tableFormats } from "./table-files.ts";

// A real kill -9 of a real process that writes 40,000 rows (10,000 where it is quick) in pages of
// 200, with a checkpoint after every page; then another process goes on, until one comes through.
// The clock of the writers runs fast, so that nearly every checkpoint is committed.

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-kill-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const rowCount = choose({ quick: 10_000, whole: 40_000 });
const pageRows = 200;
/** Pages that a process writes before it is killed: more each time, so that one comes through. */
const pagesBefore = (killCount: number) => 7 + choose({ quick: 25, whole: 23 }) * killCount;

type Kind = "jsonl" | "duckdb" | TableFormat;

function program(kind: Kind, place: string, mode: ConfiguredStream["sync_mode"]): string {
  const [file, open, ...format] =
    kind === "jsonl"
      ? ["jsonl", "openJsonlOutput"]
      : kind === "duckdb"
        ? ["duckdb", "openDuckdbOutput"]
        : ["table-files", "openTableFiles", kind];
  const module = new URL(`./${file}.ts`, import.meta.url).href;
  const where = [place, ...format].map((one) => JSON.stringify(one)).join();
  return `
    import { readSync } from "node:fs";
    import { takingLines } from ${JSON.stringify(new URL("../../fixtures/taking-lines.ts", import.meta.url).href)};
    import { ${open} } from ${JSON.stringify(module)};
    let nowMs = 0;
    const clock = { now: () => (nowMs += 2000), sleep: async () => {} };
    const streams = ${JSON.stringify([configured(mode)])};
    const options = { connectorId: "conn_kill", clock, streams };
    const sink = takingLines(await ${open}(${where}, options), streams);
    const stream = { name: "numbers" };
    let from = sink.savedState()[0]?.state.from ?? 0;
    await sink.open(streams);
    await sink.status(stream, "started");
    for (; from < ${rowCount}; from += ${pageRows}) {
      let lines = "";
      for (let id = from; id < from + ${pageRows}; id++) lines += JSON.stringify({ id, text: "row " + id }) + "\\n";
      await sink.write(stream, Buffer.from(lines), ${pageRows});
      await sink.checkpoint(stream, { from: from + ${pageRows} }, ${pageRows});
      console.log(from);
      readSync(0, Buffer.alloc(1));
    }
    await sink.status(stream, "complete");
    console.log("written");
    await sink.close();
    console.log("complete");`;
}

function configured(mode: ConfiguredStream["sync_mode"]): ConfiguredStream {
  return {
    stream: {
      name: "numbers",
      json_schema: {
        type: "object",
        properties: { id: { type: "integer" }, text: { type: "string" } },
      },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: [],
      is_resumable: true,
    },
    sync_mode: mode,
  };
}

/**
 * Pages that a process may be ahead of what was heard of it: on a busy machine it goes on for long.
 */
const pagesAhead = 10;

/**
 * Runs the program until it has written `pages` pages, or all of them, then kills it. True when it
 * came to its end before.
 */
async function runAndKill(source: string, pages: number | "all"): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "-e", source],
    {
      stdio: ["pipe", "pipe", "inherit"],
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
    },
  );
  let lineCount = 0;
  let isComplete = false;
  child.stdin.on("error", () => {}); // it is gone
  child.stdin.write(".".repeat(pagesAhead));
  for await (const line of createInterface({ input: child.stdout })) {
    isComplete ||= line === "complete";
    lineCount += 1;
    const isMoment = pages === "all" ? line === "written" : lineCount === pages;
    if (isMoment && !isComplete) child.kill("SIGKILL");
    else child.stdin.write(".");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return isComplete;
}

async function readIds(kind: Kind, place: string): Promise<number[]> {
  if (kind === "jsonl") {
    const lines = (await readFile(join(place, "numbers.jsonl"), "utf8")).split("\n").slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as { id: number }).id);
  }
  if (kind === "arrow") {
    const table = tableFromIPC(await readFile(join(place, "numbers.arrow")));
    return [...(table.getChild("id") ?? [])].map(Number);
  }
  const instance = await DuckDBInstance.create(kind === "duckdb" ? place : ":memory:");
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(
    `SELECT id FROM ${kind === "duckdb" ? "numbers" : `'${join(place, "numbers.parquet")}'`} ORDER BY id`,
  );
  connection.closeSync();
  instance.closeSync();
  return result.getRowsJson().map(([id]) => Number(id));
}

test.each([
  ["jsonl", "full_refresh"],
  ["jsonl", "incremental"],
  ["duckdb", "full_refresh"],
  ["duckdb", "incremental"],
] as const)("%s, %s: killed again and again, nothing is lost and nothing is doubled", async (kind, mode) => {
  const place = join(root, `${kind}-${mode}${kind === "duckdb" ? ".duckdb" : ""}`);
  let killCount = 0;
  while (!(await runAndKill(program(kind, place, mode), pagesBefore(killCount)))) killCount += 1;
  expect(killCount).toBeGreaterThanOrEqual(2);
  expect(await readIds(kind, place)).toEqual(Array.from({ length: rowCount }, (_, id) => id));
});

test.each(
  choose({ quick: tableFormats.slice(0, 1), whole: [...tableFormats] }),
)("%s: killed between its rows and its file, a run that comes later writes all rows once", async (format) => {
  const place = join(root, `${format}-files`);
  const source = program(format, place, "full_refresh");
  for (const moment of [7, 40, "all"] as const)
    expect(await runAndKill(source, moment)).toBe(false);
  expect(await runAndKill(source, Number.POSITIVE_INFINITY)).toBe(true);
  expect(await readIds(format, place)).toEqual(Array.from({ length: rowCount }, (_, id) => id));
  expect((await readdir(place)).sort()).toEqual([".svc.duckdb", `numbers.${format}`]);
});

test.each([
  "jsonl",
  "duckdb",
] as const)("%s: another process is refused while one writes", async (kind) => {
  const place = join(root, `locked-${kind}${kind === "duckdb" ? ".duckdb" : ""}`);
  const open = (): Promise<OutputSink> =>
    (kind === "jsonl" ? openJsonlOutput : openDuckdbOutput)(place, {
      connectorId: "conn_kill",
      clock: systemClock,
      streams: [configured("incremental")],
    });
  const sink = await open();
  const child = spawn(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "-e", program(kind, place, "incremental")],
    {
      stdio: ["ignore", "ignore", "pipe"],
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
    },
  );
  let printed = "";
  for await (const chunk of child.stderr) printed += String(chunk);
  expect(printed).toContain("another run is writing to it");
  await sink.close();
});
