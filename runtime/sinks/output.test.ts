import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takingLines } from "../../fixtures/taking-lines.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { SyncMode } from "../contract/stream.ts";
import { openDuckdbOutput } from "./duckdb.ts";
import { openJsonlOutput } from "./jsonl.ts";
import type { OutputOptions, OutputSink } from "./output.ts";

/**
 * The promises of both sinks: the same scenarios, each on real files. A crash is a copy of the
 * files while the sink is open.
 */
interface Kind {
  readonly name: string;
  open(folder: string, options: OutputOptions): Promise<OutputSink>;
  /** The ids that people see, in order; undefined when the stream is not there. */
  ids(folder: string): Promise<number[] | undefined>;
}

const jsonl: Kind = {
  name: "jsonl",
  open: openJsonlOutput,
  async ids(folder) {
    const text = await readFile(join(folder, "users.jsonl"), "utf8").catch(() => undefined);
    return text
      ?.split("\n")
      .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id: number }).id]));
  },
};

const duckdb: Kind = {
  name: "duckdb",
  open: (folder, options) => openDuckdbOutput(join(folder, "out.duckdb"), options),
  async ids(folder) {
    const instance = await DuckDBInstance.create(join(folder, "out.duckdb"));
    const connection = await instance.connect();
    try {
      const result = await connection.runAndReadAll("SELECT id FROM users ORDER BY id");
      return result.getRowsJson().map(([id]) => Number(id));
    } catch {
      return undefined;
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  },
};

let root: string;
let folderCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-output-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newFolder = () => join(root, String(folderCount++));

const users = { name: "users" };
function selection(mode: SyncMode, isResumable = false, hasKey = false): ConfiguredStream {
  return {
    stream: {
      ...users,
      json_schema: { type: "object", properties: { id: { type: "integer" } } },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: hasKey ? [["id"]] : [],
      is_resumable: isResumable,
    },
    sync_mode: mode,
  };
}

describe.each([jsonl, duckdb])("$name output", (kind) => {
  let nowMs = 1_700_000_000_000;
  const clock = { now: () => nowMs, sleep: async () => {} };
  const open = (folder: string, streams: ConfiguredStream[], connectorId = "conn_test") =>
    kind.open(folder, { connectorId, clock, streams });

  /** Rows of these ids. */
  const put = (sink: OutputSink, ...ids: number[]) =>
    takingLines(sink, [selection("full_refresh")]).write(
      users,
      Buffer.from(ids.map((id) => `{"id":${id}}\n`).join("")),
      ids.length,
    );

  /** A checkpoint that is committed at once, because much time has passed. */
  async function commit(sink: OutputSink, last: number): Promise<void> {
    nowMs += 60_000;
    await sink.checkpoint(users, { last }, 1);
  }

  async function begin(folder: string, configured: ConfiguredStream) {
    const sink = await open(folder, [configured]);
    const state = sink.savedState();
    await sink.open([configured]);
    await sink.status(users, "started");
    return { sink, state };
  }

  /** A run from start to end. Gives the state that it began with. */
  async function runAll(folder: string, configured: ConfiguredStream, ids: number[], last = 0) {
    const { sink, state } = await begin(folder, configured);
    await put(sink, ...ids);
    if (last > 0) await sink.checkpoint(users, { last }, ids.length);
    await sink.status(users, "complete");
    await sink.close();
    return state[0]?.state;
  }

  async function crashed(folder: string): Promise<string> {
    const copy = newFolder();
    await cp(folder, copy, { recursive: true });
    return copy;
  }

  test("a full refresh replaces the rows of the one before", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), [1, 2]);
    expect(await kind.ids(folder)).toEqual([1, 2]);
    expect(await runAll(folder, selection("full_refresh"), [7], 9)).toBeUndefined();
    expect(await kind.ids(folder)).toEqual([7]);
  });

  test("while a full refresh runs, and after it failed, people see the old rows", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), [1, 2]);
    const { sink } = await begin(folder, selection("full_refresh"));
    await put(sink, 7);
    await commit(sink, 7);
    expect(await kind.ids(await crashed(folder))).toEqual([1, 2]);
    await sink.status(users, "incomplete");
    await sink.close();
    expect(await kind.ids(folder)).toEqual([1, 2]);
  });

  test("a first full refresh shows nothing before it is complete", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("full_refresh", true));
    await put(sink, 1);
    await commit(sink, 1);
    expect(await kind.ids(await crashed(folder))).toBeUndefined();
    await sink.close();
  });

  test("a full refresh that cannot resume starts clean after a crash", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("full_refresh"));
    await put(sink, 1, 2);
    await commit(sink, 2);
    const copy = await crashed(folder);
    await sink.close();
    expect(await runAll(copy, selection("full_refresh"), [1, 2, 3])).toBeUndefined();
    expect(await kind.ids(copy)).toEqual([1, 2, 3]);
  });

  test("a full refresh that can resume goes on after a crash: rows after the checkpoint are dropped, none is doubled", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), [99]);
    const { sink } = await begin(folder, selection("full_refresh", true));
    await put(sink, 1, 2);
    await commit(sink, 2);
    await put(sink, 3);
    const copy = await crashed(folder);
    await sink.close();
    expect(await runAll(copy, selection("full_refresh", true), [3, 4], 4)).toEqual({ last: 2 });
    expect(await kind.ids(copy)).toEqual([1, 2, 3, 4]);
    expect(await runAll(copy, selection("full_refresh", true), [5], 5)).toBeUndefined();
    expect(await kind.ids(copy)).toEqual([5]);
  });

  test("an incremental read adds to the rows of the one before and goes on from its state", async () => {
    const folder = newFolder();
    expect(await runAll(folder, selection("incremental"), [1, 2], 2)).toBeUndefined();
    expect(await runAll(folder, selection("incremental"), [3], 3)).toEqual({ last: 2 });
    expect(await runAll(folder, selection("incremental"), [], 3)).toEqual({ last: 3 });
    expect(await kind.ids(folder)).toEqual([1, 2, 3]);
  });

  test("an incremental read that crashed, at its first run or later, loses and doubles nothing", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("incremental"));
    await put(sink, 1);
    const early = await crashed(folder);
    await commit(sink, 1);
    await put(sink, 2);
    const late = await crashed(folder);
    await sink.close();
    expect(await runAll(early, selection("incremental"), [1, 2], 2)).toBeUndefined();
    expect(await kind.ids(early)).toEqual([1, 2]);
    expect(await runAll(late, selection("incremental"), [2, 3], 3)).toEqual({ last: 1 });
    expect(await kind.ids(late)).toEqual([1, 2, 3]);
  });

  test("an incremental read that failed keeps what a checkpoint covers, also when it was not committed yet", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("incremental"));
    await commit(sink, 0);
    await put(sink, 1);
    await sink.checkpoint(users, { last: 1 }, 1);
    await put(sink, 2);
    await sink.status(users, "incomplete");
    await sink.close();
    expect(await kind.ids(folder)).toEqual([1]);
    expect(await runAll(folder, selection("incremental"), [2], 2)).toEqual({ last: 1 });
    expect(await kind.ids(folder)).toEqual([1, 2]);
  });

  test("a sink that is closed in the middle of a stream keeps what a checkpoint covers", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("incremental"));
    await put(sink, 1);
    await sink.checkpoint(users, { last: 1 }, 1);
    await put(sink, 2);
    await sink.close();
    await sink.close();
    expect(await kind.ids(folder)).toEqual([1]);
  });

  test("an incremental read without a saved state replaces the rows of a full refresh instead of doubling them", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), [1, 2], 2);
    expect(await runAll(folder, selection("incremental"), [1, 2, 3], 3)).toBeUndefined();
    expect(await kind.ids(folder)).toEqual([1, 2, 3]);
    expect(await runAll(folder, selection("incremental"), [4], 4)).toEqual({ last: 3 });
    expect(await kind.ids(folder)).toEqual([1, 2, 3, 4]);
  });

  test("an incremental read whose state is empty would start over, so its rows are replaced", async () => {
    const folder = newFolder();
    const { sink } = await begin(folder, selection("incremental"));
    await put(sink, 1);
    await sink.checkpoint(users, {}, 1);
    await sink.status(users, "complete");
    await sink.close();
    expect(await runAll(folder, selection("incremental"), [1, 2], 2)).toBeUndefined();
    expect(await kind.ids(folder)).toEqual([1, 2]);
  });

  test("a stream without rows is there, and empty", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), []);
    expect(await kind.ids(folder)).toEqual([]);
  });

  test("a state is written exactly as it came", async () => {
    const folder = newFolder();
    const state = { cursor: "2024-01-01T00:00:00.123456Z", "quote'\"": ["ü", null, 1.5] };
    const { sink } = await begin(folder, selection("incremental"));
    await put(sink, 1);
    await sink.checkpoint(users, state, 1);
    await sink.status(users, "complete");
    await sink.close();
    expect(await runAll(folder, selection("incremental"), [], 1)).toEqual(state);
  });

  test("two runs cannot write to one place at a time; the next one can", async () => {
    const folder = newFolder();
    const streams = [selection("full_refresh")];
    const first = await open(folder, streams);
    await expect(open(folder, streams)).rejects.toMatchObject({
      code: "OUTPUT_FAILED",
      message: expect.stringContaining("another run"),
    });
    await first.close();
    await (await open(folder, streams)).close();
  });

  test("the output of another connector is refused, and left alone", async () => {
    const folder = newFolder();
    await runAll(folder, selection("full_refresh"), [1]);
    await expect(open(folder, [selection("full_refresh")], "conn_other")).rejects.toMatchObject({
      code: kind === jsonl ? "OUTPUT_FAILED" : "TABLE_CONFLICT",
    });
    expect(await kind.ids(folder)).toEqual([1]);
  });

  test("rows that somebody removed are read again from the beginning", async () => {
    const folder = newFolder();
    await runAll(folder, selection("incremental"), [1, 2], 2);
    if (kind === jsonl) await rm(join(folder, "users.jsonl"));
    else {
      const instance = await DuckDBInstance.create(join(folder, "out.duckdb"));
      const connection = await instance.connect();
      await connection.run("DROP TABLE users");
      connection.closeSync();
      instance.closeSync();
    }
    expect(await runAll(folder, selection("incremental"), [1, 2, 3], 3)).toBeUndefined();
    expect(await kind.ids(folder)).toEqual([1, 2, 3]);
  });
});
