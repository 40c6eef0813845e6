/**
 * Files that keep what retention takes out of the audit log: in a folder for each workspace, each
 * in the form of an export, and each begins where the one before ends.
 */
import { randomUUID } from "node:crypto";
import { link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { hashEntry } from "../door/audit.ts";
import type { Tables } from "../store/tables.ts";
import { readArchiveFile } from "./archive-file.ts";
import { type AuditExportLine, readChain } from "./export.ts";
import type { AuditPlace } from "./verify.ts";

/** The name sorts by the first entry in it. */
export const archiveFileName = (firstIndex: number) =>
  `${String(firstIndex).padStart(10, "0")}.jsonl`;

export interface ArchivedRange {
  readonly workspaceId: string;
  /** The place after which the entries stand. */
  readonly begin: AuditPlace;
  readonly endIndex: number;
}

/**
 * Writes the entries after one place, up to another, to a file, which is there whole or not at all.
 * A file that begins there already, from a process that ended before it could delete the entries,
 * or from another one that does the same, is taken as it is.
 * @returns the place that the file reaches
 * @throws Error when an entry is not what was written, or the folder cannot be written to
 */
export async function archiveEntries(
  db: Kysely<Tables>,
  folder: string,
  { workspaceId, begin, endIndex }: ArchivedRange,
): Promise<AuditPlace> {
  const directory = join(folder, workspaceId);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, archiveFileName(begin.index + 1));
  const part = `${path}.${randomUUID()}.part`;
  try {
    const file = await open(part, "wx", 0o600);
    try {
      for await (const lines of verified(readChain(db, workspaceId, begin, endIndex), begin))
        await file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a renaming, it does not take the place of what is there.
    await link(part, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(part, { force: true });
  }
  await syncFolder(directory);
  const found = await readArchiveFile(path);
  if ("problem" in found || found.workspaceId !== workspaceId || !isSame(found.begin, begin))
    throw new Error("an archived part of the audit log is not what it should be");
  return found.end;
}

/** Pages of an export whose entries fit their hashes: nothing that was changed goes for good. */
async function* verified(
  next: ReturnType<typeof readChain>,
  begin: AuditPlace,
): AsyncGenerator<readonly AuditExportLine[]> {
  let { hash } = begin;
  for (let isOver = false; !isOver; ) {
    const page = await next();
    for (const { entry, hash: written } of page.lines) {
      if (entry === undefined) continue;
      hash = hashEntry(hash, { ...entry, occurred_at: new Date(entry.occurred_at) });
      if (hash !== written) throw new Error("an entry of the audit log was changed");
    }
    yield page.lines;
    isOver = page.isOver;
  }
}

/** Only then the file's name outlives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

export const isSame = (one: AuditPlace, other: AuditPlace) =>
  one.index === other.index && one.hash === other.hash;
