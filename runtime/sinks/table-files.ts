import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type StreamDescriptor, streamKey, streamLabel } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { writing } from "../destination/failures.ts";
import { loadDuckdb, openDuckdbOutput } from "./duckdb.ts";
import type { OutputOptions, OutputSink } from "./output.ts";
import { toFileName } from "./output-names.ts";

/** Rows and states wait in it; a later run goes on from there. */
const databaseName = ".svc.duckdb";

export const tableFormats = ["parquet", "arrow"] as const;
export type TableFormat = (typeof tableFormats)[number];

/**
 * Keeps each stream in a file of its own in `directory`: Parquet, or Arrow IPC. Rows and their
 * state are committed to a DuckDB database beside the files, and a stream that is complete is
 * written from there: its file appears whole, or stays as it was, and no row is in it twice,
 * whenever a run was killed.
 * @throws OUTPUT_FAILED when the folder cannot be used, is in use, or holds another connector's
 * output
 */
export async function openTableFiles(
  directory: string,
  format: TableFormat,
  options: OutputOptions,
): Promise<OutputSink> {
  const database = join(directory, databaseName);
  const sink = await openDuckdbOutput(database, options);
  const refreshed = new Set(
    options.streams
      .filter(({ sync_mode }) => sync_mode === "full_refresh")
      .map(({ stream }) => streamKey(stream))
      .concat((options.restarting ?? []).map(streamKey)),
  );
  const taken = new Set<string>();
  const files = new Map<string, string>();
  for (const { stream } of options.streams) {
    const file = toFileName(streamLabel(stream), `.${format}`, taken);
    taken.add(file.toLowerCase());
    files.set(streamKey(stream), file);
  }
  const fileOf = (stream: StreamDescriptor): string => {
    const file = files.get(streamKey(stream));
    if (file === undefined) throw new ConnectorError("INTERNAL");
    return file;
  };
  /** Beside a file that lacks rows of its table, also when this process is no more. */
  const markOf = (stream: StreamDescriptor) => join(directory, `.${fileOf(stream)}.behind`);
  const isThere = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const marked = new Set<string>();
  const mark = async (stream: StreamDescriptor): Promise<void> => {
    const path = markOf(stream);
    if (marked.has(path)) return;
    await writing(() => writeFile(path, ""));
    marked.add(path);
  };
  const completed = new Map<string, StreamDescriptor>();

  async function exportStream(stream: StreamDescriptor, table: string): Promise<void> {
    const path = join(directory, fileOf(stream));
    const isBehind = await isThere(markOf(stream));
    if (table === "" || (!isBehind && (await isThere(path)))) return;
    const duckdb = await loadDuckdb();
    await (format === "arrow" ? duckdb.exportArrow : duckdb.exportParquet)(database, table, path);
    await writing(() => rm(markOf(stream), { force: true }));
  }

  const { writeBatch } = sink;
  return {
    ...sink,
    savedState: () => sink.savedState(),
    location: (stream) => (sink.location(stream) === "" ? "" : fileOf(stream)),
    ...(writeBatch && {
      async writeBatch(stream, batch) {
        await mark(stream);
        await writeBatch.call(sink, stream, batch);
      },
    }),
    async status(stream, status) {
      // A full refresh may end with fewer rows than there were: none at all.
      if (status === "complete" && refreshed.has(streamKey(stream))) await mark(stream);
      await sink.status(stream, status);
      if (status === "complete") completed.set(streamKey(stream), stream);
    },
    async close() {
      const tables = [...completed.values()].map(
        (stream) => [stream, sink.location(stream)] as const,
      );
      await sink.close();
      for (const [stream, table] of tables) await exportStream(stream, table);
    },
  };
}
