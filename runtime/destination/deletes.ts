/** Rows that the source has no more are found by comparing keys. docs/decisions/0038 */
import type { ConfiguredStream } from "../contract/catalog.ts";
import { mergeKeys, requireKeys } from "./merge.ts";
import { destinationModeOf } from "./plan.ts";

/** When a row was noticed to be gone. The table has it where a stream's deletes are soft. */
export const deletedAtColumn = "_svc_deleted_at";

/**
 * For so long, by the destination's clock, a destination remembers a deletion that a source
 * reported: an older row of the key that comes later does not bring it back. docs/decisions/0088
 */
export const deletionMemoryMs = 90 * 86_400_000;

/** Why deleted rows of a stream cannot be found by its keys; undefined: they can. */
export function deletesProblem(configured: ConfiguredStream): string | undefined {
  const mode = destinationModeOf(configured);
  const { keys, deletedAt } = mergeKeys(configured);
  if (mode === "overwrite") return "each full refresh replaces the rows, deleted ones go with it";
  if (mode === "append") return "needs append_dedup: append keeps every row that ever came";
  if (keys.length === 0) return "needs a primary key";
  if (deletedAt !== undefined) return `the source tells deleted rows itself, in ${deletedAt}`;
  if (!configured.stream.supported_sync_modes.includes("full_refresh"))
    return "the source cannot list all of its rows";
  return undefined;
}

/**
 * Whether the source tells deleted rows among the others, so that nobody has to look for them: what
 * becomes of them is the destination's, as it writes.
 */
export function reportsDeletes(configured: ConfiguredStream): boolean {
  const { keys, deletedAt } = mergeKeys(configured);
  return (
    deletedAt !== undefined && keys.length > 0 && destinationModeOf(configured) === "append_dedup"
  );
}

/** Reads the keys of a stream, all of them, and nothing else. */
export function keysOnly(configured: ConfiguredStream): ConfiguredStream {
  const { cursor_field: _, hashed_fields, ...rest } = configured;
  const { keys } = requireKeys(configured);
  const hashed = hashed_fields?.filter((field) => keys.includes(field)) ?? [];
  // No state of it is saved, so that no key stands in one in plain.
  const stream = { ...rest.stream, is_resumable: false };
  return {
    ...rest,
    ...(hashed.length > 0 ? { hashed_fields: hashed, stream } : {}),
    sync_mode: "full_refresh",
    selected_fields: keys,
  };
}

/** So many rows may go without a question, whatever their share. */
const fewRows = 10;

export interface KeyCounts {
  /** Keys that the source has. */
  readonly keyCount: number;
  /** Rows of the table that are not marked. */
  readonly rowCount: number;
  /** Number of those whose key the source does not have. */
  readonly goneCount: number;
}

/**
 * Why so many rows are not taken for deleted before somebody confirms it: a source that shows less,
 * since a right or a setting has changed, looks the same. Undefined: they are.
 */
export function deletesRefusal({ keyCount, rowCount, goneCount }: KeyCounts): string | undefined {
  if (keyCount === 0 && goneCount > 0)
    return `the source shows no row any more, and the table has ${rowCount}`;
  if (goneCount > fewRows && goneCount * 2 > rowCount)
    return `${goneCount} of ${rowCount} rows are gone at the source, more than half`;
  return undefined;
}

/** Some key of the source is not known: which row it is about, nobody can tell. */
export const unreadableKeys = "some keys of the source do not fit their schema";
