import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type ConfiguredStream, streamKey } from "../contract/catalog.ts";
import type { Destination, DestinationStream, FileContext } from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import { writing } from "../destination/failures.ts";
import { mergeKeys } from "../destination/merge.ts";
import { findDestination } from "../host/registry.ts";
import { lockedReason, type OutputOptions, type OutputSink } from "./output.ts";
import { lockInProcess } from "./output-lock.ts";

/** The module of the destination, for a file that the user names. */
interface DuckdbModule {
  readonly default: Pick<Destination, "write"> & {
    write(ctx: FileContext<{ readonly schema: string }>, command: object): Promise<OutputSink>;
  };
  exportParquet(path: string, table: string, file: string): Promise<void>;
  exportArrow(path: string, table: string, file: string): Promise<void>;
}

export const loadDuckdb = async () => (await import(findDestination("duckdb").url)) as DuckdbModule;

/**
 * Keeps each stream in a table of the DuckDB file, in a schema named after its namespace: the
 * DuckDB destination, without a pipeline. A full refresh replaces the rows that are there when it
 * is complete; an incremental read replaces rows of the same primary key and adds the others.
 * @throws OUTPUT_FAILED when the file cannot be used or is in use · TABLE_CONFLICT when it holds
 * another connector's tables
 */
export async function openDuckdbOutput(
  file: string,
  { connectorId, clock, streams, restarting = [] }: OutputOptions,
): Promise<OutputSink> {
  await writing(() => mkdir(dirname(file), { recursive: true }));
  const lock = lockInProcess(file);
  const nothing = () => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing };
  const ctx = {
    config: { schema: "main" },
    path: file,
    clock,
    log,
    signal: new AbortController().signal,
  };
  const isAnew = new Set(restarting.map(streamKey));
  // Nobody takes a run of this kind over, so all have the same fence.
  const command = {
    owner: connectorId,
    jobId: "read",
    fence: 0,
    streams: streams.map((one) => toDestinationStream(one, isAnew.has(streamKey(one.stream)))),
  };
  try {
    const { default: destination } = await loadDuckdb();
    const sink = await destination.write(ctx, command);
    const close = () => sink.close().finally(() => lock[Symbol.dispose]());
    return { ...sink, close };
  } catch (error) {
    lock[Symbol.dispose]();
    const isBusy = error instanceof ConnectorError && error.code === "OUTPUT_BUSY";
    throw isBusy ? new ConnectorError("OUTPUT_FAILED", { reason: lockedReason }) : error;
  }
}

function toDestinationStream(configured: ConfiguredStream, isRestart: boolean): DestinationStream {
  const isMerged = configured.sync_mode === "incremental" && mergeKeys(configured).keys.length > 0;
  const { name, namespace } = configured.stream;
  return {
    configured: isMerged ? { ...configured, destination_sync_mode: "append_dedup" } : configured,
    table: name,
    ...(namespace === undefined ? {} : { schema: namespace }),
    ...(isRestart ? { isRestart } : {}),
  };
}
