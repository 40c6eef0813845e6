import type { ConfiguredStream } from "../contract/catalog.ts";
import { type DestinationSyncMode, destinationSyncModes } from "../contract/destination.ts";
import type { JsonValue } from "../contract/json.ts";
import type { SyncMode } from "../contract/stream.ts";

/** One copy of a stream's rows and what is known of it. */
export interface Generation {
  readonly mode: SyncMode;
  /** Undefined: as the sync mode alone says it, see {@link destinationModeOf}. */
  readonly destinationMode?: DestinationSyncMode | undefined;
  readonly rowCount: number;
  /** The last checkpoint that the rows go with. */
  readonly state?: JsonValue | undefined;
}

/** `current` is what people see; `next` is built aside until it is complete. */
export interface Generations {
  readonly current?: Generation | undefined;
  readonly next?: Generation | undefined;
}

/** Tells a run which copy it writes to, and what it does when that is complete. */
export interface WritePlan {
  readonly place: "current" | "next";
  /**
   * Goes on with the rows that are in that place. False for `next`: what is left there is dropped
   * first.
   */
  readonly isResumed: boolean;
  /**
   * `none`: the rows are where they belong · `swap`: the copy takes the place of the current one ·
   * `add`: its rows are added to it.
   */
  readonly completion: "none" | "swap" | "add";
  /** The state from which the read goes on; undefined: from the beginning. */
  readonly state?: JsonValue | undefined;
}

/**
 * The mode of a stream at its destination; where the user did not choose, a full refresh replaces
 * the rows that are there, and an incremental read adds.
 */
export function destinationModeOf({
  sync_mode,
  destination_sync_mode,
}: ConfiguredStream): DestinationSyncMode {
  const chosen = destinationSyncModes.find((mode) => mode === destination_sync_mode);
  return chosen ?? (sync_mode === "full_refresh" ? "overwrite" : "append");
}

/**
 * Decides where a run writes. Whatever begins anew is built aside, so that people see either the
 * old rows or the new ones, and a killed run doubles nothing; an incremental read with a saved
 * state adds to the rows that the state goes with. Rows that replace others of their key are merged
 * in place: doing it twice changes nothing.
 */
export function planWrite(
  configured: ConfiguredStream,
  generations: Generations,
  isRestart = false,
): WritePlan {
  const { stream, sync_mode: mode } = configured;
  const destinationMode = destinationModeOf(configured);
  const { current, next } = generations;
  const isFirst = current === undefined || current.rowCount === 0;
  const sameMode = (generation: Generation | undefined) =>
    generation?.mode === mode && (mode === "incremental" || stream.is_resumable);
  const isSameWay = (next?.destinationMode ?? destinationMode) === destinationMode;
  const addsUp =
    destinationMode === "append" &&
    current?.mode === "full_refresh" &&
    current.destinationMode === "append";
  const completion = addsUp && !isFirst && !isRestart ? "add" : "swap";

  if (!isRestart && next && sameMode(next) && isSameWay && isPosition(next.state))
    return { place: "next", isResumed: true, completion, state: next.state };
  if ((isRestart && !isFirst) || destinationMode === "overwrite")
    return { place: "next", isResumed: false, completion };
  const state =
    !isRestart && sameMode(current) && isPosition(current?.state) ? current.state : undefined;
  const isMerged = destinationMode === "append_dedup" && mode === "full_refresh";
  const goesOn = mode === "incremental" && (isFirst || state !== undefined);
  if (isMerged || goesOn)
    return { place: "current", isResumed: current !== undefined, completion: "none", state };
  return { place: "next", isResumed: false, completion };
}

/** False for the states that mean "from the beginning". */
function isPosition(state: JsonValue | undefined): state is JsonValue {
  if (state === undefined || state === null) return false;
  return typeof state !== "object" || Array.isArray(state) || Object.keys(state).length > 0;
}
