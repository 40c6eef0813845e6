import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { archiveEntries, archiveFileName } from "../audit/archive.ts";
import { verifyAudit } from "../audit/verify.ts";
import { verifyArchive } from "../audit/verify-archive.ts";
import { createId } from "../contract/ids.ts";
import { appendAudit, chainStart, systemEntry } from "../door/audit.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { pruneAudit } from "./audit.ts";

const start = Date.parse("2026-01-01T00:00:00Z");
const day = (count: number) => new Date(start + count * 86_400_000);

let database: Database;
let folder: string;
let archive: string;
let workspaceId: string;
beforeAll(async () => {
  database = await openDatabase({});
  folder = await mkdtemp(join(tmpdir(), "svc-archive-"));
});
afterAll(async () => {
  await database?.[Symbol.asyncDispose]();
  if (folder !== undefined) await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await sql`TRUNCATE audit_heads, audit_anchors`.execute(database.db);
  workspaceId = createId("workspace");
  archive = join(folder, workspaceId);
  for (let at = 1; at <= 6; at += 1) await append(at);
});

const append = (atDay: number) =>
  database.db.transaction().execute((tx) =>
    appendAudit(
      tx,
      systemEntry(workspaceId, day(atDay), {
        action: "source.create",
        resource_type: "source",
        resource_id: null,
        outcome: "success",
        summary: "Create a source",
      }),
    ),
  );
const prune = (beforeDay: number, to: string | undefined = archive) =>
  pruneAudit(database.db, {
    cutoff: day(beforeDay),
    now: day(100),
    signal: new AbortController().signal,
    archive: to,
  });
const indexes = async () =>
  (
    await database.db
      .selectFrom("audit_logs")
      .select("index")
      .where("workspace_id", "=", workspaceId)
      .orderBy("index")
      .execute()
  ).map(({ index }) => index);
const files = () => readdir(join(archive, workspaceId));
const fileAt = (index: number) => join(archive, workspaceId, archiveFileName(index));

test("what leaves the log stands in files that follow each other, up to where the log goes on", async () => {
  expect(await prune(3)).toBe(2);
  expect(await prune(5)).toBe(2);
  expect(await indexes()).toEqual([5, 6, 7, 8]);
  expect(await files()).toEqual([archiveFileName(1), archiveFileName(3)]);
  const { intact, faults } = await verifyArchive(archive);
  expect(faults).toEqual([]);
  expect(intact).toMatchObject([
    { workspaceId, begin: { index: 0, hash: chainStart }, end: { index: 4 }, fileCount: 2 },
  ]);
  const end = intact[0]?.end;
  expect((await verifyAudit(database.db, workspaceId, end)).faults).toEqual([]);
});

test("an archive that cannot be written keeps its log whole, and no other log", async () => {
  await writeFile(join(folder, "no-folder"), "");
  await expect(prune(3, join(folder, "no-folder"))).rejects.toThrow();
  expect(await indexes()).toEqual([1, 2, 3, 4, 5, 6]);
  await database.db.deleteFrom("audit_heads").where("workspace_id", "<>", workspaceId).execute();
  const broken = workspaceId;
  await sql`ALTER TABLE audit_logs DISABLE TRIGGER ALL`.execute(database.db);
  await sql`UPDATE audit_logs SET summary = 'x' WHERE workspace_id = ${broken} AND index = 2`.execute(
    database.db,
  );
  await sql`ALTER TABLE audit_logs ENABLE TRIGGER ALL`.execute(database.db);
  workspaceId = createId("workspace");
  for (let at = 1; at <= 3; at += 1) await append(at);
  await expect(prune(3)).rejects.toThrow();
  expect(await indexes()).toEqual([3, 4]);
  workspaceId = broken;
  // The evidence of who changed it stays where it is; no half of a file stays behind.
  expect(await indexes()).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await files()).toEqual([]);
});

test("a process that ended before the entries went is gone on from where its file ends", async () => {
  const begin = { index: 0, hash: chainStart };
  const { db } = database;
  const reached = await archiveEntries(db, archive, { workspaceId, begin, endIndex: 3 });
  expect(reached.index).toBe(3);
  const written = await readFile(fileAt(1), "utf8");
  // As long as entries are not old enough, they stay, wherever a file ends.
  expect(await prune(3)).toBe(0);
  expect(await prune(6)).toBe(5);
  expect(await readFile(fileAt(1), "utf8")).toBe(written);
  expect(await files()).toEqual([archiveFileName(1), archiveFileName(4)]);
  expect((await verifyArchive(archive)).intact).toMatchObject([{ end: { index: 5 } }]);
});

test("a file is taken as it is only where it is what was to be written", async () => {
  await prune(3);
  const other = workspaceId;
  workspaceId = createId("workspace");
  for (let at = 1; at <= 6; at += 1) await append(at);
  await rename(join(archive, other), join(archive, workspaceId));
  await expect(prune(4)).rejects.toThrow("not what it should be");
  expect(await indexes()).toEqual([1, 2, 3, 4, 5, 6]);
});

test.each<[string, (lines: string[]) => string[], string, number]>([
  ["a changed word", (l) => l.with(2, (l[2] ?? "").replace("Create", "Delete")), "changed", 2],
  ["a missing entry", (l) => l.toSpliced(2, 1), "missing", 2],
  ["a missing end", (l) => l.slice(0, -1), "incomplete", 3],
  ["another end", (l) => [...l.slice(0, -2), l.at(-1) ?? ""], "missing", 3],
  ["a line behind the end", (l) => [...l, l[1] ?? ""], "incomplete", 3],
  ["no line of an archive", (l) => l.with(2, "{}"), "incomplete", 1],
])("%s in a file is found", async (_, change, kind, index) => {
  await prune(4);
  const lines = (await readFile(fileAt(1), "utf8")).trimEnd().split("\n");
  await writeFile(fileAt(1), `${change(lines).join("\n")}\n`);
  const { intact, faults } = await verifyArchive(archive);
  expect([intact, faults]).toEqual([[], [{ workspaceId, file: archiveFileName(1), kind, index }]]);
});

test("a file that is gone, or of another name, is found", async () => {
  for (const before of [3, 4, 5]) await prune(before);
  await rename(fileAt(3), `${fileAt(3)}.part`);
  expect((await verifyArchive(archive)).faults).toEqual([
    { workspaceId, file: archiveFileName(4), kind: "missing", index: 3 },
  ]);
  await rename(`${fileAt(3)}.part`, fileAt(2));
  expect((await verifyArchive(archive)).faults).toMatchObject([
    { file: archiveFileName(2), kind: "changed" },
  ]);
});

test("a long log goes in steps, a file each", async () => {
  const signal = new AbortController().signal;
  const bounds = { cutoff: day(6), now: day(100), signal, archive, fileEntries: 2 };
  expect(await pruneAudit(database.db, bounds)).toBe(5);
  expect(await files()).toEqual([1, 3, 5].map(archiveFileName));
  expect((await verifyArchive(archive)).faults).toEqual([]);
});
