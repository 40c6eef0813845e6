import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type ConfiguredStream,
  descriptorOf,
  type StreamDescriptor,
  streamKey,
  streamLabel,
} from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import { writing } from "../destination/failures.ts";
import { createCommitPace } from "../destination/pace.ts";
import { planWrite } from "../destination/plan.ts";
import {
  isMissing,
  newFolderName,
  readSavedOutput,
  recover,
  type SavedFile,
  type SavedOutput,
  type SavedStream,
  writeSavedOutput,
} from "./jsonl-state.ts";
import { type OutputOptions, type OutputSink, requireSameConnector } from "./output.ts";
import { lockFile } from "./output-lock.ts";
import { toFileName } from "./output-names.ts";

/** A stream that is being written. */
interface OpenStream {
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

/**
 * Keeps each stream in a file of JSON lines in `directory`, with `.svc-state.json` beside them.
 * Rows and state are committed together: after a crash at any moment a new run cuts the files back
 * to what the state covers. A full refresh replaces its file when it is complete, never before; an
 * incremental read appends.
 * @throws OUTPUT_FAILED when the folder cannot be used, is in use, or holds another connector's
 * output.
 */
export async function openJsonlOutput(
  directory: string,
  { connectorId, clock, streams }: OutputOptions,
): Promise<OutputSink> {
  await writing(() => mkdir(join(directory, newFolderName), { recursive: true }));
  const lock = lockFile(join(directory, ".svc-lock"));
  let output: SavedOutput;
  try {
    output = await writing(async () => {
      const saved = await readSavedOutput(directory);
      requireSameConnector(saved?.connector, connectorId);
      if (saved) await recover(directory, saved);
      return saved ?? { version: 1, connector: connectorId, streams: [] };
    });
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }

  const byLabel = new Map(output.streams.map((saved) => [streamKey(saved.stream), saved]));
  const taken = new Set(output.streams.map(({ file }) => file.toLowerCase()));
  const configuredStreams = new Map<string, ConfiguredStream>();
  const openStreams = new Map<string, OpenStream>();
  const toMove: SavedStream[] = [];
  const pace = createCommitPace(clock);
  let isClosed = false;

  function streamAt(stream: StreamDescriptor): OpenStream {
    const found = openStreams.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  /** A file of that name that svc does not know is somebody's own. */
  async function add(stream: StreamDescriptor): Promise<void> {
    const file = toFileName(streamLabel(stream), ".jsonl", taken);
    const found = await lstat(join(directory, file)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    if (found)
      throw new ConnectorError("OUTPUT_FAILED", {
        reason: `${file} is there already and svc did not write it`,
      });
    const saved: SavedStream = { stream: { ...stream }, file };
    output.streams.push(saved);
    taken.add(file.toLowerCase());
    byLabel.set(streamKey(stream), saved);
  }

  async function start(stream: StreamDescriptor): Promise<void> {
    const saved = byLabel.get(streamKey(stream));
    const configured = configuredStreams.get(streamKey(stream));
    if (!saved || !configured) throw new ConnectorError("INTERNAL");
    const plan = planWrite(configured, saved);
    const slot = plan.place;
    const path =
      slot === "current" ? join(directory, saved.file) : join(directory, newFolderName, saved.file);
    if (slot === "next" && !plan.isResumed && saved.next) {
      // Forgotten before the file is emptied: else a crash would pair the old state with new bytes.
      delete saved.next;
      await writeSavedOutput(directory, output);
    }
    const base = saved[slot];
    const handle = await open(path, base ? "r+" : "w");
    openStreams.set(streamKey(stream), {
      saved,
      configured,
      handle,
      path,
      slot,
      byteCount: base?.byteCount ?? 0,
      rowCount: base?.rowCount ?? 0,
      covered: undefined,
    });
  }

  /** Rows reach the disk first, then the state that counts on them. */
  async function commit(): Promise<void> {
    for (const stream of openStreams.values()) {
      if (!stream.covered) continue;
      await stream.handle.datasync();
      stream.saved[stream.slot] = stream.covered;
      stream.covered = undefined;
    }
    await writeSavedOutput(directory, output);
    for (const saved of toMove.splice(0)) {
      await rename(join(directory, newFolderName, saved.file), join(directory, saved.file));
      delete saved.isMoving;
    }
    pace.committed();
  }

  async function complete(stream: OpenStream): Promise<void> {
    const { saved, configured, handle, slot } = stream;
    const state = stream.covered?.state ?? saved[slot]?.state;
    const isIncremental = configured.sync_mode === "incremental";
    await handle.datasync();
    await handle.close();
    saved.current = fileOf(stream, isIncremental ? state : undefined);
    if (slot === "current") return;
    delete saved.next;
    saved.isMoving = true;
    toMove.push(saved);
  }

  /** Cuts off what no checkpoint covers; a copy that nothing can resume is removed. */
  async function abandon(stream: OpenStream): Promise<void> {
    const { saved, handle, slot, path } = stream;
    const kept = stream.covered ?? saved[slot];
    await handle.truncate(kept?.byteCount ?? 0);
    await handle.datasync();
    await handle.close();
    if (kept) saved[slot] = kept;
    else if (slot === "next") await rm(path, { force: true });
    else saved.current = { mode: stream.configured.sync_mode, rowCount: 0, byteCount: 0 };
  }

  async function end(
    stream: StreamDescriptor,
    finish: (stream: OpenStream) => Promise<void>,
  ): Promise<void> {
    const ended = streamAt(stream);
    openStreams.delete(streamKey(stream));
    await finish(ended);
    if (pace.isDue("streamEnd")) await commit();
  }

  return {
    lineFormat: "rows",
    savedState() {
      return streams.flatMap((configured) => {
        const stream = descriptorOf(configured);
        const saved = byLabel.get(streamKey(stream));
        const state = saved && planWrite(configured, saved).state;
        return state === undefined ? [] : [{ stream, state }];
      });
    },
    location(stream) {
      const saved = byLabel.get(streamKey(stream));
      return saved?.current ? saved.file : "";
    },
    open: (streams) =>
      writing(async () => {
        for (const configured of streams) {
          const stream = descriptorOf(configured);
          configuredStreams.set(streamKey(stream), configured);
          if (!byLabel.has(streamKey(stream))) await add(stream);
        }
        await commit();
      }),
    write: (stream, lines, rowCount) =>
      writing(async () => {
        const open = streamAt(stream);
        await writeAll(open.handle, lines, open.byteCount);
        open.byteCount += lines.length;
        open.rowCount += rowCount;
      }),
    checkpoint: (stream, state, rowCount) =>
      writing(async () => {
        const open = streamAt(stream);
        pace.add(rowCount);
        const { sync_mode, stream: described } = open.configured;
        if (sync_mode === "full_refresh" && !described.is_resumable) return;
        open.covered = fileOf(open, state);
        if (pace.isDue("checkpoint")) await commit();
      }),
    status: (stream, status) =>
      writing(() =>
        status === "started"
          ? start(stream)
          : end(stream, status === "complete" ? complete : abandon),
      ),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        await writing(async () => {
          for (const { saved } of [...openStreams.values()]) await end(saved.stream, abandon);
          await commit();
        });
      } finally {
        for (const { handle } of openStreams.values()) await handle.close().catch(() => undefined);
        lock[Symbol.dispose]();
      }
    },
  };
}

function fileOf(
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
