import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import { noNeeds } from "./numbers.ts";
import { createStage, type Stage } from "./stage.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-stage-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A batch of one row, of about so many bytes. */
const batchOf = (id: number, bytes = 1) => ({
  rowCount: 1,
  columns: [
    columnOf("id", { kind: "integer", encoding: "int64" }, [BigInt(id)]),
    columnOf("text", { kind: "text", encoding: "utf8" }, ["x".repeat(bytes)]),
  ],
});
const mebibyte = 1024 * 1024;

async function idsOf(stage: Stage): Promise<number[]> {
  const ids: number[] = [];
  for await (const { columns } of stage.batches()) {
    const [id, text] = columns;
    if (id?.encoding !== "int64" || text?.encoding !== "utf8") throw new Error("as they were");
    expect(Buffer.from(text.bytes).toString()).toMatch(/^x+$/);
    ids.push(Number(id.values[0]));
  }
  return ids;
}

test("rows come back in their order, again and again; what does not stay in memory is in a private file", async () => {
  const path = join(folder, "large");
  const stage = createStage(path);
  for (let id = 0; id < 20; id++) await stage.add(batchOf(id, mebibyte), new Map());
  expect(await idsOf(stage)).toEqual(Array.from({ length: 20 }, (_, id) => id));
  expect(await idsOf(stage)).toHaveLength(20);
  const { size, mode } = await stat(path);
  expect(size).toBeGreaterThan(8 * mebibyte);
  expect(mode & 0o777).toBe(0o600);
  await stage.remove();
  expect(await readdir(folder)).not.toContain("large");
});

test("few rows need no file", async () => {
  const stage = createStage(join(folder, "small"));
  await stage.add(batchOf(1), new Map());
  expect(await idsOf(stage)).toEqual([1]);
  expect(await readdir(folder)).not.toContain("small");
  await stage.remove();
});

test("a batch is copied: its memory is the caller's again", async () => {
  const stage = createStage(join(folder, "copied"));
  const batch = batchOf(7);
  await stage.add(batch, new Map());
  for (const column of batch.columns)
    if ("values" in column) new Uint8Array(column.values.buffer).fill(0);
  expect(await idsOf(stage)).toEqual([7]);
});

test.each([
  1,
  mebibyte,
])("rows of %i bytes that no checkpoint covers are dropped, with what they need", async (bytes) => {
  const stage = createStage(join(folder, `cut-${bytes}`));
  const wide = new Map([["id", { ...noNeeds, bits: 64 }]]);
  for (let id = 0; id < 12; id++) await stage.add(batchOf(id, bytes), new Map());
  stage.markCovered();
  for (let id = 12; id < 24; id++) await stage.add(batchOf(id, bytes), wide);
  expect([stage.rowCount, stage.needs().get("id")?.bits]).toEqual([24, 64]);
  await stage.cutToCovered();
  expect([stage.rowCount, stage.needs().size]).toEqual([12, 0]);
  await stage.add(batchOf(99, bytes), new Map());
  expect(await idsOf(stage)).toEqual([...Array.from({ length: 12 }, (_, id) => id), 99]);
  await stage.clear();
  expect([stage.rowCount, await idsOf(stage)]).toEqual([0, []]);
  await stage.add(batchOf(5, bytes), new Map());
  expect(await idsOf(stage)).toEqual([5]);
  await stage.remove();
});
