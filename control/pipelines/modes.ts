import {
  type CatalogStream,
  type DestinationSyncMode,
  deletesProblem,
  reportsDeletes,
} from "svc-connectors/host";
import { hasColumn } from "./columns.ts";
import type { AgreedStream } from "./selection.ts";

/**
 * The way a stream is best synced: only what is new, one row per key, as far as source and
 * destination can.
 */
export function suggest(
  stream: CatalogStream,
  destinationModes: readonly DestinationSyncMode[],
): AgreedStream {
  const cursorField = stream.default_cursor_field;
  const primaryKey = stream.source_defined_primary_key;
  const isIncremental =
    stream.supported_sync_modes.includes("incremental") &&
    cursorField.length === 1 &&
    hasColumn(stream.json_schema, cursorField[0] ?? "");
  const syncMode = isIncremental ? "incremental" : "full_refresh";
  return {
    stream,
    syncMode,
    destinationSyncMode: usualMode(syncMode, primaryKey, destinationModes),
    cursorField: isIncremental ? cursorField : [],
    primaryKey,
    selectedFields: null,
    hashedFields: null,
    rowFilter: null,
    detectDeletes: "none",
    isRestart: false,
  };
}

/** The destination mode, where nobody names one. */
export function usualMode(
  syncMode: AgreedStream["syncMode"],
  primaryKey: AgreedStream["primaryKey"],
  destinationModes: readonly DestinationSyncMode[],
): DestinationSyncMode {
  const wanted =
    syncMode === "full_refresh" ? "overwrite" : primaryKey.length > 0 ? "append_dedup" : "append";
  return destinationModes.includes(wanted) ? wanted : "append";
}

/** Why a stream cannot be synced like this, in words for its user; undefined: it can. */
export function modeProblem(
  { stream, syncMode, destinationSyncMode, cursorField, primaryKey }: AgreedStream,
  destinationModes: readonly DestinationSyncMode[],
): string | undefined {
  const isColumn = (path: readonly string[]) =>
    path.length === 1 && hasColumn(stream.json_schema, path[0] ?? "");
  const ownKey = stream.source_defined_primary_key;
  if (!stream.supported_sync_modes.includes(syncMode)) return `cannot be read as ${syncMode}`;
  if (!destinationModes.includes(destinationSyncMode))
    return `the destination does not have ${destinationSyncMode}`;
  if (syncMode === "incremental" && destinationSyncMode === "overwrite")
    return "overwrite needs full_refresh";
  if (syncMode === "incremental" && cursorField.length === 0)
    return "incremental needs a cursor_field";
  if (cursorField.length > 0 && !isColumn(cursorField))
    return "the cursor_field is not one of its columns";
  if (
    stream.source_defined_cursor &&
    cursorField.length > 0 &&
    !isSame(cursorField, stream.default_cursor_field)
  )
    return "the source defines the cursor_field";
  if (destinationSyncMode === "append_dedup" && primaryKey.length === 0)
    return "append_dedup needs a primary_key";
  if (!primaryKey.every(isColumn)) return "a part of the primary_key is not one of its columns";
  if (ownKey.length > 0 && !isSame(ownKey, primaryKey)) return "the source defines the primary_key";
  return undefined;
}

/** Why rows that the source has no more cannot be found; undefined: they can, or nobody asks. */
export const deletesProblemOf = ({
  stream,
  syncMode,
  destinationSyncMode,
  primaryKey,
  detectDeletes,
}: AgreedStream): string | undefined => {
  const configured = {
    stream,
    sync_mode: syncMode,
    destination_sync_mode: destinationSyncMode,
    primary_key: primaryKey,
  };
  return detectDeletes === "none" || reportsDeletes(configured)
    ? undefined
    : deletesProblem(configured);
};

/**
 * Whether a stream is read from a log of changes: its source says in the rows where they stand in
 * it, and which are gone.
 */
export const isOfLog = ({ stream, syncMode }: Pick<AgreedStream, "stream" | "syncMode">): boolean =>
  syncMode === "incremental" &&
  stream.source_defined_cursor &&
  reportsDeletes({ stream, sync_mode: syncMode, destination_sync_mode: "append_dedup" });

export const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
