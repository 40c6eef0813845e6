import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type ConfiguredStream,
  descriptorOf,
  type StreamDescriptor,
  streamKey,
  streamLabel,
} from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { writing } from "../destination/failures.ts";
import { createCommitPace } from "../destination/pace.ts";
import { planWrite } from "../destination/plan.ts";
import { renameWhole } from "../destination/whole-files.ts";
import {
  isMissing,
  newFolderName,
  readSavedOutput,
  recover,
  type SavedOutput,
  type SavedStream,
  writeSavedOutput,
} from "./jsonl-state.ts";
import {
  abandon,
  append,
  complete,
  type OpenStream,
  openStream,
  toSavedFile,
} from "./jsonl-stream.ts";
import { type OutputOptions, type OutputSink, requireSameConnector } from "./output.ts";
import { lockFile } from "./output-lock.ts";
import { toFileName } from "./output-names.ts";

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
  { connectorId, clock, streams, restarting = [] }: OutputOptions,
): Promise<OutputSink> {
  const { lock, output } = await openSaved(directory, connectorId);
  const byLabel = new Map(output.streams.map((saved) => [streamKey(saved.stream), saved]));
  const isAnew = new Set(restarting.map(streamKey));
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

  async function add(stream: StreamDescriptor): Promise<void> {
    const saved: SavedStream = {
      stream: { ...stream },
      file: await freeName(directory, stream, taken),
    };
    output.streams.push(saved);
    taken.add(saved.file.toLowerCase());
    byLabel.set(streamKey(stream), saved);
  }

  async function start(stream: StreamDescriptor): Promise<void> {
    const saved = byLabel.get(streamKey(stream));
    const configured = configuredStreams.get(streamKey(stream));
    if (!saved || !configured) throw new ConnectorError("INTERNAL");
    const save = () => writeSavedOutput(directory, output);
    const plan = planWrite(configured, saved, isAnew.has(streamKey(stream)));
    openStreams.set(
      streamKey(stream),
      await openStream({ directory, saved, configured, plan, save }),
    );
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
      await renameWhole(join(directory, newFolderName, saved.file), join(directory, saved.file));
      delete saved.isMoving;
    }
    pace.committed();
  }

  async function end(
    stream: StreamDescriptor,
    finish: (stream: OpenStream) => Promise<boolean>,
  ): Promise<void> {
    const ended = streamAt(stream);
    openStreams.delete(streamKey(stream));
    if (await finish(ended)) toMove.push(ended.saved);
    if (pace.isDue("streamEnd")) await commit();
  }

  return {
    lineFormat: "rows",
    savedState() {
      return streams.flatMap((configured) => {
        const stream = descriptorOf(configured);
        const saved = byLabel.get(streamKey(stream));
        const state = saved && planWrite(configured, saved, isAnew.has(streamKey(stream))).state;
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
    write: (stream, lines, rowCount) => writing(() => append(streamAt(stream), lines, rowCount)),
    checkpoint: (stream, state, rowCount) =>
      writing(async () => {
        const open = streamAt(stream);
        pace.add(rowCount);
        const { sync_mode, stream: described } = open.configured;
        if (sync_mode === "full_refresh" && !described.is_resumable) return;
        open.covered = toSavedFile(open, state);
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

/** Takes the folder for this run, as the last one left it. */
async function openSaved(directory: string, connectorId: string) {
  await writing(() => mkdir(join(directory, newFolderName), { recursive: true }));
  const lock = lockFile(join(directory, ".svc-lock"));
  try {
    const output = await writing(async (): Promise<SavedOutput> => {
      const saved = await readSavedOutput(directory);
      requireSameConnector(saved?.connector, connectorId);
      if (saved) await recover(directory, saved);
      return saved ?? { version: 1, connector: connectorId, streams: [] };
    });
    return { lock, output };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** @throws OUTPUT_FAILED for a file that svc does not know: it is somebody's own */
async function freeName(
  directory: string,
  stream: StreamDescriptor,
  taken: ReadonlySet<string>,
): Promise<string> {
  const file = toFileName(streamLabel(stream), ".jsonl", taken);
  const found = await lstat(join(directory, file)).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (!found) return file;
  throw new ConnectorError("OUTPUT_FAILED", {
    reason: `${file} is there already and svc did not write it`,
  });
}
