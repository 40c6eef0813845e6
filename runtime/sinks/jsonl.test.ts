import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { systemClock } from "../host/clock.ts";
import { openJsonlOutput } from "./jsonl.ts";

let root: string;
let folderCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-jsonl-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newFolder = () => join(root, String(folderCount++));
const options = { connectorId: "conn_test", clock: systemClock, streams: [] };

const configured = (
  name: string,
  mode: "full_refresh" | "incremental" = "full_refresh",
): ConfiguredStream => ({
  stream: {
    name,
    json_schema: {},
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: true,
    default_cursor_field: ["id"],
    source_defined_primary_key: [],
    is_resumable: false,
  },
  sync_mode: mode,
});

async function write(folder: string, streams: ConfiguredStream[], text: string): Promise<string[]> {
  const sink = await openJsonlOutput(folder, { ...options, streams });
  try {
    await sink.open(streams);
    for (const { stream } of streams) {
      await sink.status(stream, "started");
      await sink.write?.(stream, Buffer.from(text), 1);
      await sink.checkpoint(stream, { at: 1 }, 1);
      await sink.status(stream, "complete");
    }
    return streams.map(({ stream }) => sink.location(stream));
  } finally {
    await sink.close();
  }
}

test("lines arrive byte by byte as they were written", async () => {
  const folder = newFolder();
  const line = '{"n":123456789012345678901234567890,"t":"ü\\u0000 😀"}\n';
  await write(folder, [configured("things")], line);
  expect(await readFile(join(folder, "things.jsonl"), "utf8")).toBe(line);
});

test("hostile stream names stay in the folder, each with a file of its own, the same in every run", async () => {
  const folder = newFolder();
  const names = ["Users", "users", "../../etc/passwd", "a/b", "a\\b", ".svc-state.json", "", "nul"];
  const streams = names.map((name) => configured(name));
  const files = await write(folder, streams, "{}\n");
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
  const visible = (await readdir(folder)).filter((name) => !name.startsWith(".svc-"));
  expect(visible.sort()).toEqual([...files].sort());
  expect(await write(folder, [...streams].reverse(), "{}\n")).toEqual([...files].reverse());
});

test("a file that svc did not write is never touched", async () => {
  const folder = newFolder();
  await mkdir(folder);
  await writeFile(join(folder, "things.jsonl"), "mine");
  await expect(write(folder, [configured("things")], "{}\n")).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    message: expect.stringContaining("things.jsonl is there already"),
  });
  expect(await readFile(join(folder, "things.jsonl"), "utf8")).toBe("mine");
});

test("bytes behind the last commit are cut off as soon as the folder is opened", async () => {
  const folder = newFolder();
  await write(folder, [configured("things", "incremental")], '{"id":1}\n');
  await appendFile(join(folder, "things.jsonl"), '{"id":2}\n{"id":');
  await (await openJsonlOutput(folder, options)).close();
  expect(await readFile(join(folder, "things.jsonl"), "utf8")).toBe('{"id":1}\n');
});

test("a file that somebody shortened is read again from the beginning", async () => {
  const folder = newFolder();
  await write(folder, [configured("things", "incremental")], '{"id":1}\n');
  await truncate(join(folder, "things.jsonl"), 3);
  const sink = await openJsonlOutput(folder, {
    ...options,
    streams: [configured("things", "incremental")],
  });
  expect(sink.savedState()).toEqual([]);
  await sink.close();
});

test("a state file that is damaged is told, without its content", async () => {
  const folder = newFolder();
  await write(folder, [configured("things")], "{}\n");
  await writeFile(join(folder, ".svc-state.json"), '{"secret-ish');
  const opening = openJsonlOutput(folder, options);
  await expect(opening).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    message: expect.stringContaining("damaged"),
  });
  await expect(opening).rejects.not.toMatchObject({
    message: expect.stringContaining("secret-ish"),
  });
});

test("a state file cannot lead a write out of the folder", async () => {
  const folder = newFolder();
  await write(folder, [configured("things")], "{}\n");
  const path = join(folder, ".svc-state.json");
  await writeFile(path, (await readFile(path, "utf8")).replace("things.jsonl", "../outside.jsonl"));
  await expect(openJsonlOutput(folder, options)).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
});

test("a crash between the state and the move of a file is mended by the next run", async () => {
  const folder = newFolder();
  await write(folder, [configured("things")], '{"id":1}\n');
  // As a crash right after the state was written leaves it.
  const path = join(folder, ".svc-state.json");
  const saved = JSON.parse(await readFile(path, "utf8")) as {
    streams: { current: { byteCount: number }; isMoving?: boolean }[];
  };
  const [stream] = saved.streams;
  if (!stream) throw new Error("no stream was saved");
  stream.current.byteCount = 18;
  stream.isMoving = true;
  await writeFile(path, JSON.stringify(saved));
  await writeFile(join(folder, ".svc-new", "things.jsonl"), '{"id":7}\n{"id":8}\n');
  await (await openJsonlOutput(folder, options)).close();
  expect(await readFile(join(folder, "things.jsonl"), "utf8")).toBe('{"id":7}\n{"id":8}\n');
  expect(await readFile(path, "utf8")).not.toContain("isMoving");
});

test("a file in the place of the folder is told with a reason and without the path", async () => {
  const folder = newFolder();
  await writeFile(folder, "x");
  const reason = "a part of its path is not a folder";
  await expect(openJsonlOutput(folder, options)).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    details: { reason },
  });
  await expect(openJsonlOutput(join(folder, "inner"), options)).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    details: { reason },
  });
});

test("what is needed for the next run is small and beside the data", async () => {
  const folder = newFolder();
  await write(folder, [configured("things", "incremental")], '{"id":1}\n');
  expect((await stat(join(folder, ".svc-state.json"))).size).toBeLessThan(300);
  expect(await readdir(join(folder, ".svc-new"))).toEqual([]);
});
