/** The file of one stream while it is written: where it begins, and how it ends. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { JsonValue } from "../contract/json.ts";
import type { WritePlan } from "../destination/plan.ts";
import { newFolderName, type SavedFile, type SavedStream } from "./jsonl-state.ts";

/** A stream that is being written. */
export interface OpenStream {
  readonly saved: SavedStream;
  readonly configured: ConfiguredStream;
  readonly handle: FileHandle;
  readonly path: string;
  readonly slot: "current" | "next";
  byteCount: number;
  rowCount: number;
  /**
   * The part that the last checkpoint covers; not yet committed when it differs from the saved one.
   */
  covered: SavedFile | undefined;
}

export async function openStream({
  directory,
  saved,
  configured,
  plan,
  save,
}: {
  readonly directory: string;
  readonly saved: SavedStream;
  readonly configured: ConfiguredStream;
  readonly plan: WritePlan;
  /** Makes what is saved of the stream durable. */
  save(): Promise<void>;
}): Promise<OpenStream> {
  const slot = plan.place;
  const path =
    slot === "current" ? join(directory, saved.file) : join(directory, newFolderName, saved.file);
  if (slot === "next" && !plan.isResumed && saved.next) {
    // Forgotten before the file is emptied: else a crash would pair the old state with new bytes.
    delete saved.next;
    await save();
  }
  const base = saved[slot];
  return {
    saved,
    configured,
    handle: await open(path, base ? "r+" : "w"),
    path,
    slot,
    byteCount: base?.byteCount ?? 0,
    rowCount: base?.rowCount ?? 0,
    covered: undefined,
  };
}

export async function append(stream: OpenStream, lines: Buffer, rowCount: number): Promise<void> {
  await writeAll(stream.handle, lines, stream.byteCount);
  stream.byteCount += lines.length;
  stream.rowCount += rowCount;
}

/** True when the file has yet to move to the place of the one before. */
export async function complete(stream: OpenStream): Promise<boolean> {
  const { saved, configured, handle, slot } = stream;
  const state = stream.covered?.state ?? saved[slot]?.state;
  const isIncremental = configured.sync_mode === "incremental";
  await handle.datasync();
  await handle.close();
  saved.current = toSavedFile(stream, isIncremental ? state : undefined);
  if (slot === "current") return false;
  delete saved.next;
  saved.isMoving = true;
  return true;
}

/**
 * Cuts off what no checkpoint covers; a copy that nothing can resume is removed. False: nothing
 * moves.
 */
export async function abandon(stream: OpenStream): Promise<false> {
  const { saved, handle, slot, path } = stream;
  const kept = stream.covered ?? saved[slot];
  await handle.truncate(kept?.byteCount ?? 0);
  await handle.datasync();
  await handle.close();
  if (kept) saved[slot] = kept;
  else if (slot === "next") await rm(path, { force: true });
  else saved.current = { mode: stream.configured.sync_mode, rowCount: 0, byteCount: 0 };
  return false;
}

/** All rows so far, with the state that covers them. */
export function toSavedFile(
  { configured, byteCount, rowCount }: OpenStream,
  state: JsonValue | undefined,
): SavedFile {
  return {
    mode: configured.sync_mode,
    rowCount,
    byteCount,
    ...(state === undefined ? {} : { state }),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await handle.write(
      bytes,
      offset,
      bytes.length - offset,
      position + offset,
    );
    offset += bytesWritten;
  }
}
