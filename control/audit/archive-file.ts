import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { hashEntry } from "../door/audit.ts";
import { validateBody } from "../door/validate.ts";
import { AuditExportLine } from "./export.ts";
import type { AuditPlace } from "./verify.ts";

/** A file whose entries are what was written, from one place to another. */
export interface ArchiveFile {
  readonly workspaceId: string;
  readonly begin: AuditPlace;
  readonly end: AuditPlace;
}

export interface BrokenFile {
  /** `incomplete`: its last line is missing, or it is no file of an archive. */
  readonly problem: "missing" | "changed" | "incomplete";
  /** Index of the entry; 0 where none can be named. */
  readonly index: number;
}

/** Reads a file of an archive, or an export that was kept, line by line, and proves its chain. */
export async function readArchiveFile(path: string): Promise<ArchiveFile | BrokenFile> {
  const input = createReadStream(path);
  let begin: (AuditPlace & { readonly workspaceId: string }) | undefined;
  let place: AuditPlace = { index: 0, hash: "" };
  let isEnded = false;
  const broken = (problem: BrokenFile["problem"], index = place.index + 1) => ({ problem, index });
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = parseLine(text);
      if (line === undefined || isEnded) return broken("incomplete", place.index);
      const { kind, workspace_id: workspaceId, entry, index, hash } = line;
      if (hash === undefined || (begin === undefined) !== (kind === "begin"))
        return broken("incomplete", place.index);
      if (kind === "begin") {
        if (workspaceId === undefined || index === undefined) return broken("incomplete", 0);
        begin = { workspaceId, index, hash };
        place = { index, hash };
      } else if (kind === "entry") {
        if (entry === undefined) return broken("incomplete", place.index);
        if (entry.index > place.index + 1) return broken("missing");
        const isNext = entry.index === place.index + 1 && entry.workspace_id === begin?.workspaceId;
        const occurredAt = new Date(entry.occurred_at);
        if (!isNext || hashEntry(place.hash, { ...entry, occurred_at: occurredAt }) !== hash)
          return broken("changed");
        place = { index: entry.index, hash };
      } else {
        if (index !== place.index || hash !== place.hash) return broken("missing");
        isEnded = true;
      }
    }
  } finally {
    input.destroy();
  }
  if (begin === undefined || !isEnded) return broken("incomplete", place.index);
  const { workspaceId, ...first } = begin;
  return { workspaceId, begin: first, end: place };
}

const checkLine = validateBody(AuditExportLine);

function parseLine(text: string): AuditExportLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    checkLine(line);
    return line as AuditExportLine;
  } catch {
    return undefined;
  }
}
