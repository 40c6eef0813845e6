import { readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StreamDescriptor } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Generation } from "../destination/plan.ts";
import { renameWhole } from "../destination/whole-files.ts";

/** A generation in a file, of which the first `byteCount` bytes count. */
export interface SavedFile extends Generation {
  readonly byteCount: number;
}

/** One stream in `.svc-state.json`. */
export interface SavedStream {
  readonly stream: StreamDescriptor;
  /** Name in the output folder, and in `.svc-new` while the next generation is built. */
  readonly file: string;
  current?: SavedFile;
  next?: SavedFile;
  /** `current` is complete but may still stand in `.svc-new`. */
  isMoving?: true;
}

export interface SavedOutput {
  readonly version: 1;
  readonly connector: string;
  readonly streams: SavedStream[];
}

export const stateFileName = ".svc-state.json";
export const newFolderName = ".svc-new";

/** @throws OUTPUT_FAILED when the file is not one that svc wrote. */
export async function readSavedOutput(directory: string): Promise<SavedOutput | undefined> {
  let text: string;
  try {
    text = await readFile(join(directory, stateFileName), "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const saved = JSON.parse(text) as SavedOutput;
    if (
      saved.version === 1 &&
      typeof saved.connector === "string" &&
      saved.streams.every(isSavedStream)
    )
      return saved;
  } catch {
    // reported below, without the parser's words: they quote the content
  }
  throw new ConnectorError("OUTPUT_FAILED", {
    reason: `${stateFileName} is damaged; restore it or choose another place`,
  });
}

/** File names come from this file, so they are checked not to lead out of the folder. */
const isSavedStream = (saved: SavedStream) =>
  typeof saved.stream.name === "string" && /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(saved.file);

/** Replaces the state file in one step: after a crash it is the old one or the new one. */
export async function writeSavedOutput(directory: string, saved: SavedOutput): Promise<void> {
  const path = join(directory, stateFileName);
  await writeFile(`${path}.tmp`, JSON.stringify(saved));
  await renameWhole(`${path}.tmp`, path);
}

/**
 * Brings the files back to what the state says: finishes moves, cuts off rows that no checkpoint
 * covers, forgets files that are gone.
 */
export async function recover(directory: string, { streams }: SavedOutput): Promise<void> {
  for (const saved of streams) {
    if (saved.isMoving) {
      await rename(join(directory, newFolderName, saved.file), join(directory, saved.file)).catch(
        ignoreMissing,
      );
      delete saved.isMoving;
    }
    if (!(await cutBack(join(directory, saved.file), saved.current))) delete saved.current;
    if (!(await cutBack(join(directory, newFolderName, saved.file), saved.next))) delete saved.next;
  }
}

/**
 * False when the file no longer holds what was committed: somebody removed or shortened it, so it
 * is read anew.
 */
async function cutBack(path: string, saved: SavedFile | undefined): Promise<boolean> {
  if (!saved) return false;
  const size = await stat(path).then((found) => found.size, ignoreMissing);
  if (size === undefined || size < saved.byteCount) return false;
  if (size > saved.byteCount) await truncate(path, saved.byteCount);
  return true;
}

export const isMissing = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
