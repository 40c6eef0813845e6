import {
  type ConfiguredStream,
  type DestinationStream,
  destinationModeOf,
  type Generation,
  mergeKeys,
  requireKeys,
  type StreamDescriptor,
  streamKey,
  type TypesByName,
} from "svc-connectors/destination";
import { type BatchEncoder, createBatchEncoder } from "./batch-encoder.ts";
import { type Column, columnsOf } from "./columns.ts";
import type { Merge } from "./merge.ts";
import { tableType } from "./native-types.ts";
import type { PlannedStream } from "./opening.ts";
import type { RowIds } from "./row-ids.ts";
import type { Rows } from "./rows.ts";
import type { Session } from "./session.ts";
import { nextTable, type SavedGeneration } from "./state.ts";
import { describeTable, widenToTable } from "./tables.ts";
import type { Target } from "./transaction.ts";

/** A stream that is being written. Encoded rows wait in it: what a checkpoint covers goes first. */
export interface OpenStream extends Target {
  readonly stream: StreamDescriptor;
  readonly configured: ConfiguredStream;
  readonly jobId: string;
  /** The types of the table that people see; of one that is yet to be, those of the schema. */
  readonly seenTypes: TypesByName;
  readonly batches: BatchEncoder;
  /**
   * The key of rows that a full refresh gives once more when it goes on after an interruption.
   * Empty: there are none to look for.
   */
  readonly repeatedKeys: readonly Column[];
  /** No state of it can be resumed from, so its rows need no checkpoint to be committed. */
  readonly isFree: boolean;
  covered: Rows[];
  waiting: Rows[];
  coveredBytes: number;
  waitingBytes: number;
  rowCount: number;
  coveredRowCount: number;
  committedRowCount: number;
  /** State of the last checkpoint, committed or not. */
  state: Generation["state"];
  /** The last checkpoint, until it is committed. */
  checkpoint: SavedGeneration | undefined;
}

/** Its columns are as wide as those of the table that it goes on with. */
export async function openStream(
  { client, server }: Session,
  planned: PlannedStream,
  stream: StreamDescriptor,
  jobId: string,
  ids: RowIds,
): Promise<OpenStream> {
  const { configured } = planned.ordered;
  const { saved, plan } = planned;
  const columns = columnsOf(configured, saved.columnNames);
  const base = saved.generations[plan.place];
  const isThere = plan.isResumed && saved.id !== undefined && base !== undefined;
  const types = isThere
    ? await describeTable(client, plan.place === "current" ? saved.table : nextTable(saved.id))
    : undefined;
  const seenTypes =
    (saved.generations.current && (await describeTable(client, saved.table))) ??
    new Map(columns.map((column) => [column.name, tableType(column)]));
  if (types) widenToTable(columns, types);
  const rowCount = plan.isResumed ? (base?.rowCount ?? 0) : 0;
  return {
    key: streamKey(stream),
    stream,
    configured,
    jobId,
    planned,
    columns,
    seenTypes,
    types,
    rowCount,
    merge:
      destinationModeOf(configured) === "append_dedup"
        ? mergeOf(planned.ordered, columns)
        : undefined,
    repeatedKeys:
      plan.place === "next" && plan.isResumed && configured.sync_mode === "full_refresh"
        ? keysOf(configured, columns)
        : [],
    batches: createBatchEncoder({ columns, jobId, ids, server }),
    isFree: configured.sync_mode === "full_refresh" && !configured.stream.is_resumable,
    covered: [],
    waiting: [],
    coveredBytes: 0,
    waitingBytes: 0,
    coveredRowCount: rowCount,
    committedRowCount: rowCount,
    state: plan.state,
    checkpoint: undefined,
  };
}

export function generationOf(
  { configured, jobId }: OpenStream,
  rowCount: number,
  state?: Generation["state"],
): SavedGeneration {
  const destinationMode = destinationModeOf(configured);
  return {
    mode: configured.sync_mode,
    destinationMode,
    rowCount,
    jobId,
    ...(state === undefined ? {} : { state }),
  };
}

const keysOf = (configured: ConfiguredStream, columns: readonly Column[]) =>
  mergeKeys(configured).keys.flatMap(
    (key) => columns.find(({ property }) => property === key) ?? [],
  );

function mergeOf(
  { configured, detectDeletes }: DestinationStream,
  columns: readonly Column[],
): Merge {
  const { cursor, deletedAt } = requireKeys(configured);
  const at = (name: string | undefined) => columns.find(({ property }) => property === name);
  return {
    keys: keysOf(configured, columns),
    cursor: at(cursor),
    deletedAt: at(deletedAt),
    keepsDeleted: detectDeletes === "soft",
  };
}
