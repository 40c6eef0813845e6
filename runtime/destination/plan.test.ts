import { describe, expect, test } from "vitest";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { DestinationSyncMode } from "../contract/destination.ts";
import type { JsonValue } from "../contract/json.ts";
import type { SyncMode } from "../contract/stream.ts";
import { type Generation, type Generations, planWrite } from "./plan.ts";

function selection(
  mode: SyncMode,
  destinationMode?: DestinationSyncMode,
  isResumable = true,
): ConfiguredStream {
  return {
    stream: {
      name: "users",
      json_schema: { type: "object", properties: { id: { type: "integer" } } },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: [],
      is_resumable: isResumable,
    },
    sync_mode: mode,
    ...(destinationMode === undefined ? {} : { destination_sync_mode: destinationMode }),
  };
}

const position = { last: 1 };
const of = (
  mode: SyncMode,
  rowCount: number,
  state?: JsonValue,
  destinationMode?: DestinationSyncMode,
): Generation => ({
  mode,
  destinationMode,
  rowCount,
  state,
});

/** Place, completion, and whether it goes on from a state. */
type Expected =
  | "current"
  | "current from state"
  | "next, swap"
  | "next, add"
  | "next from state, swap";

function describePlan(
  configured: ConfiguredStream,
  generations: Generations,
  isRestart = false,
): string {
  const { place, isResumed, completion, state } = planWrite(configured, generations, isRestart);
  if (state !== undefined) expect(state).toEqual(position);
  if (place === "next") expect(isResumed).toBe(state !== undefined);
  const from = state === undefined ? "" : " from state";
  return place === "current" ? `current${from}` : `next${from}, ${completion}`;
}

const full = selection("full_refresh");
const incremental = selection("incremental");

describe("where a run writes when only the sync mode is chosen", () => {
  test.each<[string, ConfiguredStream, Generations, Expected]>([
    ["a first full refresh", full, {}, "next, swap"],
    ["a full refresh after one", full, { current: of("full_refresh", 5) }, "next, swap"],
    [
      "one that was interrupted",
      full,
      { next: of("full_refresh", 5, position) },
      "next from state, swap",
    ],
    [
      "one that has lost the ability to resume",
      selection("full_refresh", undefined, false),
      { next: of("full_refresh", 5, position) },
      "next, swap",
    ],
    ["one that has only begun", full, { next: of("full_refresh", 5, {}) }, "next, swap"],
    [
      "one after an interrupted incremental one",
      full,
      { next: of("incremental", 5, position) },
      "next, swap",
    ],
    ["a first incremental read", incremental, {}, "current"],
    [
      "an incremental read after one",
      incremental,
      { current: of("incremental", 5, position) },
      "current from state",
    ],
    [
      "one after one that has no state",
      incremental,
      { current: of("incremental", 5) },
      "next, swap",
    ],
    [
      "one after a full refresh",
      incremental,
      { current: of("full_refresh", 5, position) },
      "next, swap",
    ],
    ["one after an empty full refresh", incremental, { current: of("full_refresh", 0) }, "current"],
    [
      "one that was building anew",
      incremental,
      { current: of("full_refresh", 5), next: of("incremental", 5, position) },
      "next from state, swap",
    ],
  ])("%s", (_, configured, generations, expected) =>
    expect(describePlan(configured, generations)).toBe(expected));
});

describe("where a run writes by the destination's mode", () => {
  const appended = selection("full_refresh", "append");
  const merged = selection("full_refresh", "append_dedup");
  const growing = selection("incremental", "append");
  const deduped = selection("incremental", "append_dedup");
  test.each<[string, ConfiguredStream, Generations, Expected]>([
    ["a first full refresh that appends", appended, {}, "next, swap"],
    [
      "one after one",
      appended,
      { current: of("full_refresh", 5, undefined, "append") },
      "next, add",
    ],
    [
      "one after it overwrote",
      appended,
      { current: of("full_refresh", 5, undefined, "overwrite") },
      "next, swap",
    ],
    [
      "a full refresh that deduplicates",
      merged,
      { current: of("full_refresh", 5, {}, "append_dedup") },
      "current",
    ],
    [
      "one that was interrupted",
      merged,
      { current: of("full_refresh", 5, position, "append_dedup") },
      "current from state",
    ],
    [
      "an incremental read that begins to deduplicate",
      deduped,
      { current: of("incremental", 5, position, "append") },
      "current from state",
    ],
    [
      "an incremental read that appends to what was appended whole",
      growing,
      { current: of("full_refresh", 5, undefined, "append") },
      "next, add",
    ],
    [
      "an incremental read that overwrites",
      selection("incremental", "overwrite"),
      { current: of("incremental", 5, position, "overwrite") },
      "next, swap",
    ],
    [
      "a copy that another mode had begun",
      appended,
      { next: of("full_refresh", 5, position, "overwrite") },
      "next, swap",
    ],
  ])("%s", (_, configured, generations, expected) =>
    expect(describePlan(configured, generations)).toBe(expected));

  test("a restart begins a copy aside, whatever was saved", () => {
    const current = of("incremental", 5, position, "append_dedup");
    const next = of("incremental", 5, position, "append_dedup");
    for (const configured of [growing, deduped, appended, merged])
      expect(describePlan(configured, { current, next }, true)).toBe("next, swap");
    expect(describePlan(deduped, {}, true)).toBe("current");
  });
});
