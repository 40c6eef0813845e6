import type { JsonValue } from "svc-connectors";
import {
  type DestinationStream,
  destinationModeOf,
  mergeKeys,
  type TypesByName,
  type WritePlan,
} from "svc-connectors/destination";
import type { Column, TableColumn } from "./columns.ts";
import { type MergeColumns, mergeColumns, mergedBy } from "./merge.ts";
import type { Stage } from "./stage.ts";
import type { SavedGeneration, SavedTable } from "./state.ts";
import type { Table } from "./tables.ts";

/** A stream that is being written. */
export interface OpenStream {
  readonly saved: SavedTable;
  readonly ordered: DestinationStream;
  readonly plan: WritePlan;
  readonly columns: Column[];
  /**
   * The types of the table that people see; of one that is yet to be, those of the schema.
   * Undefined before the first row.
   */
  seenTypes: TypesByName | undefined;
  readonly merge: MergeColumns | undefined;
  readonly stage: Stage;
  /** Where the rows go: the table that people see, or the one beside it. */
  readonly target: Table;
  /** False until the target is made. */
  hasTable: boolean;
  /** Some column was never written: the table may lack it. */
  readonly hasNewColumns: boolean;
  /** The columns of the target; undefined while they are not known. */
  tableColumns: readonly TableColumn[] | undefined;
  rowCount: number;
  /**
   * The generation as the last checkpoint left it; undefined when no checkpoint came that a later
   * run can use.
   */
  covered: SavedGeneration | undefined;
}

/**
 * Where nothing goes on from what is there, rows may come in before a checkpoint covers them: the
 * stage stays small.
 */
export function isFree({ plan, covered, ordered: { configured } }: OpenStream): boolean {
  const isAside = plan.place === "next" && !plan.isResumed;
  return (
    covered === undefined &&
    (isAside || (configured.sync_mode === "full_refresh" && plan.state === undefined))
  );
}

/** The generation that the rows so far make. */
export function generationOf(
  stream: OpenStream,
  state: JsonValue | undefined,
  rowsBefore = 0,
): SavedGeneration {
  const {
    ordered: { configured },
    merge,
  } = stream;
  return {
    mode: configured.sync_mode,
    destinationMode: destinationModeOf(configured),
    rowCount: rowsBefore + stream.rowCount,
    ...(state === undefined ? {} : { state }),
    ...(merge?.isKept ? { deduplicatedBy: mergedBy(merge) } : {}),
  };
}

/**
 * How rows replace others of their key. A full refresh that goes on may get some rows once more
 * that came before its last checkpoint; they replace the first ones.
 */
export function mergeOf(
  { configured, detectDeletes }: DestinationStream,
  plan: WritePlan,
  columns: readonly Column[],
): MergeColumns | undefined {
  if (destinationModeOf(configured) === "append_dedup")
    return {
      ...mergeColumns(mergeKeys(configured), columns),
      isKept: true,
      keepsDeleted: detectDeletes === "soft",
    };
  if (configured.sync_mode !== "full_refresh" || !plan.isResumed) return undefined;
  // Of one full refresh no two rows have the stream's own key; the user's choice may be another.
  const { keys } = mergeKeys({ ...configured, primary_key: [] });
  return keys.length > 0 ? mergeColumns({ keys }, columns) : undefined;
}
