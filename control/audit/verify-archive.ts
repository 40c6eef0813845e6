import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { archiveFileName, isSame } from "./archive.ts";
import { type BrokenFile, readArchiveFile } from "./archive-file.ts";
import type { AuditPlace } from "./verify.ts";

/** The files of a workspace that follow each other, and from where to where they go. */
export interface ArchivedChain {
  readonly workspaceId: string;
  readonly begin: AuditPlace;
  readonly end: AuditPlace;
  readonly fileCount: number;
}

export interface ArchiveFault {
  readonly workspaceId: string;
  /** Its name in the workspace's folder. */
  readonly file: string;
  readonly kind: BrokenFile["problem"];
  readonly index: number;
}

/**
 * Proves each workspace's files, and that each begins where the one before ends.
 * @throws Error with a `code` when the folder cannot be read
 */
export async function verifyArchive(folder: string): Promise<{
  readonly intact: readonly ArchivedChain[];
  readonly faults: readonly ArchiveFault[];
}> {
  const intact: ArchivedChain[] = [];
  const faults: ArchiveFault[] = [];
  for (const name of namesOf(await readdir(folder, { withFileTypes: true }), "folder")) {
    const found = await verifyFiles(join(folder, name), name);
    if (found === undefined) continue;
    if ("kind" in found) faults.push(found);
    else intact.push(found);
  }
  return { intact, faults };
}

async function verifyFiles(
  folder: string,
  workspaceId: string,
): Promise<ArchivedChain | ArchiveFault | undefined> {
  let chain: ArchivedChain | undefined;
  // A file that a process was writing when it was killed ends in .part.
  const names = namesOf(await readdir(folder, { withFileTypes: true }), "file");
  for (const file of names.filter((name) => /^\d{10}\.jsonl$/.test(name))) {
    const fault = (kind: ArchiveFault["kind"], index: number) => ({
      workspaceId,
      file,
      kind,
      index,
    });
    const found = await readArchiveFile(join(folder, file));
    if ("problem" in found) return fault(found.problem, found.index);
    const { begin, end } = found;
    if (found.workspaceId !== workspaceId || file !== archiveFileName(begin.index + 1))
      return fault("changed", begin.index + 1);
    if (chain && begin.index > chain.end.index) return fault("missing", chain.end.index + 1);
    if (chain && !isSame(begin, chain.end)) return fault("changed", begin.index + 1);
    const fileCount = (chain?.fileCount ?? 0) + 1;
    chain = { workspaceId, begin: chain?.begin ?? begin, end, fileCount };
  }
  return chain;
}

const namesOf = (entries: readonly Dirent[], kind: "file" | "folder"): string[] =>
  entries
    .filter((entry) => (kind === "file" ? entry.isFile() : entry.isDirectory()))
    .map(({ name }) => name)
    .sort();
