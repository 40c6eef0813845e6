import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { choosePlace } from "./place.ts";
import type { OutputStream } from "./terminal.ts";
import { UsageError } from "./usage.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "svc-place-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const written: string[] = [];
const stdout: OutputStream = {
  write: async (chunk) => void written.push(String(chunk)),
  line: async () => {},
  isAbandoned: false,
};
const choose = (out: string) => choosePlace(out, { cwd, stdout });

test.each([
  ["out", "folder", "./out"],
  ["a/b.c", "folder", "./a/b.c"],
  ["shop.duckdb", "duckdb", "./shop.duckdb"],
  ["shop.DB", "duckdb", "./shop.DB"],
  ["shop.parquet", "parquet", "./shop.parquet"],
  ["shop.arrow", "arrow", "./shop.arrow"],
  ["-", "stdout", "stdout"],
])("%s is a place", async (out, kind, name) => {
  expect(await choose(out)).toMatchObject({ kind, name });
});

test("a folder that is there may be called anything", async () => {
  await mkdir(join(cwd, "x.csv"));
  expect(await choose("x.csv")).toMatchObject({ kind: "folder" });
});

test.each([
  "postgres://user:pa55word@db/x",
  "S3://pa55word@bucket",
  "mysql:pa55word@x",
  "user:pa55word@host",
  "pa55word@host",
])("an address is refused, is not shown, and makes no folder: %s", async (out) => {
  const error = await choose(out).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(String(error)).toMatch(/is an address.*a folder for JSON lines.*\.duckdb.* - /);
  expect(String(error)).not.toContain("pa55word");
  expect(await readdir(cwd)).toEqual([]);
});

test.each([
  "out.csv",
  "out.jsonl",
  "out.XLSX",
  "out.sqlite",
])("%s is refused with the forms that there are", async (out) => {
  await expect(choose(out)).rejects.toThrow(/cannot write \.\w+; --out is a folder/);
  expect(await readdir(cwd)).toEqual([]);
});

test("a file that is there is no folder", async () => {
  await writeFile(join(cwd, "notes"), "");
  await expect(choose("notes")).rejects.toThrow("--out notes is a file");
});

test("- writes rows as they are", async () => {
  const place = await choose("-");
  const { systemClock: clock } = await import("../host/clock.ts");
  const sink = await place.open({ connectorId: "conn_x", clock, streams: [] });
  await sink.write?.({ name: "x" }, Buffer.from('{"id":1}\n'), 1);
  expect(written).toEqual(['{"id":1}\n']);
  expect(sink.savedState()).toEqual([]);
});
