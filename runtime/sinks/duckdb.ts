import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type ConfiguredStream, streamKey } from "../contract/catalog.ts";
import type {
  CompareCommand,
  Destination,
  DestinationStream,
  FileContext,
} from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Sink } from "../contract/sink.ts";
import { deletesProblem } from "../destination/deletes.ts";
import { writing } from "../destination/failures.ts";
import { mergeKeys } from "../destination/merge.ts";
import { findDestination } from "../host/registry.ts";
import {
  type CompareOptions,
  lockedReason,
  type OutputOptions,
  type OutputSink,
} from "./output.ts";
import { lockInProcess } from "./output-lock.ts";

/** The module of the destination, for a file that the user names. */
interface DuckdbModule {
  readonly default: Pick<Destination, "write"> & {
    write(ctx: FileContext<{ readonly schema: string }>, command: object): Promise<OutputSink>;
    compareKeys(
      ctx: FileContext<{ readonly schema: string }>,
      command: CompareCommand,
    ): Promise<Sink>;
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
export async function openDuckdbOutput(file: string, options: OutputOptions): Promise<OutputSink> {
  const { connectorId, streams, restarting = [], runId = "read", onColumnChanged } = options;
  await writing(() => mkdir(dirname(file), { recursive: true }));
  const isAnew = new Set(restarting.map(streamKey));
  const command = {
    owner: connectorId,
    jobId: runId,
    fence: onlyFence,
    streams: streams.map((one) => toDestinationStream(one, isAnew.has(streamKey(one.stream)))),
    onColumnChanged,
  };
  return openLocked(file, options, async ({ default: destination }, ctx) =>
    destination.write(ctx, command),
  );
}

/**
 * Takes the keys of streams that an output has: rows whose key does not come are marked or removed.
 * @throws as {@link openDuckdbOutput}
 */
export async function openDuckdbComparison(file: string, options: CompareOptions): Promise<Sink> {
  const { connectorId, streams, runId = "read", detectDeletes, isConfirmed, onCompared } = options;
  const command = {
    owner: connectorId,
    jobId: runId,
    fence: onlyFence,
    streams: streams.map((one) => ({ ...toDestinationStream(one, false), detectDeletes })),
    isConfirmed,
    onCompared,
  };
  return openLocked(file, options, async ({ default: destination }, ctx) =>
    destination.compareKeys(ctx, command),
  );
}

/** Nobody takes a run of this kind over, so all have the same fence. */
const onlyFence = 0;

/** Opens the file under a lock that ends when the sink is closed. */
async function openLocked<Opened extends Sink>(
  file: string,
  { clock }: Pick<OutputOptions, "clock">,
  open: (module: DuckdbModule, ctx: FileContext<{ readonly schema: string }>) => Promise<Opened>,
): Promise<Opened> {
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
  try {
    const sink = await open(await loadDuckdb(), ctx);
    const close = () => sink.close().finally(() => lock[Symbol.dispose]());
    return { ...sink, close };
  } catch (error) {
    lock[Symbol.dispose]();
    const isBusy = error instanceof ConnectorError && error.code === "OUTPUT_BUSY";
    throw isBusy ? new ConnectorError("OUTPUT_FAILED", { reason: lockedReason }) : error;
  }
}

/** Why deleted rows of a stream cannot be found in an output; undefined: they can. */
export const outputDeletesProblem = (configured: ConfiguredStream): string | undefined =>
  deletesProblem(toDestinationStream(configured, false).configured);

function toDestinationStream(configured: ConfiguredStream, isRestart: boolean): DestinationStream {
  const isMerged = configured.sync_mode === "incremental" && mergeKeys(configured).keys.length > 0;
  const { name, namespace } = configured.stream;
  return {
    configured: isMerged ? { ...configured, destination_sync_mode: "append_dedup" } : configured,
    table: name,
    schema: namespace,
    isRestart,
  };
}
